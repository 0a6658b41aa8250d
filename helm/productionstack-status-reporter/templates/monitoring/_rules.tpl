{{- /* The clause for alerts that name their cluster. */}}
{{- define "reporter.inCluster" -}}
{{ print `{{ with $labels.cluster }} in cluster {{ . }}{{ end }}` }}
{{- end -}}

{{/* The alert on findings: what counts as one, who must act and how severe it is, is decided by the program. */}}
{{- define "reporter.findingRules" -}}
{{- $series := "productionstack_status_reporter_" }}
{{- /* With one severity for all, two series of a finding would be one alert, which Prometheus refuses. */}}
{{- $severity := empty (get (default dict .Values.prometheusRule.rules) "ProductionStackFinding" | default dict).severity | ternary (list "severity") list }}
{{- $where := `{{ with $labels.workload_namespace }} in {{ . }}{{ with $labels.inferenceset }}/{{ . }}{{ end }}{{ end }}` }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackFinding" "for" "1m" "severity" "" "owner" "" "namespace" (include "reporter.ofWorkload" .)
  "why" "A finding that the leader shows. One that fires does so until a leader that knows all findings no longer shows it."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackFinding" "more" (concat (list "layer" "reason" "owner") $severity (list "workload_namespace" "inferenceset"))
    "expr" (print $series "finding") "until" (print $series "findings_complete == 1")))
  "summary" (print `{{ $labels.reason }}` $where (include "reporter.inCluster" .))
  "description" `The Event says what is wrong, who must act ({{ $labels.owner }}) and what to do: kubectl get events -n kube-system --field-selector source=productionstack-status-reporter,reason={{ $labels.reason }}`
  "page" `reasons.md#{{ $labels.reason | toLower }}`
  "runbook" (include "reporter.stepsOfReasons" .)) }}
{{- end -}}

{{/* The first steps of the reason of a finding, and the command that prints all of them. An overlay's own reasons have the
command alone. */}}
{{- define "reporter.stepsOfReasons" -}}
{{- $steps := (.Files.Get "files/runbooks.yaml" | fromYaml).reasons -}}
{{- $known := dict -}}
{{- range include "reporter.packNames" . | fromJsonArray -}}
{{- $known = merge $known (default dict (get $steps .)) -}}
{{- end -}}
{{- $branch := "if" -}}
{{- range $reason, $text := $known -}}
{{ printf "{{ %s eq $labels.reason %q }}%s\n" $branch $reason $text }}
{{- $branch = "else if" -}}
{{- end -}}
{{- if $known }}{{ "{{ end }}" }}{{ end -}}
All steps: kubectl exec -n {{ include "reporter.namespace" . }} deployment/{{ include "reporter.name" . }} -- python3 -m reporter.cli explain {{ "{{ $labels.reason }}" }}
{{- if ne (include "reporter.packs" .) "kaito" }} --packs={{ include "reporter.packs" . }}{{ end }}
{{- if include "reporter.overlay" . }} --catalogue-overlay=/etc/status-reporter/overlay.yaml{{ end }}
{{- end -}}

{{/* Alerts on the status: what takes longer than a start or change may, and a status that is not renewed. */}}
{{- define "reporter.statusRules" -}}
{{- if ne (include "reporter.rollupMetrics" .) "off" }}
{{- $series := "productionstack_status_reporter_" }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStalled" "for" "5m" "severity" "warning" "owner" "" "namespace" (include "reporter.ofWorkload" .)
  "why" "What keeps the control plane or a namespace from being Current for longer than it may; a finding has its own alert. It fires on until a leader that knows all stalls no longer shows it."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStalled" "more" (list "layer" "reason" "code" "owner" "workload_namespace")
    "expr" (printf "%srollup_stalled unless %s %sfinding" $series (include "reporter.on" (dict "root" . "more" (list "reason" "workload_namespace"))) $series) "until" (print $series "rollup_stalled_complete == 1")))
  "summary" (print `{{ with $labels.workload_namespace }}Namespace {{ . }}{{ else }}The control plane{{ end }} is kept from being Current by {{ or $labels.reason $labels.code }}` (include "reporter.inCluster" .))
  "description" "It takes longer than a start or a change may. kubectl productionstack-status shows what blocks, since when and who must act.") }}
{{- $seconds := max 600 (mul 3 (.Values.resyncSeconds | int64)) }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterStatusOutdated" "for" "5m" "severity" "warning" "owner" "platform"
  "why" "There is a leader, and the time of its status does not change; seen by its change and not by a clock. Without the series the status could not be made."
  "expr" (printf `max %[1]s (%[2]sleader == 1 or ALERTS{alertname="ProductionStackStatusReporterStatusOutdated",alertstate="firing"}) unless %[3]s changes(%[2]srollup_evaluated_timestamp_seconds[%[4]ds]) > 0` (include "reporter.by" (dict "root" .)) $series (include "reporter.on" (dict "root" .)) $seconds)
  "summary" (print "The status of the production stack is outdated" (include "reporter.inCluster" .))
  "description" "The leader evaluates nothing, or cannot roll up what it evaluates. Its log says why; /status/v1 and ProductionStackStatuses are outdated as well.") }}
{{- end }}
{{- end -}}

{{/* Alerts on what cannot be evaluated. One replica suffices: it may be the leader, or the next one. */}}
{{- define "reporter.unknownRules" -}}
{{- $series := "productionstack_status_reporter_" }}
{{- $complete := print $series "findings_complete == 1" }}
{{- $on := include "reporter.on" (dict "root" .) }}
{{- $pages := print $series "scrape_pages" }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackMetricsPagesUnreadable" "for" "1h" "severity" "warning" "owner" "platform"
  "why" "There are metrics pages of model pods to read, and no replica could read one. One that fires does so until a leader has known all findings for five minutes."
  "expr" (printf `%s unless %s %s{outcome="read"} > 0` (include "reporter.kept" (dict "root" . "name" "ProductionStackMetricsPagesUnreadable"
    "expr" (print $pages `{outcome="failed"} > 0`) "until" (include "reporter.led" .))) $on $pages)
  "summary" (print "No metrics page of a model pod can be read" (include "reporter.inCluster" .))
  "description" "Engines that are stalled are not seen. A network policy, mTLS or another port is the usual cause. If it is meant to be so, set scrape.pods to off.") }}
{{- $one := printf ` unless %s ALERTS{alertname="ProductionStackMetricsPagesUnreadable"}` $on }}
{{- range $rule := list
  (list "" "15m" "" "A reason that some replica cannot evaluate, but for those that read metrics pages. One that fires does so until a leader evaluates again.")
  (list "pages" "1h" $one "The same of reasons that read metrics pages, which a pod may lack while it loads its model. While no page can be read at all, one alert says so.") }}
{{- $reads := printf `reads=%q` (first $rule) }}
{{- include "reporter.alert" (dict "root" $ "name" "ProductionStackReasonUnknown" "for" (index $rule 1) "severity" "warning" "owner" "platform" "namespace" (include "reporter.ofWorkload" $)
  "labels" (empty (first $rule) | ternary dict (dict "reads" (first $rule))) "why" (index $rule 3)
  "expr" (print (include "reporter.kept" (dict "root" $ "name" "ProductionStackReasonUnknown" "more" (list "layer" "reason" "workload_namespace")
    "expr" (printf `%sreason_state{state="unknown",%s} == 1` $series $reads) "of" $reads "until" $complete)) (index $rule 2))
  "summary" (print `{{ $labels.reason }} cannot be evaluated{{ with $labels.workload_namespace }} in namespace {{ . }}{{ end }}` (include "reporter.inCluster" $))
  "description" "The log of the reporter and its /status say why; most often a permission is missing.") }}
{{- end }}
{{- end -}}

{{/* Somebody has led, and known all findings, for long enough to write and read again what could not be. */}}
{{- define "reporter.led" -}}
{{ printf "(%[1]s == 1 and %[1]s offset 5m == 1)" "productionstack_status_reporter_findings_complete" }}
{{- end -}}
