{{/* Alerts on the reporter's own health: whether it runs, leads and sees the cluster. Those on a state fire on until a reporter
shows that it is over: what nobody shows any more has not ended. */}}
{{- define "reporter.healthRules" -}}
{{- $by := include "reporter.by" (dict "root" .) }}
{{- $on := include "reporter.on" (dict "root" .) }}
{{- $cluster := include "reporter.inCluster" . }}
{{- $series := "productionstack_status_reporter_" }}
{{- $complete := print $series "findings_complete == 1" }}
{{- $leader := print $series "leader" }}
{{- $silent := "ProductionStackStatusReporterSilent" }}
{{- include "reporter.alert" (dict "root" . "name" $silent "for" "5m" "severity" "critical" "owner" "platform"
  "why" "A cluster whose reporter was seen has no leader. Its own alert remembers it for ever; without any series at all there is no cluster to name."
  "expr" (printf `max %s (last_over_time(%s[1d]) or last_over_time(ALERTS{alertname=%q%s}[1d])) unless %s %s == 1 or on () absent(%s)` $by $leader $silent (include "reporter.named" .) $on $leader $leader)
  "summary" (print "No replica of the status reporter is the leader" $cluster)
  "description" "No Events about the production stack are written, and what fires on findings is as it was.") }}
{{- $pods := include "reporter.by" (dict "root" . "more" (list "namespace" "pod" "pod_name" "kubernetes_pod_name")) }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterSeveralLeaders" "for" "10m" "severity" "warning" "owner" "platform"
  "why" "Several pods are the leader, in one namespace or in several: reporters of two releases know nothing of each other. So it is if clusterLabels do not tell clusters apart."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterSeveralLeaders"
    "expr" (printf "count %s (max %s (%s) == 1) > 1" $by $pods $leader) "until" (print $leader " == 1")))
  "summary" (print "Several replicas of the status reporter are the leader" $cluster)
  "description" "Events may be written twice. Without leader election, run one replica. If these are the leaders of several clusters, set prometheusRule.clusterLabels.") }}
{{- $resync := .Values.resyncSeconds | int64 }}
{{- $changes := printf "changes(%slast_pass_timestamp_seconds[%ds])" $series (max 600 (mul 3 $resync)) }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterPassesStale" "for" (gt $resync 180 | ternary (printf "%ds" (add $resync 120)) "5m") "severity" "warning" "owner" "platform"
  "why" "The time of the last pass of some replica does not change, by which it is seen and not by a clock. That of a pod that has just begun, or ended, does not for a whole resync."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterPassesStale"
    "expr" (printf "min %s (%s) == 0" $by $changes) "until" (printf "(%s > 0 and %s == 1)" $changes $leader)))
  "summary" (print "A replica of the status reporter evaluates nothing" $cluster)
  "description" "No pass has ended for as long as three resyncs, ten minutes at least. The log of the replica says why; its liveness probe should restart it.") }}
{{- include "reporter.watchRules" . }}
{{- include "reporter.rightRules" . }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterSeriesLeftOut" "for" "5m" "severity" "warning" "owner" "platform"
  "why" "Pairs of InferenceSet and reason that are beyond the limit of series."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterSeriesLeftOut"
    "expr" (print $series "inferenceset_series_left_out > 0") "until" $complete))
  "summary" (print "Some pairs of InferenceSet and reason have no series of their own" $cluster)
  "description" "Their alerts are by namespace and name no InferenceSet. /status has all of them.") }}
{{- end -}}

{{/* Alerts on what the reporter cannot see. A hub has series of these names too: those of a reporter are of a target that also
shows whether the reporter leads. */}}
{{- define "reporter.watchRules" -}}
{{- $cluster := include "reporter.inCluster" . }}
{{- $series := "productionstack_status_reporter_" }}
{{- $complete := print $series "findings_complete == 1" }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterNothingWatched" "for" "5m" "severity" "critical" "owner" "platform"
  "why" "No replica watches anything: the API server is out, or cannot be reached."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterNothingWatched"
    "expr" (printf "max %[1]s (%[2]swatch_up and ignoring (kind) %[2]sleader) == 0" (include "reporter.by" (dict "root" .)) $series) "until" (print $series "leader == 1")))
  "summary" (print "The status reporter watches nothing" $cluster)
  "description" "Everything is Unknown, and what fires on findings is as it was. The log of the reporter has what the API server answers.") }}
{{- /* resource: the label of a missing permission, which explains the loss (inhibit_rules). */}}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterWatchLost" "for" "10m" "severity" "warning" "owner" "platform"
  "labels" (dict "resource" `{{ reReplaceAll "/.*" "" $labels.kind }}`)
  "why" "A kind that the API server serves and some replica does not watch. One that fires does so until a replica evaluates again."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterWatchLost" "more" (list "kind")
    "expr" (printf "%[1]swatch_up == 0 and %[1]skind_served == 1 and ignoring (kind) %[1]sleader" $series) "until" (print $series "last_pass_timestamp_seconds > 0")))
  "summary" (print `{{ $labels.kind }} are not watched` $cluster)
  "description" "Reasons that read them are Unknown on that replica, and keep their last state. unread in /status says why, and which reasons these are.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterDecodeErrors" "for" "5m" "severity" "warning" "owner" "platform"
  "why" "Objects of a kind whose newest version cannot be decoded."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterDecodeErrors" "more" (list "kind")
    "expr" (print $series "undecodable_objects > 0") "until" $complete))
  "summary" (print `Some {{ $labels.kind }} cannot be decoded` $cluster)
  "description" "They do not have the form of their CRD or API, so what depends on them is Unknown. The log of the reporter names them.") }}
{{- end -}}

{{/* Alerts on permissions of a reporter, and not of a hub. Without those for Events nothing is announced. */}}
{{- define "reporter.rightRules" -}}
{{- $cluster := include "reporter.inCluster" . }}
{{- $series := "productionstack_status_reporter_" }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterRightMissing" "for" "5m" "owner" "platform"
  "severity" `{{ if eq $labels.resource "events" }}critical{{ else }}warning{{ end }}`
  "why" "A permission that some replica needs and has not; one for Events is critical. One that fires does so until a replica has reviewed all permissions again."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterRightMissing" "more" (list "verb" "resource")
    "expr" (printf "%[1]smissing_rights == 1 and ignoring (verb, resource) %[1]sleader" $series) "until" (printf "(%[1]sunknown_rights == 0 and %[1]sleader)" $series)))
  "summary" (print `The status reporter may not {{ $labels.verb }} {{ $labels.resource }}` $cluster)
  "description" "The RBAC permission is missing. permissions in /status and the log of the reporter say what cannot be done without it.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterRightsUnknown" "for" "15m" "severity" "warning" "owner" "platform"
  "why" "Permissions of which the last review failed, which proves nothing: nobody knows what is missing."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterRightsUnknown"
    "expr" (printf "(%[1]sunknown_rights > 0 and %[1]sleader)" $series) "until" (printf "(%[1]sunknown_rights == 0 and %[1]sleader == 1)" $series)))
  "summary" (print "Permissions of the status reporter cannot be reviewed" $cluster)
  "description" "The API server does not answer its SelfSubjectAccessReviews. permissions in /status names them.") }}
{{- end -}}

{{/* Alerts on what the reporter writes. */}}
{{- define "reporter.writeRules" -}}
{{- $by := include "reporter.by" (dict "root" .) }}
{{- $cluster := include "reporter.inCluster" . }}
{{- $series := "productionstack_status_reporter_" }}
{{- $complete := print $series "findings_complete == 1" }}
{{- $results := include "reporter.by" (dict "root" . "more" (list "result")) }}
{{- $failed := `increase(%s{result=~"refused|throttled|uncertain|failed"}[5m]) > 0` }}
{{- $dropped := `sum %s (increase(%[2]s{result="dropped"}[1h]) > 0 or (%[2]s{result="dropped"} unless %[2]s{result="dropped"} offset 1h)) > 0` }}
{{- range $rule := list
  (list "Event" "event_writes_total" "Events of the status reporter" "An Event of the status reporter" "The log of the reporter says why; an admission policy in kube-system is one reason.")
  (list "Mirror" "mirror_writes_total" "Events beside InferenceSets" "An Event beside an InferenceSet" "Owners who may not read kube-system do not see them. The log of the reporter says why; a quota or a policy of a workload namespace is one reason.") }}
{{- $metric := print $series (index $rule 1) }}
{{- if or (eq (first $rule) "Event") $.Values.mirrorEvents }}
{{- include "reporter.alert" (dict "root" $ "name" (printf "ProductionStackStatusReporter%ssNotWritten" (first $rule)) "for" "10m" "severity" "warning" "owner" "platform"
  "why" "Requests to write Events that failed, again and again. One that fires does so until a leader has known all findings for five minutes."
  "expr" (include "reporter.kept" (dict "root" $ "name" (printf "ProductionStackStatusReporter%ssNotWritten" (first $rule)) "more" (list "result")
    "expr" (printf $failed $metric) "until" (include "reporter.led" $)))
  "summary" (print (index $rule 2) ` are not accepted ({{ $labels.result }})` $cluster)
  "description" (index $rule 4)) }}
{{- include "reporter.alert" (dict "root" $ "name" (printf "ProductionStackStatusReporter%sDropped" (first $rule)) "severity" "warning" "owner" "platform"
  "why" "An Event that was dropped in the last hour. It is not sent again, so once is enough. A series that begins above zero has no increase."
  "expr" (printf $dropped $results $metric)
  "summary" (print (index $rule 3) " was dropped" $cluster)
  "description" "The API server found it invalid, which is a fault of the reporter; its log has the details.") }}
{{- end }}
{{- end }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterOverlayRefused" "for" "5m" "severity" "warning" "owner" "platform"
  "why" "The overlay that is in place is not the one in effect."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterOverlayRefused"
    "expr" (print $series "overlay_refused == 1") "until" $complete))
  "summary" (print "The overlay of the catalogue is refused" $cluster)
  "description" "An earlier one is in effect. The log of the reporter and /status say what is wrong, with file and line.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterSilenceNotInEffect" "for" "15m" "owner" "platform"
  "severity" `{{ if eq $labels.state "expired" }}info{{ else }}warning{{ end }}`
  "why" "Silences that hold nothing back, on which whoever wrote them relies; those that have ended are to be removed, which is less urgent."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterSilenceNotInEffect" "more" (list "state")
    "expr" (print $series `silences{state!="active"} > 0`) "until" $complete))
  "summary" (print `Silences of findings are {{ $labels.state }}` $cluster)
  "description" "They hold nothing back. silences in /status and the log of the reporter name each of them, and say why.") }}
{{- if (default dict .Values.statusObjects).enabled }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterObjectsNotWritten" "for" "10m" "severity" "warning" "owner" "platform"
  "why" "ProductionStackStatuses whose last write failed."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterObjectsNotWritten"
    "expr" (print $series "status_objects_failing > 0") "until" (include "reporter.led" .)))
  "summary" (print "The status of some ProductionStackStatuses is not written" $cluster)
  "description" "Their conditions may be outdated. The log of the reporter says why; status_object_writes_total has the results.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterObjectsNotRead" "for" "10m" "severity" "warning" "owner" "platform"
  "why" "No replica watches ProductionStackStatuses."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterObjectsNotRead"
    "expr" (printf `max %s (%swatch_up{kind="productionstackstatuses.reporter.productionstack.kaito.sh"}) == 0` $by $series) "until" (print $series "leader == 1")))
  "summary" (print "ProductionStackStatuses cannot be read" $cluster)
  "description" "Their CRD or a permission is missing, so none of them has an up-to-date status. The log of the reporter says which.") }}
{{- end }}
{{- if ne (include "reporter.store" .) "none" }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterStoreDown" "for" "10m" "severity" "warning" "owner" "platform"
  "why" "Some replica does not watch HealthEvents, or the leader cannot write some of them."
  "expr" (include "reporter.kept" (dict "root" . "name" "ProductionStackStatusReporterStoreDown"
    "expr" (print $series "store_up == 0") "until" (include "reporter.led" .)))
  "summary" (print "Episodes are not kept as HealthEvents" $cluster)
  "description" "They cannot be watched or written. Events are not affected. The log of the reporter says why; store_writes_total has the results.") }}
{{- end }}
{{- end -}}
