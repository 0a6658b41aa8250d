{{- define "reporter.name" -}}
{{- printf "%s-status-reporter" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "reporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* Names may be 2024 or on, which YAML takes for no strings: toYaml quotes those. */}}
{{- define "reporter.selector" -}}
app.kubernetes.io/name: productionstack-status-reporter
app.kubernetes.io/instance: {{ toYaml .Release.Name }}
{{- end -}}

{{- define "reporter.labels" -}}
{{- include "reporter.allLabels" (dict "root" .root "labels" .labels "own" (list
  (list "app.kubernetes.io/name" "productionstack-status-reporter")
  (list "app.kubernetes.io/instance" (toYaml .root.Release.Name))
  (list "app.kubernetes.io/component" "status-reporter"))) -}}
{{- end -}}

{{/* Every label of an object once, as a key that is there twice is refused by kustomize: {root, own, labels}. Those by
which a user's tool selects the object come first, then those of all objects. */}}
{{- define "reporter.allLabels" -}}
{{- $users := merge (dict) (default dict .labels) (default dict .root.Values.extraLabels) -}}
{{- $chart := printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" | trunc 63 -}}
{{- $own := concat .own (list
  (list "app.kubernetes.io/managed-by" .root.Release.Service)
  (list "app.kubernetes.io/version" (quote .root.Chart.AppVersion))
  (list "helm.sh/chart" $chart)) -}}
{{- range $own }}
{{- if not (hasKey $users (first .)) }}
{{ first . }}: {{ last . }}
{{- end }}
{{- end }}
{{- with $users }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The metadata of an object: {root, name, namespace}. Without a namespace the object is cluster-scoped. */}}
{{- define "reporter.metadata" -}}
{{- include "reporter.checks" .root -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ toYaml . }}
{{- end }}
labels:
  {{- include "reporter.labels" . | trim | nindent 2 }}
{{- with .root.Values.extraAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Whether the repository names its registry; empty: not. It does as container tools see it: by a first part with a
dot or a colon, or localhost. */}}
{{- define "reporter.namesRegistry" -}}
{{- $first := splitList "/" .Values.image.repository | first -}}
{{- if and (contains "/" .Values.image.repository) (or (contains "." $first) (contains ":" $first) (eq $first "localhost")) }}true{{ end -}}
{{- end -}}

{{/* Where the image is, without tag and digest. */}}
{{- define "reporter.imagePath" -}}
{{- $registry := default "" .Values.image.registry | trimSuffix "/" -}}
{{- if and $registry (not (include "reporter.namesRegistry" .)) }}{{ $registry }}/{{ end }}{{ .Values.image.repository -}}
{{- end -}}

{{- define "reporter.image" -}}
{{- $image := .Values.image -}}
{{- $where := include "reporter.imagePath" . -}}
{{- if $image.digest -}}
{{ $where }}@{{ $image.digest }}
{{- else -}}
{{ $where }}:{{ default .Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{/* Whether a reporter runs; empty: not, as beside a hub in a management cluster. */}}
{{- define "reporter.runs" -}}
{{- if gt (.Values.replicas | int64) 0 }}true{{ end -}}
{{- end -}}

{{/* Whether the Role in kube-system is created; empty: not. Values that helm reuses may lack it. */}}
{{- define "reporter.createsEventsRole" -}}
{{- if ne (toString (default dict .Values.rbac).eventsRole) "false" }}true{{ end -}}
{{- end -}}

{{/* The names of the packs, as JSON. A release that keeps the values of an earlier chart has none. */}}
{{- define "reporter.packNames" -}}
{{- default (list "kaito") .Values.packs | toJson -}}
{{- end -}}

{{/* The flag's value: names of shipped packs, and where those of one's own are mounted. */}}
{{- define "reporter.packs" -}}
{{- $found := list -}}
{{- range include "reporter.packNames" . | fromJsonArray -}}
{{- $found = append $found (hasKey (default dict $.Values.ownPacks) . | ternary (printf "/etc/status-reporter-packs/%s" .) .) -}}
{{- end -}}
{{- join "," $found -}}
{{- end -}}

{{/* The packs of one's own that are in use, as JSON: names only. */}}
{{- define "reporter.ownPacks" -}}
{{- $found := list -}}
{{- range include "reporter.packNames" . | fromJsonArray -}}
{{- if hasKey (default dict $.Values.ownPacks) . -}}
{{- $found = append $found . -}}
{{- end -}}
{{- end -}}
{{- $found | toJson -}}
{{- end -}}

{{- define "reporter.overlay" -}}
{{- $overlay := .Values.catalogueOverlay -}}
{{- if kindIs "string" $overlay }}{{ $overlay }}{{ else if $overlay }}{{ toYaml $overlay }}{{ end -}}
{{- end -}}
