{{/*
Refuse values with which the process would not start, or would call clusters silent that are well. Every object
includes this, so that a value is named whichever object is rendered first.
*/}}
{{- define "hub.checks" -}}
{{- include "hub.checkValues" (dict "root" . "paths" (list "image.repository" "replicas" "intervalSeconds" "staleSeconds" "clusterLabel" "engage" "maxClusters" "leaderElection.enabled")) -}}
{{- include "hub.checkImage" . -}}
{{- include "hub.checkElection" . -}}
{{- include "hub.checkLabels" . -}}
{{- include "hub.checkStatusPort" . -}}
{{- include "hub.checkAlertLabels" . -}}
{{- if not .Values.queryURL -}}
{{- include "hub.refuse" (dict "root" . "why" "queryURL has no value: name the metrics engine, such as https://prometheus.example.com") -}}
{{- end -}}
{{- include "hub.checkStale" . -}}
{{- end -}}

{{/* A reporter with the defaults of its chart evaluates anew every 60 s and is scraped every 30 s. One lost answer is no
silence. */}}
{{- define "hub.checkStale" -}}
{{- $interval := .Values.intervalSeconds | int64 -}}
{{- $least := max (mul 3 $interval) (add 90 $interval) -}}
{{- if lt (.Values.staleSeconds | int64) $least -}}
{{- include "hub.refuse" (dict "root" . "why" (printf "staleSeconds: %d is too short: with intervalSeconds=%d, and reporters that evaluate every 60 s and are scraped every 30 s, clusters that are well would be Silent at times; set %d or more. Where every cluster is faster, extraArgs takes --hub-stale-seconds" (.Values.staleSeconds | int64) $interval $least)) -}}
{{- end -}}
{{- end -}}
