{{- /* A copy of productionstack-status-reporter/templates/shared/_checks.tpl, by python -m e2e.chart.shared; a test compares. */}}
{{/* Refuse values: {root, why}. In an umbrella chart those of this chart have its name before them. */}}
{{- define "hub.refuse" -}}
{{- fail (printf "%s%s" (ternary "" (printf "%s." .root.Chart.Name) .root.Chart.IsRoot) .why) -}}
{{- end -}}

{{/* Each of these paths has a value: {root, paths}. */}}
{{- define "hub.checkValues" -}}
{{- $root := .root -}}
{{- range $path := .paths -}}
{{- $value := $root.Values -}}
{{- range $key := splitList "." $path -}}
{{- $value = index (kindIs "map" $value | ternary $value dict) $key -}}
{{- end -}}
{{- if kindIs "invalid" $value -}}
{{- include "hub.refuse" (dict "root" $root "why" (printf "%s has no value: helm upgrade --reuse-values keeps the values of the earlier chart and leaves out the defaults of this one; use --reset-then-reuse-values" $path)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What extraArgs gives to a flag, the last of several, or the default: {root, name, default}. */}}
{{- define "hub.flag" -}}
{{- $found := .default -}}
{{- $name := .name -}}
{{- range default list .root.Values.extraArgs -}}
{{- if regexMatch (printf "^--?%s(=|$)" $name) . -}}
{{- $found = contains "=" . | ternary (regexReplaceAll "^[^=]*=" . "") "true" -}}
{{- end -}}
{{- end -}}
{{- $found -}}
{{- end -}}

{{/* What the process would refuse, or what two leaders would do: the times of the Lease, and replicas without election. */}}
{{- define "hub.checkElection" -}}
{{- $elects := include "hub.flag" (dict "root" . "name" "leader-elect" "default" (toString .Values.leaderElection.enabled)) -}}
{{- if and (ne $elects "true") (gt (.Values.replicas | int64) 1) -}}
{{- include "hub.refuse" (dict "root" . "why" (printf "replicas: %d replicas without leaderElection.enabled would all write; set replicas to 1" (.Values.replicas | int64))) -}}
{{- end -}}
{{- $lease := include "hub.flag" (dict "root" . "name" "lease-duration-seconds" "default" 15) | float64 -}}
{{- $renew := include "hub.flag" (dict "root" . "name" "renew-deadline-seconds" "default" 10) | float64 -}}
{{- $retry := include "hub.flag" (dict "root" . "name" "retry-period-seconds" "default" 2) | float64 -}}
{{- if le $lease $renew -}}
{{- include "hub.refuse" (dict "root" . "why" (printf "extraArgs: --lease-duration-seconds=%v must be longer than --renew-deadline-seconds=%v: a leader must give up before others take over" $lease $renew)) -}}
{{- end -}}
{{- if le $renew (mulf 1.2 $retry) -}}
{{- include "hub.refuse" (dict "root" . "why" (printf "extraArgs: --renew-deadline-seconds=%v must be longer than 1.2 times --retry-period-seconds=%v: one failed attempt must not cost the leadership" $renew $retry)) -}}
{{- end -}}
{{- end -}}

{{/* Labels by which pods are found are not given again. */}}
{{- define "hub.checkLabels" -}}
{{- range $label := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" -}}
{{- if hasKey (default dict $.Values.extraLabels) $label -}}
{{- include "hub.refuse" (dict "root" $ "why" (printf "extraLabels: %s is a label by which the chart and the commands find the pods; choose another one" $label)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The port of /status is none of the others. */}}
{{- define "hub.checkStatusPort" -}}
{{- if has (include "hub.statusPort" .) (list "8080" "8081") -}}
{{- include "hub.refuse" (dict "root" $ "why" "statusBindAddress: 8080 and 8081 serve the metrics and the probes, which a NetworkPolicy opens to others; give /status a port of its own") -}}
{{- end -}}
{{- end -}}

{{/* A label by which the rules tell series apart would make all alerts one, or an alert that fires on one that never ends. */}}
{{- define "hub.checkAlertLabels" -}}
{{- $values := default dict .Values.prometheusRule -}}
{{- $own := list "cluster" "kind" "verb" "resource" "code" "layer" "reason" "owner" "workload_namespace" "inferenceset" "hub" "reads" "state" "query" "result" "why" "pod" "pod_name" "kubernetes_pod_name" -}}
{{- range $label := keys (default dict $values.alertLabels) | sortAlpha -}}
{{- if has $label (concat $own (default list $values.clusterLabels)) -}}
{{- include "hub.refuse" (dict "root" $ "why" (printf "prometheusRule.alertLabels: the rules tell series apart by the label %s; choose another name" $label)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The port in an address of /status, of which the empty one is the default; 0 if it is not served. */}}
{{- define "hub.portOf" -}}
{{- kindIs "invalid" . | ternary "" (toString .) | default ":8082" | splitList ":" | last -}}
{{- end -}}

{{/* The port at which others reach /status; empty if it is not served, or inside the pod alone. */}}
{{- define "hub.statusPort" -}}
{{- $address := default "" .Values.statusBindAddress -}}
{{- if and (contains ":" $address) (not (regexMatch "^(127\\.|localhost:|\\[::1\\])" $address)) -}}
{{- splitList ":" $address | last -}}
{{- end -}}
{{- end -}}
