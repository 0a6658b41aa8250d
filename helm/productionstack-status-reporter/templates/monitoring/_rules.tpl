{{- /* The clause for alerts that name their cluster. */}}
{{- define "reporter.inCluster" -}}
{{ print `{{ with $labels.cluster }} in cluster {{ . }}{{ end }}` }}
{{- end -}}

{{/* The findings of InferenceSets, and by namespace those of subjects without series of their own. Recorded, as several
alerts select from them. */}}
{{- define "reporter.findingSeries" -}}
{{- $sets := include "reporter.findings" (dict "root" . "metric" "inferenceset_reason_state") }}
{{- $all := include "reporter.findings" (dict "root" . "metric" "reason_state") }}
{{- $now := include "reporter.ofWorkload" (dict "root" . "expr" (printf "(%s) or ignoring (inferenceset) (%s)" $sets $all)) }}
- record: productionstack_status_reporter:finding
  expr: >-
    {{ printf "%s or %s" $now (include "reporter.findingsKept" .) | replace "\n" " " }}
{{- end -}}

{{/* The findings of the evaluation before that no replica shows as ended: those that new processes hold anew, and all while
no replica has evaluated anything, for at most 5 minutes. So they outlast the replacement of all replicas, and a
recovery ends them at once. */}}
{{- define "reporter.findingsKept" -}}
{{- $series := "productionstack_status_reporter_" -}}
{{- $before := "productionstack_status_reporter:finding == 1" -}}
{{- $of := "ignoring (inferenceset, layer, namespace, owner, reason, workload_namespace)" -}}
{{- $held := include "reporter.without" (dict "root" . "more" (list "namespace" "state")) -}}
{{- $max := print "max " (include "reporter.without" (dict "root" . "more" (list "namespace"))) -}}
{{- $passed := print $series "last_pass_timestamp_seconds" -}}
({{ $before }} and ignoring (namespace)
(max {{ $held }} ({{ $series }}inferenceset_reason_state{state="held"}) == 1 or max {{ $held }} ({{ $series }}reason_state{state="held"}) == 1))
or ({{ $before }} unless {{ $of }} {{ $max }} ({{ $passed }}) > 0 and {{ $of }} {{ $max }} (last_over_time({{ $passed }}[5m])) > 0)
{{- end -}}

{{/* Alerts on findings: one for each owner, and for each severity that reasons have of their own. */}}
{{- define "reporter.findingRules" -}}
{{- $usual := dict "infrastructure" "warning" "platform" "warning" "user" "warning" }}
{{- $owners := merge (dict) (default dict .Values.prometheusRule.severities) $usual }}
{{- $reasons := default dict .Values.prometheusRule.reasonSeverities }}
{{- $except := keys $reasons | sortAlpha | join "|" }}
{{- $own := dict }}
{{- range $reason, $severity := $reasons }}
{{- $_ := set $own $severity (append (default list (get $own $severity)) $reason) }}
{{- end }}
{{- $rules := list }}
{{- range $owner, $severity := $owners }}
{{- $select := printf "owner=%q" $owner }}
{{- $rules = append $rules (dict "severity" $severity "owner" $owner "select" (empty $except | ternary $select (printf "%s,reason!~%q" $select $except))) }}
{{- end }}
{{- range $severity, $found := $own }}
{{- $rules = append $rules (dict "severity" $severity "owner" "" "select" (sortAlpha $found | join "|" | printf "reason=~%q")) }}
{{- end }}
{{- $where := `{{ with $labels.workload_namespace }} in {{ . }}{{ with $labels.inferenceset }}/{{ . }}{{ end }}{{ end }}` }}
{{- range $rule := $rules }}
{{- include "reporter.alert" (dict "root" $ "name" "ProductionStackFinding" "for" "1m" "severity" $rule.severity "owner" $rule.owner
  "expr" (printf "productionstack_status_reporter:finding{%s} == 1" $rule.select)
  "summary" (print `{{ $labels.reason }}` $where (include "reporter.inCluster" $))
  "description" `The Event says what is wrong, who must act ({{ $labels.owner }}) and what to do: kubectl get events -n kube-system --field-selector source=productionstack-status-reporter,reason={{ $labels.reason }}`
  "page" `reasons.md#{{ $labels.reason | toLower }}`) }}
{{- end }}
{{- end -}}

{{/* Alerts on the status: what takes longer than a start or change may, and a status that is not renewed. */}}
{{- define "reporter.statusRules" -}}
{{- if ne (include "reporter.rollupMetrics" .) "off" }}
{{- $max := print "max " (include "reporter.without" (dict "root" .)) }}
{{- $series := "productionstack_status_reporter_" }}
{{- /* One alert for the control plane stands for all namespaces that it blocks. */}}
{{- $most := print "max " (include "reporter.without" (dict "root" . "more" (list "namespace"))) }}
{{- /* The code of a reason may change to and fro, as of what is out and then degraded: the alert is about the reason. */}}
{{- $stalled := printf "%s (label_replace(%srollup_blocking_info{stalled=\"true\",scope=" $most $series }}
{{- $plain := `, "code", "", "reason", ".+"))` }}
{{- $silenced := printf "unless ignoring (scope, code, actionability, stalled, layer) %s (%ssilenced) == 1" $most $series }}
{{- /* A namespace may also wait for a cause in the control plane, whose silence has no namespace. */}}
{{- $upstream := printf "unless ignoring (scope, workload_namespace, code, actionability, stalled, layer) %s (%ssilenced{layer=\"cluster\"}) == 1" $most $series }}
{{- $blocked := printf `((%s"cluster"}%s == 1 or (%s"namespace"}%s == 1 unless ignoring (scope, workload_namespace) %s"cluster",reason!=""}%s == 1)) %s %s)` $stalled $plain $stalled $plain $stalled $plain $silenced $upstream }}
{{- $owners := printf `max %s (%sreason_state{state="active"}) >= bool 0` (include "reporter.without" (dict "root" . "more" (list "namespace" "state" "workload_namespace"))) $series }}
{{- $joined := printf "%s * ignoring (scope, workload_namespace, code, actionability, stalled, layer, owner) group_left (layer, owner) (%s)" $blocked $owners }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStalled" "for" "5m" "severity" "warning" "owner" ""
  "expr" (include "reporter.ofWorkload" (dict "root" . "expr" (printf "%s or ignoring (layer, owner) %s" $joined $blocked)))
  "summary" (print `{{ with $labels.workload_namespace }}Namespace {{ . }}{{ else }}The control plane{{ end }} is kept from being Current by {{ or $labels.reason $labels.code }}` (include "reporter.inCluster" .))
  "description" "It takes longer than a start or a change may. kubectl productionstack-status shows what blocks, since when and who must act.") }}
{{- /* By its change and not by a clock. Without the series the status could not be made. */}}
{{- $seconds := max 600 (mul 3 (.Values.resyncSeconds | int64)) }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterStatusOutdated" "for" "5m" "severity" "warning" "owner" "platform"
  "expr" (printf "%s (%sleader) == 1 unless ignoring (cluster_uid) %s (changes(%srollup_evaluated_timestamp_seconds[%ds])) > 0" $max $series $max $series $seconds)
  "summary" (print "The status of the production stack is outdated" (include "reporter.inCluster" .))
  "description" "The leader evaluates nothing, or cannot roll up what it evaluates. Its log says why; /status/v1 and ProductionStackStatuses are outdated as well.") }}
{{- end }}
{{- end -}}

{{/* Alerts on what cannot be evaluated. One replica suffices: it may be the leader, or the next one. */}}
{{- define "reporter.unknownRules" -}}
{{- $max := print "max " (include "reporter.without" (dict "root" .)) }}
{{- $most := print "max " (include "reporter.without" (dict "root" . "more" (list "namespace" "state"))) }}
{{- $series := "productionstack_status_reporter_" }}
{{- /* A pod that loads its model may be without a metrics page for as long as a normal start takes, which is up to
45 minutes. While no page can be read at all, one alert instead of one for each namespace says so. */}}
{{- $slow := "inferenceset(WeightDownloadSlow|EngineStalled|MetricsUnavailable|KVCacheSaturated|QueueGrowing|PreemptionStorm|RequestErrors)" }}
{{- $pages := print $series "scrape_pages" }}
{{- $noPage := printf `(%s (%s{outcome="read"}) == 0 and ignoring (outcome) %s (%s{outcome="failed"}) > 0)` $max $pages $max $pages }}
{{- $unless := print " unless ignoring (layer, outcome, owner, reason, workload_namespace) " (replace $max $most $noPage) }}
{{- range $rule := list (list "!~" "15m" "") (list "=~" "1h" $unless) }}
{{- include "reporter.alert" (dict "root" $ "name" "ProductionStackReasonUnknown" "for" (index $rule 1) "severity" "warning" "owner" ""
  "expr" (include "reporter.ofWorkload" (dict "root" $ "expr" (printf `%s (%sreason_state{state="unknown",reason%s%q}) == 1%s` $most $series (index $rule 0) $slow (index $rule 2))))
  "summary" (print `{{ $labels.reason }} cannot be evaluated{{ with $labels.workload_namespace }} in namespace {{ . }}{{ end }}` (include "reporter.inCluster" $))
  "description" "The log of the reporter and its /status say why; most often a permission is missing.") }}
{{- end }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackMetricsPagesUnreadable" "for" "1h" "severity" "warning" "owner" "platform" "expr" $noPage
  "summary" (print "No metrics page of a model pod can be read" (include "reporter.inCluster" .))
  "description" "Engines that are stalled are not seen. A network policy, mTLS or another port is the usual cause. If it is meant to be so, set scrape.pods to off.") }}
{{- end -}}
