{{/* One alert, or nothing if it is switched off: {root, name, why, expr, for, severity, owner, labels, namespace, summary,
description, page, runbook}. Its meaning is in a comment above it. The page with its anchor is in docs/; the default is the
alert's section of alerts.md. Without a place where docs/ is served, the runbook is text. Without a severity or an owner the series have them. The namespace is that of the release, which is
the platform's, unless it says otherwise. */}}
{{- define "reporter.alert" -}}
{{- $values := .root.Values.prometheusRule -}}
{{- $own := default dict (get (default dict $values.rules) .name) -}}
{{- $severity := default .severity $own.severity -}}
{{- if and (ne (toString $own.enabled) "false") (ne $severity "none") }}
# {{ .why }}
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
    {{- $labels := dict "namespace" (default (include "reporter.namespace" .root) .namespace) }}
    {{- range $name := list "severity" "owner" }}
    {{- with eq $name "severity" | ternary $severity $.owner }}
    {{- $_ := set $labels $name . }}
    {{- end }}
    {{- end }}
    {{- /* They decide where the alert goes. Labels by which rules tell series apart are refused. */}}
    {{- $added := omit (default dict $values.alertLabels) "namespace" "severity" }}
    {{- toYaml (merge $labels (default dict .labels) $added) | nindent 4 }}
  annotations:
    summary: {{ .summary | quote }}
    description: {{ .description | quote }}
    {{- $docs := default (ternary (print .root.Chart.Home "/blob/main/docs") "" (not (empty .root.Chart.Home))) $values.runbookURL }}
    {{- if $docs }}
    runbook_url: {{ printf "%s/%s" (trimSuffix "/" $docs) (default (printf "alerts.md#%s" (lower .name)) .page) | quote }}
    {{- else }}
    runbook: {{ default (get (.root.Files.Get "files/runbooks.yaml" | fromYaml).alerts .name) .runbook | quote }}
    {{- end }}
{{- end }}
{{- end -}}

{{/* The labels of an alert: those that tell clusters apart, and *more*: {root, more}. */}}
{{- define "reporter.by" -}}
by ({{ join ", " (concat (default list .root.Values.prometheusRule.clusterLabels) (default list .more)) }})
{{- end -}}

{{/* Those by which one series is matched with another one. */}}
{{- define "reporter.on" -}}
on ({{ join ", " (concat (default list .root.Values.prometheusRule.clusterLabels) (default list .more)) }})
{{- end -}}

{{/* Something that is there, or was there until nobody looked any more: {root, name, more, expr, until, of}. The alert by
this name, with the labels *of*, fires on until the series *until* are there again. */}}
{{- define "reporter.kept" -}}
max {{ include "reporter.by" . }} ({{ .expr }} or ALERTS{alertname={{ .name | quote }},alertstate="firing"{{ with .of }},{{ . }}{{ end }}} unless {{ include "reporter.on" (dict "root" .root) }} {{ .until }})
{{- end -}}

{{/* The matcher of an alert's own series that name a cluster. One without any would fire for ever once there are clusters. */}}
{{- define "reporter.named" -}}
{{- with .Values.prometheusRule.clusterLabels }},{{ first . }}!=""{{ end }}
{{- end -}}

{{/* The label namespace of alerts on workloads, which AlertmanagerConfigs match, or else that of the release. */}}
{{- define "reporter.ofWorkload" -}}
{{ printf "{{ or $labels.workload_namespace %q }}" (include "reporter.namespace" .) }}
{{- end -}}
