{{/*
Refuse values that would run another program, or this one with flags that have no value. Every object
includes this, so that a value is named whichever object is rendered first.
*/}}
{{- define "reporter.checks" -}}
{{- range $path := list "image.repository" "replicas" "resyncSeconds" "startupGraceSeconds" "settleSeconds" "heartbeatSeconds" "emission" "logFormat" "leaderElection.enabled" "leaderElection.id" "leaderElection.leaseDurationSeconds" "leaderElection.renewDeadlineSeconds" "leaderElection.retryPeriodSeconds" "scrape.pods" "scrape.mode" "scrape.intervalSeconds" "controlPlane.weightDownload.windowSeconds" "controlPlane.weightDownload.minMBps" "controlPlane.weightDownload.metricName" "controlPlane.weightDownload.metricPort" -}}
{{- $value := $.Values -}}
{{- range $key := splitList "." $path -}}
{{- $value = index (kindIs "map" $value | ternary $value dict) $key -}}
{{- end -}}
{{- if kindIs "invalid" $value -}}
{{- fail (printf "%s has no value: helm upgrade --reuse-values keeps the values of the earlier chart and leaves out the defaults of this one; use --reset-then-reuse-values" $path) -}}
{{- end -}}
{{- end -}}
{{- include "reporter.checkImage" . -}}
{{- if has (include "reporter.statusPort" .) (list "8080" "8081") -}}
{{- fail "statusBindAddress: 8080 and 8081 serve the metrics and the probes, which a NetworkPolicy opens to others; give /status a port of its own" -}}
{{- end -}}
{{- end -}}

{{/* The image of the earlier reporter ends at the first flag that it does not know. */}}
{{- define "reporter.checkImage" -}}
{{- $image := .Values.image -}}
{{- $where := trimPrefix "/" (printf "%s/%s" (default "" $image.registry) $image.repository) -}}
{{- if eq $where "ghcr.io/kaito-project/productionstack-status-reporter" -}}
{{- fail (printf "image.repository: %s holds the earlier reporter, which does not know the flags of this chart; set it to where the image of this chart was pushed" $where) -}}
{{- end -}}
{{- $version := regexFind "^v?0\\.[0-9]+(\\.[0-9]+)?" (default "" $image.tag) | trimPrefix "v" -}}
{{- if and $version (not $image.digest) (not (hasPrefix (printf "%s." $version) (printf "%s." .Chart.AppVersion))) -}}
{{- fail (printf "image.tag: %s is not the version of this chart's program, %s, and may be the earlier reporter, which does not know the flags of this chart; leave it empty, or name that image by image.digest" $image.tag .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* The port of /status; empty if it is not served, or at an address inside the pod. */}}
{{- define "reporter.statusPort" -}}
{{- $address := default "" .Values.statusBindAddress -}}
{{- if and (contains ":" $address) (not (regexMatch "^(127\\.|localhost:|\\[::1\\])" $address)) -}}
{{- splitList ":" $address | last -}}
{{- end -}}
{{- end -}}
