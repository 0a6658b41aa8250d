{{/* The flags of the process. */}}
{{- define "hub.arguments" -}}
- hub
- --metrics-bind-address=:8080
- --health-probe-bind-address=:8081
- --status-bind-address={{ .Values.statusBindAddress }}
{{- if ne (default "none" .Values.statusAuthorization) "none" }}
- --status-authorization={{ .Values.statusAuthorization }}
{{- end }}
- --leader-elect={{ .Values.leaderElection.enabled }}
- --leader-election-id={{ include "hub.lease" . }}
- --hub-query-url={{ .Values.queryURL }}
- --hub-interval-seconds={{ .Values.intervalSeconds | int64 }}
- --hub-stale-seconds={{ .Values.staleSeconds | int64 }}
- --hub-cluster-label={{ .Values.clusterLabel }}
- --hub-engage={{ .Values.engage }}
- --hub-max-clusters={{ .Values.maxClusters | int64 }}
{{- range include "hub.mounts" . | fromJsonArray }}
- --{{ .flag }}=/etc/status-hub/{{ .name }}/{{ .key }}
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}
