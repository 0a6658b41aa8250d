{{/* The endpoint of a ServiceMonitor or PodMonitor, by its values. */}}
{{- define "reporter.endpoint" -}}
- port: metrics
  {{- with .interval }}
  interval: {{ . }}
  {{- end }}
  {{- with .scrapeTimeout }}
  scrapeTimeout: {{ . }}
  {{- end }}
  {{- if .honorLabels }}
  honorLabels: true
  {{- end }}
  {{- with .relabelings }}
  relabelings:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- if or .rollupOnly .metricRelabelings }}
  metricRelabelings:
    {{- if .rollupOnly }}
    - sourceLabels: [__name__]
      regex: productionstack_status_reporter_rollup_.*
      action: keep
    {{- end }}
    {{- with .metricRelabelings }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- end }}
{{- end -}}
