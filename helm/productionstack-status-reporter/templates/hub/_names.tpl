{{- define "hub.name" -}}
{{- printf "%s-status-hub" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Not that of reporters: their Services, policies and alerts must not take a hub for one. */}}
{{- define "hub.selector" -}}
app.kubernetes.io/name: productionstack-status-hub
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{/* The metadata of an object: {root, labels}. */}}
{{- define "hub.metadata" -}}
{{- include "reporter.checkImage" .root -}}
name: {{ include "hub.name" .root }}
namespace: {{ include "reporter.namespace" .root }}
labels:
  {{- include "hub.selector" .root | nindent 2 }}
  app.kubernetes.io/component: status-hub
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 }}
  {{- with merge (dict) (default dict .labels) .root.Values.extraLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.extraAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* The port of /status; empty if it is not served, or at an address inside the pod. */}}
{{- define "hub.statusPort" -}}
{{- $address := default "" .Values.hub.statusBindAddress -}}
{{- if and (contains ":" $address) (not (regexMatch "^(127\\.|localhost:|\\[::1\\])" $address)) -}}
{{- splitList ":" $address | last -}}
{{- end -}}
{{- end -}}

{{- define "hub.arguments" -}}
{{- $hub := .Values.hub -}}
- hub
- --metrics-bind-address=:8080
- --health-probe-bind-address=:8081
- --status-bind-address={{ $hub.statusBindAddress }}
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
{{- if $hub.tokenSecret.name }}
- --hub-token-file=/etc/status-hub/token/{{ $hub.tokenSecret.key }}
{{- end }}
{{- if $hub.caConfigMap.name }}
- --hub-ca-file=/etc/status-hub/ca/{{ $hub.caConfigMap.key }}
{{- end }}
{{- if $hub.headersSecret.name }}
- --hub-headers-file=/etc/status-hub/headers/{{ $hub.headersSecret.key }}
{{- end }}
- --log-format={{ .Values.logFormat }}
{{- range $hub.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}
