{{- define "hub.name" -}}
{{- printf "%s-status-hub" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Not that of reporters: their Services, policies and alerts must not take a hub for one. */}}
{{- define "hub.selector" -}}
app.kubernetes.io/name: productionstack-status-hub
app.kubernetes.io/instance: {{ toYaml .Release.Name }}
{{- end -}}

{{/* The metadata of an object: {root, labels, clusterScoped, suffix}. */}}
{{- define "hub.metadata" -}}
{{- include "reporter.checkImage" .root -}}
name: {{ include "hub.name" .root }}{{ .suffix }}
{{- if not .clusterScoped }}
namespace: {{ include "reporter.namespace" .root | toYaml }}
{{- end }}
labels:
  {{- include "reporter.allLabels" (dict "root" .root "labels" .labels "own" (list
    (list "app.kubernetes.io/name" "productionstack-status-hub")
    (list "app.kubernetes.io/instance" (toYaml .root.Release.Name))
    (list "app.kubernetes.io/component" "status-hub"))) | trim | nindent 2 }}
{{- with .root.Values.extraAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The port at which others reach /status of the hub; empty if they do not. */}}
{{- define "hub.statusPort" -}}
{{- include "reporter.openPort" .Values.hub.statusBindAddress -}}
{{- end -}}

{{- define "hub.arguments" -}}
{{- $hub := .Values.hub -}}
- hub
- --metrics-bind-address=:8080
- --health-probe-bind-address=:8081
- --status-bind-address={{ $hub.statusBindAddress }}
{{- if ne (default "none" $hub.statusAuthorization) "none" }}
- --status-authorization={{ $hub.statusAuthorization }}
{{- end }}
- --leader-elect={{ .Values.leaderElection.enabled }}
- --leader-election-id={{ include "hub.name" . }}
- --lease-duration-seconds={{ .Values.leaderElection.leaseDurationSeconds | int64 }}
- --renew-deadline-seconds={{ .Values.leaderElection.renewDeadlineSeconds }}
- --retry-period-seconds={{ .Values.leaderElection.retryPeriodSeconds }}
- --hub-query-url={{ $hub.queryURL }}
- --hub-interval-seconds={{ $hub.intervalSeconds | int64 }}
- --hub-stale-seconds={{ $hub.staleSeconds | int64 }}
- --hub-cluster-label={{ $hub.clusterLabel }}
- --hub-engage={{ $hub.engage }}
- --hub-max-clusters={{ $hub.maxClusters | int64 }}
{{- if (default dict $hub.tokenSecret).name }}
- --hub-token-file=/etc/status-hub/token/{{ $hub.tokenSecret.key }}
{{- end }}
{{- if (default dict $hub.caConfigMap).name }}
- --hub-ca-file=/etc/status-hub/ca/{{ $hub.caConfigMap.key }}
{{- end }}
{{- if (default dict $hub.headersSecret).name }}
- --hub-headers-file=/etc/status-hub/headers/{{ $hub.headersSecret.key }}
{{- end }}
- --log-format={{ .Values.logFormat }}
{{- range $hub.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}
