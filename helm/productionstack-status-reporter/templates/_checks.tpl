{{/*
Refuse values that would run another program, or this one with flags that have no value. Every object
includes this, so that a value is named whichever object is rendered first.
*/}}
{{- define "reporter.checks" -}}
{{- $paths := list "image.repository" "replicas" "resyncSeconds" "startupGraceSeconds" "settleSeconds" "heartbeatSeconds" "emission" "logFormat" "leaderElection.enabled" "leaderElection.id" "leaderElection.leaseDurationSeconds" "leaderElection.renewDeadlineSeconds" "leaderElection.retryPeriodSeconds" "scrape.pods" "scrape.mode" "scrape.intervalSeconds" "controlPlane.weightDownload.windowSeconds" "controlPlane.weightDownload.minMBps" "controlPlane.weightDownload.metricName" "controlPlane.weightDownload.metricPort" -}}
{{- if ne (default "none" (default dict .Values.store).backend) "none" -}}
{{- $paths = concat $paths (list "store.max" "store.maxPerNode" "store.retentionSeconds") (ternary (list "store.resource") list (eq .Values.store.backend "nvsentinel")) -}}
{{- end -}}
{{- if (default dict .Values.hub).enabled -}}
{{- $paths = concat $paths (list "hub.replicas" "hub.intervalSeconds" "hub.staleSeconds" "hub.clusterLabel" "hub.engage" "hub.maxClusters") -}}
{{- end -}}
{{- range $path := $paths -}}
{{- $value := $.Values -}}
{{- range $key := splitList "." $path -}}
{{- $value = index (kindIs "map" $value | ternary $value dict) $key -}}
{{- end -}}
{{- if kindIs "invalid" $value -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "%s has no value: helm upgrade --reuse-values keeps the values of the earlier chart and leaves out the defaults of this one; use --reset-then-reuse-values" $path)) -}}
{{- end -}}
{{- end -}}
{{- include "reporter.checkImage" . -}}
{{- include "reporter.checkPacks" . -}}
{{- include "reporter.checkAlertLabels" . -}}
{{- if and (default dict .Values.smokeChecks).models (not (has "jobs" (default list .Values.sources))) -}}
{{- include "reporter.refuse" (dict "root" $ "why" "smokeChecks.models: nobody reads their results; add jobs to sources") -}}
{{- end -}}
{{- range $name := list "extraLabels" "podLabels" -}}
{{- range $label := list "app.kubernetes.io/name" "app.kubernetes.io/instance" "app.kubernetes.io/component" -}}
{{- if hasKey (default dict (get $.Values $name)) $label -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "%s: %s is a label by which the chart and the commands find the pods; choose another one" $name $label)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if has (include "reporter.statusPort" .) (list "8080" "8081") -}}
{{- include "reporter.refuse" (dict "root" $ "why" "statusBindAddress: 8080 and 8081 serve the metrics and the probes, which a NetworkPolicy opens to others; give /status a port of its own") -}}
{{- end -}}
{{- end -}}

{{/* Refuse values: {root, why}. In an umbrella chart those of this chart have its name before them. */}}
{{- define "reporter.refuse" -}}
{{- fail (printf "%s%s" (ternary "" (printf "%s." .root.Chart.Name) .root.Chart.IsRoot) .why) -}}
{{- end -}}

{{/* A pack is shipped, or one of ownPacks; not both, as the shipped one would be meant. */}}
{{- define "reporter.checkPacks" -}}
{{- $shipped := (.Files.Get "files/rights.yaml" | fromYaml).packs -}}
{{- range include "reporter.packNames" . | fromJsonArray -}}
{{- $own := hasKey (default dict $.Values.ownPacks) . -}}
{{- if and $own (hasKey $shipped .) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "ownPacks.%s: a pack of this name is shipped; choose another name" .)) -}}
{{- end -}}
{{- if not (or $own (hasKey $shipped .)) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "packs: there is no pack %s; shipped are %s, and ownPacks adds others" . (keys $shipped | sortAlpha | join ", "))) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A label by which the rules tell series apart would make all alerts one, or an alert that fires on one that never ends. */}}
{{- define "reporter.checkAlertLabels" -}}
{{- $values := default dict .Values.prometheusRule -}}
{{- $own := list "cluster" "kind" "verb" "resource" "code" "layer" "reason" "owner" "workload_namespace" "inferenceset" "hub" "reads" "state" "query" "result" "why" "pod" "pod_name" "kubernetes_pod_name" -}}
{{- range $label := keys (default dict $values.alertLabels) | sortAlpha -}}
{{- if has $label (concat $own (default list $values.clusterLabels)) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "prometheusRule.alertLabels: the rules tell series apart by the label %s; choose another name" $label)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
No image is given by a name alone, which nodes would pull from where others may push. The image of the
earlier reporter ends at the first flag that it does not know.
*/}}
{{- define "reporter.checkImage" -}}
{{- $image := .Values.image -}}
{{- $where := include "reporter.imagePath" . | trimPrefix "/" -}}
{{- if not (contains "/" $where) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "image.registry has no value: set it to the registry to which the image %s of this chart was pushed, such as registry.example/team" $where)) -}}
{{- end -}}
{{- if hasSuffix "ghcr.io/kaito-project/productionstack-status-reporter" $where -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "image.repository: %s holds the earlier reporter, which does not know the flags of this chart; set it to where the image of this chart was pushed" $where)) -}}
{{- end -}}
{{- $version := regexFind "^v?0\\.[0-9]+(\\.[0-9]+)?" (default "" $image.tag) | trimPrefix "v" -}}
{{- if and $version (not $image.digest) (not (hasPrefix (printf "%s." $version) (printf "%s." .Chart.AppVersion))) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "image.tag: %s is not the version of this chart's program, %s, and may be the earlier reporter, which does not know the flags of this chart; leave it empty, or name that image by image.digest" $image.tag .Chart.AppVersion)) -}}
{{- end -}}
{{- end -}}

{{/* The port in an address of /status, of which the empty one is the default; 0 if it is not served. */}}
{{- define "reporter.portOf" -}}
{{- kindIs "invalid" . | ternary "" (toString .) | default ":8082" | splitList ":" | last -}}
{{- end -}}

{{/* The port in an address of /status that others reach; empty if it is not served, or inside the pod alone. */}}
{{- define "reporter.openPort" -}}
{{- $address := default "" . -}}
{{- if and (contains ":" $address) (not (regexMatch "^(127\\.|localhost:|\\[::1\\])" $address)) -}}
{{- splitList ":" $address | last -}}
{{- end -}}
{{- end -}}

{{/* The port at which others reach /status of the reporter; empty if they do not. */}}
{{- define "reporter.statusPort" -}}
{{- include "reporter.openPort" .Values.statusBindAddress -}}
{{- end -}}
