{{/* Alerts on the clusters that the hub answers for, and on the hub itself, which fire on until a hub shows that it is over. */}}
{{- define "hub.rules" -}}
{{- $hub := "productionstack_status_reporter_hub_" }}
{{- $own := include "hub.own" . }}
{{- $labels := dict "hub" (include "hub.identity" .) }}
{{- with trim (include "hub.clusterRules" .) }}
{{- include "hub.keptAlerts" $ }}
{{ . }}
{{- end }}
{{- /* Series without the label hub are those of a target that also shows whether this hub leads. */}}
{{- /* The series of a replica that does not lead are no zeros, but missing. Another hub in the same Prometheus does not stand
for one that is gone. */}}
{{- $success := print $hub "last_success_timestamp_seconds" }}
{{- $leader := printf "%sleader{%s}" $hub $own }}
# Alerts on the hub while none has led for five minutes: what nobody shows any more has not ended.
- record: productionstack_hub:alerts:kept
  expr: >-
    ALERTS{alertname=~"ProductionStackHub.+",alertstate="firing",{{ $own }}} unless {{ include "hub.on" (dict "root" .) }} ({{ $leader }} == 1 and {{ $leader }} offset 5m == 1)
{{- include "hub.alert" (dict "root" . "name" "ProductionStackHubWithoutAnswers" "for" "5m" "severity" "critical" "owner" "platform" "labels" $labels
  "why" "A hub that was seen has had no complete answer within its stale time; without a leader it asks nobody. Its own alert remembers it for ever."
  "expr" (printf `max %s (%s or ALERTS{alertname=~".+WithoutAnswers",%s%s}) unless %s time() - %s <= %d or on () absent(%s)` (include "hub.by" (dict "root" . "more" (list "hub"))) $leader $own (include "hub.named" .) (include "hub.on" (dict "root" . "more" (list "hub"))) $success (.Values.staleSeconds | int64) $leader)
  "summary" "The hub has no complete answer of the metrics engine, so all clusters are Unknown"
  "description" "The log of the hub says why; hub_query_results_total has the results. Without any series of it, no hub leads.") }}
{{- include "hub.alert" (dict "root" . "name" "ProductionStackHubAnswersIncomplete" "for" "10m" "severity" "warning" "owner" "platform" "labels" $labels
  "why" "A query whose answers were not complete, again and again."
  "expr" (include "hub.keptHub" (dict "root" . "name" "ProductionStackHubAnswersIncomplete" "more" (list "query" "result")
    "expr" (printf `increase(%squery_results_total{result!="complete"}[10m]) > 2 and ignoring (query, result, hub) %s` $hub $leader)))
  "summary" `The query {{ $labels.query }} of the hub has no complete answers ({{ $labels.result }})`
  "description" "Limits of the engine, or of the hub, are reached, or a part of the engine is missing. The log of the hub has its words.") }}
{{- include "hub.alert" (dict "root" . "name" "ProductionStackHubSeriesDropped" "for" "15m" "severity" "warning" "owner" "platform" "labels" $labels
  "why" "Series that were left out, but for those of clusters that nobody asked for."
  "expr" (include "hub.keptHub" (dict "root" . "name" "ProductionStackHubSeriesDropped" "more" (list "why")
    "expr" (printf `increase(%sdropped_series_total{why!="not_engaged"}[10m]) > 0 and ignoring (why, hub) %s` $hub $leader)))
  "summary" `Series of clusters are left out ({{ $labels.why }})`
  "description" "The status page of the hub names some of them. A cluster without the cluster label is never seen.") }}
{{- include "hub.alert" (dict "root" . "name" "ProductionStackHubObjectsNotWritten" "for" "10m" "severity" "warning" "owner" "platform" "labels" $labels
  "why" "ProductionStackClusters whose last write failed."
  "expr" (include "hub.keptHub" (dict "root" . "name" "ProductionStackHubObjectsNotWritten"
    "expr" (printf "%sobjects_failing > 0 and ignoring (hub) %s" $hub $leader)))
  "summary" "The status of some ProductionStackClusters is not written"
  "description" "Their conditions may be outdated. The log of the hub says why; hub_object_writes_total has the results.") }}
{{- $series := "productionstack_status_reporter_" }}
{{- include "hub.alert" (dict "root" . "name" "ProductionStackHubWatchLost" "for" "10m" "severity" "warning" "owner" "platform" "labels" $labels
  "why" "A replica that does not watch ProductionStackClusters. A hub that answers for all clusters that are seen has no series of a watch."
  "expr" (include "hub.keptHub" (dict "root" . "name" "ProductionStackHubWatchLost"
    "expr" (printf "%swatch_up == 0 and ignoring (kind, hub) %s" $series $leader)))
  "summary" "The hub does not watch ProductionStackClusters"
  "description" "New clusters, and changes of those that are there, are not seen; without a first list all clusters are Unknown. The log of the hub says why.") }}
{{- include "hub.alert" (dict "root" . "name" "ProductionStackHubRightMissing" "for" "5m" "severity" "critical" "owner" "platform" "labels" $labels
  "why" "A permission that the hub needs and has not. A reporter elsewhere has this metric too: that of a hub is of a target that also shows whether the hub leads."
  "expr" (include "hub.keptHub" (dict "root" . "name" "ProductionStackHubRightMissing" "more" (list "verb" "resource")
    "expr" (printf "%smissing_rights == 1 and ignoring (verb, resource, hub) %s" $series $leader)))
  "summary" `The hub may not {{ $labels.verb }} {{ $labels.resource }}`
  "description" "The RBAC permission is missing. permissions in /status and the log of the hub say what cannot be done without it.") }}
{{- include "hub.alert" (dict "root" . "name" "ProductionStackHubRightsUnknown" "for" "15m" "severity" "warning" "owner" "platform" "labels" $labels
  "why" "Permissions of the hub of which the last review failed."
  "expr" (include "hub.keptHub" (dict "root" . "name" "ProductionStackHubRightsUnknown"
    "expr" (printf "%sunknown_rights > 0 and ignoring (hub) %s" $series $leader)))
  "summary" "Permissions of the hub cannot be reviewed"
  "description" "The API server does not answer its SelfSubjectAccessReviews. permissions in /status names them.") }}
{{- end -}}

{{/* Trouble of the hub, which is also there while its alert is kept: {root, name, more, expr}. */}}
{{- define "hub.keptHub" -}}
max {{ include "hub.by" . }} ({{ .expr }} or productionstack_hub:alerts:kept{alertname={{ .name | quote }},{{ include "hub.own" .root }}})
{{- end -}}

{{/* One alert for each cluster with trouble. It waits for longer than the hub does before it calls a cluster silent, so that
what ends by itself, such as two reporters that overlap, is no alert; and it fires on until its cluster is known again, or all are
and it is not among them. */}}
{{- define "hub.clusterRules" -}}
{{- $hub := "productionstack_status_reporter_hub_" }}
{{- $own := include "hub.own" . }}
{{- $for := printf "%ds" (max 300 (add (.Values.staleSeconds | int64) 60)) }}
{{- $list := "kubectl get productionstackclusters has all of them, and so has the status command with --from=hub." }}
{{- range $rule := list
  (list "Failed" `state="failed",silenced="false"` "A cluster that reports Failed, unless what blocks it is silenced. The owner is that of what blocks it."
    "is Failed" "kubectl get productionstackclusters says what blocks it; the details are in the cluster.")
  (list "Silent" `code=~"Silent|NeverReported|NotConfirmed"` "A cluster of which nothing is known."
    "is silent" (print "Nothing is known of its production stack. Look at its reporter, and at what sends its series. " $list))
  (list "Duplicate" `code=~"DuplicateCluster|NoClusterUID|NoState"` "A cluster whose labels or series contradict each other."
    "cannot be told from another one" (print "Its labels or series contradict each other, so that it is Unknown. " $list))
  (list "PartlyUnknown" `code="",observed="false"` "A cluster that reports that a part of it is Unknown, or that permissions are missing, whatever its state is."
    "is partly Unknown" "Its reporter cannot read all that it needs. The details of the cluster name what is Unknown and the permissions that are missing." "warning") }}
{{- $name := print "ProductionStackCluster" (first $rule) }}
{{- $severity := default "critical" (index (append $rule "") 5) }}
{{- include "hub.alert" (dict "root" $ "name" $name "for" $for "severity" $severity "owner" (eq $severity "critical" | ternary "" "platform") "labels" (dict "hub" (include "hub.identity" $))
  "why" (index $rule 2)
  "expr" (printf `max by (cluster%s) (%scluster{%s,%s} or productionstack_cluster:alerts:kept{alertname=%q,%s})` (eq $severity "critical" | ternary ", owner" "") $hub (index $rule 1) $own $name $own)
  "summary" (print `The production stack of cluster {{ $labels.cluster }} ` (index $rule 3))
  "description" (index $rule 4)) }}
{{- end }}
{{- end -}}

{{/* The alerts on clusters that fire on, as one recorded series: an outage proves no recovery. What ends them is that the hub
knows the cluster, or that it is paused, or that it is none of the clusters any more. */}}
{{- define "hub.keptAlerts" -}}
{{- $hub := "productionstack_status_reporter_hub_" }}
{{- $alerts := printf `ALERTS{alertname=~"ProductionStackCluster.+",alertstate="firing",%s}` (include "hub.own" .) }}
{{- range $rule := list
  (list "unknown" (printf "and on (cluster, hub) %scluster{code!~%q}" $hub "|Paused") "Alerts on clusters that are Unknown to the hub.")
  (list "unanswered" (printf "unless on (cluster, hub) %[1]scluster{code=~%[2]q} unless on (hub) %[1]sclusters" $hub "|Paused") "Alerts on clusters of which the hub shows nothing, while some of them may be missing.") }}
# {{ last $rule }}
- record: productionstack_cluster:alerts:kept
  expr: >-
    {{ $alerts }} {{ index $rule 1 }}
  labels:
    while: {{ first $rule }}
{{- end }}
{{- end -}}

{{/* The Lease of the hub, NAMESPACE/NAME, which its series and alerts have as label: several hubs may be in one Prometheus. */}}
{{- define "hub.identity" -}}
{{ include "hub.namespace" . }}/{{ include "hub.lease" . }}
{{- end -}}

{{- define "hub.own" -}}
hub={{ include "hub.identity" . | quote }}
{{- end -}}
