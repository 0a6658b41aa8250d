{{/* The names of this program: shared templates take them from here. */}}
{{- define "reporter.name" -}}
{{- printf "%s-status-reporter" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "reporter.program" -}}
productionstack-status-reporter
{{- end -}}

{{- define "reporter.component" -}}
status-reporter
{{- end -}}

{{/* The name of the Lease. */}}
{{- define "reporter.lease" -}}
{{- .Values.leaderElection.id -}}
{{- end -}}

{{/* Whether a reporter runs; empty: not. */}}
{{- define "reporter.runs" -}}
{{- if gt (.Values.replicas | int64) 0 }}true{{ end -}}
{{- end -}}

{{/* Whether the Role in kube-system is created; empty: not. Values that helm reuses may lack it. */}}
{{- define "reporter.createsEventsRole" -}}
{{- if ne (toString (default dict .Values.rbac).eventsRole) "false" }}true{{ end -}}
{{- end -}}

{{/* The names of the packs, as JSON. A release that keeps the values of an earlier chart has none. */}}
{{- define "reporter.packNames" -}}
{{- default (list "kaito") .Values.packs | toJson -}}
{{- end -}}

{{/* The flag's value: names of shipped packs, and where those of one's own are mounted. */}}
{{- define "reporter.packs" -}}
{{- $found := list -}}
{{- range include "reporter.packNames" . | fromJsonArray -}}
{{- $found = append $found (hasKey (default dict $.Values.ownPacks) . | ternary (printf "/etc/status-reporter-packs/%s" .) .) -}}
{{- end -}}
{{- join "," $found -}}
{{- end -}}

{{/* The packs of one's own that are in use, as JSON: names only. */}}
{{- define "reporter.ownPacks" -}}
{{- $found := list -}}
{{- range include "reporter.packNames" . | fromJsonArray -}}
{{- if hasKey (default dict $.Values.ownPacks) . -}}
{{- $found = append $found . -}}
{{- end -}}
{{- end -}}
{{- $found | toJson -}}
{{- end -}}

{{- define "reporter.overlay" -}}
{{- $overlay := .Values.catalogueOverlay -}}
{{- if kindIs "string" $overlay }}{{ $overlay }}{{ else if $overlay }}{{ toYaml $overlay }}{{ end -}}
{{- end -}}

{{/* Fields of the endpoint that is scraped, as YAML, unless serviceMonitor.endpoint has them. */}}
{{- define "reporter.endpoint" -}}
interval: 30s
{{- end -}}
