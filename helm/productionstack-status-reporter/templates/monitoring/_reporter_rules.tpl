{{/* Alerts on the reporter's own health: whether it runs, leads and sees the cluster. */}}
{{- define "reporter.healthRules" -}}
{{- $without := include "reporter.without" (dict "root" .) }}
{{- $cluster := include "reporter.inCluster" . }}
{{- $series := "productionstack_status_reporter_" }}
{{- $leader := print $series "leader" }}
{{- $values := .Values.prometheusRule }}
{{- /* In any namespace: reporters of two releases know nothing of each other. */}}
{{- $pod := list "namespace" "pod" "pod_name" "kubernetes_pod_name" }}
{{- /* The series of a cluster whose reporter is gone are remembered for a day. Without any series at all there is no
cluster to name. */}}
{{- $silent := include "reporter.without" (dict "root" . "more" (list "namespace")) }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterSilent" "for" "5m" "severity" "critical" "owner" "platform"
  "labels" (dict "namespace" (include "reporter.namespace" .))
  "expr" (printf "(max %s (last_over_time(%s[1d])) unless max %s (%s) == 1) or on () absent(%s)" $silent $leader $silent $leader $leader)
  "summary" (print "No replica of the status reporter is the leader" $cluster)
  "description" "No Events about the production stack are written.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterSeveralLeaders" "for" "10m" "severity" "warning" "owner" "platform"
  "labels" (dict "namespace" (include "reporter.namespace" .))
  "expr" (printf "count without (%s) (max without (%s) (%s) == 1) > 1" (join ", " $pod) (without $values.replicaLabels "pod" "pod_name" "kubernetes_pod_name" | join ", ") $leader)
  "summary" (print `{{ $value }} replicas of the status reporter are the leader` $cluster)
  "description" "Events may be written twice. Without leader election, run one replica.") }}
{{- /* By its change and not by a clock. One replica suffices: it may be the leader, or the next one. The series of a
pod that has just begun, or has ended, do not change for a whole resync. */}}
{{- $resync := .Values.resyncSeconds | int64 }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterPassesStale" "for" (gt $resync 180 | ternary (printf "%ds" (add $resync 120)) "5m") "severity" "warning" "owner" "platform"
  "expr" (printf "min %s (changes(%slast_pass_timestamp_seconds[%ds])) == 0" $without $series (max 600 (mul 3 (.Values.resyncSeconds | int64))))
  "summary" (print "A replica of the status reporter evaluates nothing" $cluster)
  "description" "No pass has ended for as long as three resyncs, ten minutes at least. The log of the replica says why; its liveness probe should restart it.") }}
{{- /* resource: the label of a missing permission, which explains the loss (inhibit_rules). */}}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterWatchLost" "for" "10m" "severity" "warning" "owner" "platform"
  "expr" (printf `label_replace(max %s (%swatch_up == 0 and %skind_served == 1) == 0, "resource", "$1", "kind", "([^/]+).*")` $without $series $series)
  "summary" (print `{{ $labels.kind }} are not watched` $cluster)
  "description" "Reasons that read them are Unknown on that replica, and keep their last state. unread in /status says why, and which reasons these are.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterDecodeErrors" "for" "5m" "severity" "warning" "owner" "platform"
  "expr" (printf "max %s (%sundecodable_objects) > 0" $without $series)
  "summary" (print `{{ $value }} {{ $labels.kind }} cannot be decoded` $cluster)
  "description" "They do not have the form of their CRD or API, so what depends on them is Unknown. The log of the reporter names them.") }}
{{- /* Those for Events come first: without them nothing is announced. */}}
{{- range $rule := list (list "=" "5m" "critical") (list "!=" "15m" "warning") }}
{{- include "reporter.alert" (dict "root" $ "name" "ProductionStackStatusReporterRightMissing" "for" (index $rule 1) "severity" (index $rule 2) "owner" "platform"
  "expr" (printf `max %s (%smissing_rights{resource%s"events"}) == 1` $without $series (index $rule 0))
  "summary" (print `The status reporter may not {{ $labels.verb }} {{ $labels.resource }}` $cluster)
  "description" "The RBAC permission is missing. permissions in /status and the log of the reporter say what cannot be done without it.") }}
{{- end }}
{{- /* A review that fails proves nothing, so nobody knows what is missing. */}}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterRightsUnknown" "for" "15m" "severity" "warning" "owner" "platform"
  "expr" (printf "max %s (%sunknown_rights) > 0" $without $series)
  "summary" (print `{{ $value }} permissions of the status reporter cannot be reviewed` $cluster)
  "description" "The API server does not answer its SelfSubjectAccessReviews. permissions in /status names them.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterSeriesLeftOut" "for" "5m" "severity" "warning" "owner" "platform"
  "expr" (printf "max %s (%sinferenceset_series_left_out) > 0" $without $series)
  "summary" (print `{{ $value }} pairs of InferenceSet and reason have no series of their own` $cluster)
  "description" "Their alerts are by namespace and name no InferenceSet. /status has all of them.") }}
{{- end -}}

{{/* Alerts on what the reporter writes. */}}
{{- define "reporter.writeRules" -}}
{{- $without := include "reporter.without" (dict "root" .) }}
{{- $cluster := include "reporter.inCluster" . }}
{{- $series := "productionstack_status_reporter_" }}
{{- $writes := print $series "event_writes_total" }}
{{- $mirrors := print $series "mirror_writes_total" }}
{{- $failed := `sum %s (increase(%s{result=~"refused|throttled|uncertain|failed"}[5m])) > 0` }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterEventsNotWritten" "for" "10m" "severity" "warning" "owner" "platform"
  "expr" (printf $failed $without $writes)
  "summary" (print `Events of the status reporter are not accepted ({{ $labels.result }})` $cluster)
  "description" "The log of the reporter says why; an admission policy in kube-system is one reason.") }}
{{- if .Values.mirrorEvents }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterMirrorsNotWritten" "for" "10m" "severity" "warning" "owner" "platform"
  "expr" (printf $failed $without $mirrors)
  "summary" (print `Events beside InferenceSets are not accepted ({{ $labels.result }})` $cluster)
  "description" "Owners who may not read kube-system do not see them. The log of the reporter says why; a quota or a policy of a workload namespace is one reason.") }}
{{- end }}
{{- /* Not sent again, so once is enough. A series that begins above zero has no increase. */}}
{{- $dropped := list }}
{{- range $counter := ternary (list $writes $mirrors) (list $writes) (default false .Values.mirrorEvents) }}
{{- $dropped = append $dropped (printf `sum %s (increase(%s{result="dropped"}[1h]) > 0 or (%s{result="dropped"} unless %s{result="dropped"} offset 1h)) > 0` $without $counter $counter $counter) }}
{{- end }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterEventDropped" "severity" "warning" "owner" "platform"
  "expr" (join " or " $dropped)
  "summary" (print "An Event of the status reporter was dropped" $cluster)
  "description" "The API server found it invalid, which is a fault of the reporter; its log has the details.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterOverlayRefused" "for" "5m" "severity" "warning" "owner" "platform"
  "expr" (printf "max %s (%soverlay_refused) == 1" $without $series)
  "summary" (print "The overlay of the catalogue is refused" $cluster)
  "description" "An earlier one is in effect. The log of the reporter and /status say what is wrong, with file and line.") }}
{{- /* Who wrote a silence relies on it. One that has ended is to be removed, which is less urgent. */}}
{{- range $rule := list (list "malformed|unmatched" "15m") (list "expired" "1h") }}
{{- include "reporter.alert" (dict "root" $ "name" "ProductionStackStatusReporterSilenceNotInEffect" "for" (index $rule 1) "severity" "warning" "owner" "platform"
  "expr" (printf `max %s (%ssilences{state=~%q}) > 0` $without $series (first $rule))
  "summary" (print `Silences of findings are {{ $labels.state }} ({{ $value }})` $cluster)
  "description" "They hold nothing back. silences in /status and the log of the reporter name each of them, and say why.") }}
{{- end }}
{{- if (default dict .Values.statusObjects).enabled }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterObjectsNotWritten" "for" "10m" "severity" "warning" "owner" "platform"
  "expr" (printf "max %s (%sstatus_objects_failing) > 0" $without $series)
  "summary" (print `The status of {{ $value }} ProductionStackStatuses is not written` $cluster)
  "description" "Their conditions may be outdated. The log of the reporter says why; status_object_writes_total has the results.") }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterObjectsNotRead" "for" "10m" "severity" "warning" "owner" "platform"
  "expr" (printf `max %s (%swatch_up{kind="productionstackstatuses.reporter.productionstack.kaito.sh"}) == 0` $without $series)
  "summary" (print "ProductionStackStatuses cannot be read" $cluster)
  "description" "Their CRD or a permission is missing, so none of them has an up-to-date status. The log of the reporter says which.") }}
{{- end }}
{{- if ne (default "none" (default dict .Values.store).backend) "none" }}
{{- include "reporter.alert" (dict "root" . "name" "ProductionStackStatusReporterStoreDown" "for" "10m" "severity" "warning" "owner" "platform"
  "expr" (printf "min %s (%sstore_up) == 0" $without $series)
  "summary" (print "Episodes are not kept as HealthEvents" $cluster)
  "description" "They cannot be watched or written. Events are not affected. The log of the reporter says why; store_writes_total has the results.") }}
{{- end }}
{{- end -}}
