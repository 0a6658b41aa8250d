{{/*
Refuse values that would run another program, or this one with flags that have no value. Every object
includes this, so that a value is named whichever object is rendered first.
*/}}
{{- define "reporter.checks" -}}
{{- include "reporter.checkValues" (dict "root" . "paths" (list "image.repository" "replicas" "resyncSeconds" "startupGraceSeconds" "leaderElection.enabled" "leaderElection.id" "scrape.pods" "scrape.mode" "controlPlane.weightDownload.windowSeconds" "controlPlane.weightDownload.minMBps" "controlPlane.weightDownload.metricName" "controlPlane.weightDownload.metricPort")) -}}
{{- include "reporter.checkImage" . -}}
{{- include "reporter.checkElection" . -}}
{{- include "reporter.checkLabels" . -}}
{{- include "reporter.checkStatusPort" . -}}
{{- include "reporter.checkAlertLabels" . -}}
{{- include "reporter.checkPacks" . -}}
{{- include "reporter.checkRules" . -}}
{{- include "reporter.checkOverlay" . -}}
{{- include "reporter.checkComponents" . -}}
{{- if and .Values.smokeChecks (not (has "jobs" (default list .Values.sources))) -}}
{{- include "reporter.refuse" (dict "root" $ "why" "smokeChecks: nobody reads their results; add jobs to sources") -}}
{{- end -}}
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

{{/* Secrets are never read: what a reason reads is shown to everyone who sees Events and /status. */}}
{{- define "reporter.checkRules" -}}
{{- $given := list (list "extraRules" (default list .Values.extraRules)) -}}
{{- range $name, $pack := default dict .Values.ownPacks -}}
{{- $given = append $given (list (printf "ownPacks.%s.rules" $name) (default list $pack.rules)) -}}
{{- end -}}
{{- range $place := $given -}}
{{- range $rule := last $place -}}
{{- if and (has "" $rule.apiGroups) (has "secrets" $rule.resources) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "%s: secrets are not granted, as what a reason reads is shown in Events and /status; name another resource" (first $place))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The overlay is a mapping with keys that the program knows, and changes reasons that there are. The process would keep
running with an earlier one, and not start without one. */}}
{{- define "reporter.checkOverlay" -}}
{{- with include "reporter.overlay" . -}}
{{- $overlay := fromYaml . -}}
{{- if hasKey $overlay "Error" -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "catalogueOverlay: no YAML mapping: %s" $overlay.Error)) -}}
{{- end -}}
{{- range $key := keys $overlay | sortAlpha -}}
{{- if not (has $key (list "reasons" "add" "kinds")) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "catalogueOverlay: unknown key %s; an overlay has reasons, add and kinds" $key)) -}}
{{- end -}}
{{- end -}}
{{- if not (kindIs "map" (default dict $overlay.reasons)) -}}
{{- include "reporter.refuse" (dict "root" $ "why" "catalogueOverlay: reasons is no mapping, by the name of the reason") -}}
{{- end -}}
{{- $known := include "reporter.reasons" $ | fromJsonArray -}}
{{- range $reason := keys (default dict $overlay.reasons) | sortAlpha -}}
{{- if not (has $reason $known) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "catalogueOverlay: unknown reason %s; docs/reasons.md has those of each pack, and `add` takes new ones" $reason)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Each line of components names a component that there is, and NAMESPACE or NAMESPACE/DEPLOYMENT. */}}
{{- define "reporter.checkComponents" -}}
{{- $keys := include "reporter.componentKeys" . | fromYaml -}}
{{- range $name, $place := include "reporter.components" . | fromJson -}}
{{- if eq $name "Error" -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "components: no YAML mapping: %s" $place)) -}}
{{- end -}}
{{- if not (hasKey $keys $name) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "components: there is no component %s; known are %s" $name (keys $keys | sortAlpha | join ", "))) -}}
{{- end -}}
{{- if not (regexMatch "^([^/]+(/[^/]+)?)?$" (toString (default "" $place))) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "components.%s: must be NAMESPACE/DEPLOYMENT, or empty: not checked" $name)) -}}
{{- end -}}
{{- if gt (splitList "/" (toString (default "" $place)) | len) (len (get $keys $name)) -}}
{{- include "reporter.refuse" (dict "root" $ "why" (printf "components.%s: name its namespace alone" $name)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The reasons of the packs in use, as JSON. */}}
{{- define "reporter.reasons" -}}
{{- $shipped := .Files.Get "files/reasons.yaml" | fromYaml -}}
{{- $found := $shipped.always -}}
{{- range include "reporter.packNames" . | fromJsonArray -}}
{{- $found = concat $found (default list (get $shipped.packs .)) -}}
{{- with get (default dict $.Values.ownPacks) . -}}
{{- range .files -}}
{{- $file := kindIs "string" . | ternary (fromYaml (toString .)) . -}}
{{- range default list $file.reasons -}}
{{- $found = append $found .reason -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $found | toJson -}}
{{- end -}}
