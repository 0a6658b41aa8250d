{{/* Alerts on the clusters that the hub answers for, and on the hub itself. */}}
{{- define "hub.rules" -}}
{{- $without := include "reporter.without" (dict "root" .) }}
{{- $hub := "productionstack_status_reporter_hub_" }}
{{- $unknown := printf "max %s (%sunknown_clusters" $without $hub }}
{{- $list := "kubectl get productionstackclusters names them, or the status command with --from=hub." }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackClusterSilent" "for" "5m" "severity" "critical" "owner" "platform"
  "expr" (printf `%s{code=~"Silent|NeverReported|NotConfirmed"}) > 0` $unknown)
  "summary" `{{ $value }} clusters are Unknown: {{ $labels.code }}`
  "description" (print "Nothing is known of their production stacks. " $list)) }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackClusterDuplicate" "for" "5m" "severity" "critical" "owner" "platform"
  "expr" (printf `%s{code=~"DuplicateCluster|NoClusterUID|NoState"}) > 0` $unknown)
  "summary" `{{ $value }} clusters cannot be told apart: {{ $labels.code }}`
  "description" (print "Their labels or series contradict each other, so that they are Unknown. " $list)) }}
{{- /* The series of a replica that does not lead are no zeros, but missing. Those of a hub that is gone are remembered for
a day, so that another hub in the same Prometheus does not stand for it. */}}
{{- $all := include "reporter.without" (dict "root" . "more" (list "namespace")) }}
{{- $success := printf "max %s (%slast_success_timestamp_seconds)" $all $hub }}
{{- $leads := printf "max %s (%sleader) == 1" $all $hub }}
{{- $leaderless := printf "(max %s (last_over_time(%sleader[1d])) unless %s) or on () absent(%sleader)" $all $hub $leads $hub }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackHubWithoutAnswers" "for" "5m" "severity" "critical" "owner" "platform"
  "labels" (dict "namespace" (include "reporter.namespace" .))
  "expr" (printf "time() - %s > %d or %s unless %s or %s" $success (.Values.hub.staleSeconds | int64) $leads $success $leaderless)
  "summary" "The hub has no complete answer of the metrics engine, so all clusters are Unknown"
  "description" "The log of the hub says why; hub_query_results_total has the results. Without any series of it, no hub leads.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackHubAnswersIncomplete" "for" "10m" "severity" "warning" "owner" "platform"
  "expr" (printf `max %s (increase(%squery_results_total{result!="complete"}[10m])) > 2` $without $hub)
  "summary" `The query {{ $labels.query }} of the hub has no complete answers ({{ $labels.result }})`
  "description" "Limits of the engine, or of the hub, are reached, or a part of the engine is missing. The log of the hub has its words.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackHubSeriesDropped" "for" "15m" "severity" "warning" "owner" "platform"
  "expr" (printf `sum %s (increase(%sdropped_series_total{why!="not_engaged"}[10m])) > 0` $without $hub)
  "summary" `Series of clusters are left out ({{ $labels.why }})`
  "description" "The status page of the hub names some of them. A cluster without the cluster label is never seen.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackHubObjectsNotWritten" "for" "10m" "severity" "warning" "owner" "platform"
  "expr" (printf "max %s (%sobjects_failing) > 0" $without $hub)
  "summary" `The status of {{ $value }} ProductionStackClusters is not written`
  "description" "Their conditions may be outdated. The log of the hub says why; hub_object_writes_total has the results.") }}
{{- /* The alerts of a reporter are about the permissions of both. A reporter elsewhere, in the same Prometheus, has these
metrics too: those of a hub are of a target that also shows whether the hub leads. */}}
{{- if not (include "reporter.runs" .) }}
{{- $series := "productionstack_status_reporter_" }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackHubRightMissing" "for" "5m" "severity" "critical" "owner" "platform"
  "expr" (printf "max %s (%smissing_rights and ignoring (verb, resource) %sleader) == 1" $without $series $hub)
  "summary" `The hub may not {{ $labels.verb }} {{ $labels.resource }}`
  "description" "The RBAC permission is missing. permissions in /status and the log of the hub say what cannot be done without it.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackHubRightsUnknown" "for" "15m" "severity" "warning" "owner" "platform"
  "expr" (printf "max %s (%sunknown_rights and %sleader) > 0" $without $series $hub)
  "summary" `{{ $value }} permissions of the hub cannot be reviewed`
  "description" "The API server does not answer its SelfSubjectAccessReviews. permissions in /status names them.") }}
{{- end }}
{{- end -}}
