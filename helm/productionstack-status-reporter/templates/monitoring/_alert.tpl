{{/* One alert, or nothing if it is switched off: {root, name, expr, for, severity, owner, labels, summary,
description, page}. The page with its anchor is in docs/; the default is the alert's section of alerts.md. The
owner of what runs the reporter is the platform, unless the series have one of their own. */}}
{{- define "reporter.alert" -}}
{{- $values := .root.Values.prometheusRule -}}
{{- $own := default dict (get (default dict $values.rules) .name) -}}
{{- $severity := default .severity $own.severity -}}
{{- if and (ne (toString $own.enabled) "false") (ne $severity "none") }}
- alert: {{ .name }}
  expr: >-
    {{ regexReplaceAll "\\s+" .expr " " | trim }}
  {{- with default .for (get $own "for") }}
  for: {{ . }}
  {{- end }}
  {{- with get $own "keepFiringFor" }}
  keep_firing_for: {{ . }}
  {{- end }}
  labels:
    {{- $labels := dict "severity" $severity }}
    {{- if ne .owner "" }}
    {{- $_ := set $labels "owner" .owner }}
    {{- end }}
    {{- /* Those that the series have would be replaced, and with them where the alert goes. */}}
    {{- $added := omit (default dict $values.alertLabels) "namespace" "workload_namespace" "inferenceset" "layer" "reason" "owner" }}
    {{- toYaml (merge $labels (default dict .labels) $added) | nindent 4 }}
  annotations:
    summary: {{ .summary | quote }}
    description: {{ .description | quote }}
    runbook_url: {{ printf "%s/%s" (default (print .root.Chart.Home "/blob/main/docs") $values.runbookURL | trimSuffix "/") (default (printf "alerts.md#%s" (lower .name)) .page) | quote }}
    {{- with omit (default dict $values.alertAnnotations) "summary" "description" "runbook_url" }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}
{{- end -}}

{{/* The labels that the rules drop, with further ones: {root, more}. */}}
{{- define "reporter.without" -}}
without ({{ join ", " (concat .root.Values.prometheusRule.replicaLabels (default list .more)) }})
{{- end -}}

{{/* Findings of one metric that are neither suppressed nor silenced: {root, metric}. Those of a namespace are silenced only if all
of them are. A replica that cannot evaluate a reason keeps its last state, which counts only while all replicas are in
that position for the namespace. */}}
{{- define "reporter.findings" -}}
{{- $series := "productionstack_status_reporter_" -}}
{{- $metric := print $series .metric -}}
{{- $without := include "reporter.without" (dict "root" .root "more" (list "namespace" "state")) -}}
{{- $silenced := eq .metric "reason_state" | ternary (printf "(state, owner) %ssilenced" $series) (printf `(state) %s{state="silenced"}` $metric) -}}
{{- $found := printf `(%s{state="active"} unless ignoring (state) %s{state="suppressed"} == 1 unless ignoring %s == 1)` $metric $metric $silenced -}}
(max {{ $without }} ({{ $found }} unless ignoring (state) {{ $metric }}{state="unknown"} == 1)
or (max {{ $without }} ({{ $found }})
unless ignoring (inferenceset) min {{ $without }} ({{ $series }}reason_state{state="unknown"}) == 0)) == 1
{{- end -}}

{{/* Give series the label namespace of their workload, which AlertmanagerConfigs match, or else that of the release:
{root, expr}. They have none, so that no two series become one. */}}
{{- define "reporter.ofWorkload" -}}
label_replace(label_replace({{ .expr }}, "namespace", "{{ include "reporter.namespace" .root }}", "", ""), "namespace", "$1", "workload_namespace", "(.+)")
{{- end -}}

{{- define "reporter.monitoringGroup" -}}
{{ default "monitoring.coreos.com" .apiGroup }}/v1
{{- end -}}
