{{- /* A copy of productionstack-status-reporter/templates/shared/_image.tpl, by python -m e2e.chart.shared; a test compares. */}}
{{/* Whether the repository names its registry; empty: not. It does as container tools see it: by a first part with a
dot or a colon, or localhost. */}}
{{- define "hub.namesRegistry" -}}
{{- $first := splitList "/" .Values.image.repository | first -}}
{{- if and (contains "/" .Values.image.repository) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) }}true{{ end -}}
{{- end -}}

{{/* Where the image is, without tag and digest. */}}
{{- define "hub.imagePath" -}}
{{- $registry := default "" .Values.image.registry | trimSuffix "/" -}}
{{- if and $registry (not (include "hub.namesRegistry" .)) }}{{ $registry }}/{{ end }}{{ .Values.image.repository -}}
{{- end -}}

{{- define "hub.image" -}}
{{- $image := .Values.image -}}
{{- $where := include "hub.imagePath" . -}}
{{- if $image.digest -}}
{{ $where }}@{{ $image.digest }}
{{- else -}}
{{ $where }}:{{ default .Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{/*
No image is given by a name alone, which nodes would pull from where others may push. The image of the
earlier reporter ends at the first flag that it does not know.
*/}}
{{- define "hub.checkImage" -}}
{{- $image := .Values.image -}}
{{- $where := include "hub.imagePath" . | trimPrefix "/" -}}
{{- if not (contains "/" $where) -}}
{{- include "hub.refuse" (dict "root" $ "why" (printf "image.registry has no value: set it to the registry to which the image %s of this chart was pushed, such as registry.example/team" $where)) -}}
{{- end -}}
{{- if hasSuffix "ghcr.io/kaito-project/productionstack-status-reporter" $where -}}
{{- include "hub.refuse" (dict "root" $ "why" (printf "image.repository: %s holds the earlier reporter, which does not know the flags of this chart; set it to where the image of this chart was pushed" $where)) -}}
{{- end -}}
{{- $version := regexFind "^v?0\\.[0-9]+(\\.[0-9]+)?" (default "" $image.tag) | trimPrefix "v" -}}
{{- if and $version (not $image.digest) (not (hasPrefix (printf "%s." $version) (printf "%s." .Chart.AppVersion))) -}}
{{- include "hub.refuse" (dict "root" $ "why" (printf "image.tag: %s is not the version of this chart's program, %s, and may be the earlier reporter, which does not know the flags of this chart; leave it empty, or name that image by image.digest" $image.tag .Chart.AppVersion)) -}}
{{- end -}}
{{- end -}}
