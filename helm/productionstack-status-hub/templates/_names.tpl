{{/* The names of this program: shared templates take them from here. */}}
{{- define "hub.name" -}}
{{- printf "%s-status-hub" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/* Not that of reporters: their Services, policies and alerts must not take a hub for one. */}}
{{- define "hub.program" -}}
productionstack-status-hub
{{- end -}}

{{- define "hub.component" -}}
status-hub
{{- end -}}

{{/* The name of the Lease. */}}
{{- define "hub.lease" -}}
{{- include "hub.name" . -}}
{{- end -}}

{{/* Fields of the endpoint that is scraped, as YAML, unless serviceMonitor.endpoint has them. The label cluster of the
hub's series names the cluster they are about, and stays. */}}
{{- define "hub.endpoint" -}}
interval: 30s
honorLabels: true
{{- end -}}

{{/* What is mounted, as JSON: name, value, kind of volume, key of its name, flag. */}}
{{- define "hub.mounts" -}}
{{- $found := list -}}
{{- range $each := list
  (list "token" .Values.tokenSecret "secret" "secretName" "hub-token-file")
  (list "ca" .Values.caConfigMap "configMap" "name" "hub-ca-file")
  (list "headers" .Values.headersSecret "secret" "secretName" "hub-headers-file") -}}
{{- with index $each 1 -}}
{{- if .name -}}
{{- $found = append $found (dict "name" (first $each) "object" .name "key" .key "kind" (index $each 2) "field" (index $each 3) "flag" (last $each)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found | toJson -}}
{{- end -}}
