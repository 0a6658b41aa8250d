{{/* Names, labels and the metadata of objects. */}}
{{- define "reporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{/* Names may be 2024 or on, which YAML takes for no strings: toYaml quotes those. */}}
{{- define "reporter.selector" -}}
app.kubernetes.io/name: {{ include "reporter.program" . }}
app.kubernetes.io/instance: {{ toYaml .Release.Name }}
{{- end -}}

{{/* Every label of an object once, as a key that is there twice is refused by kustomize: {root, labels}. Those by
which a user's tool selects the object come first, then those of all objects. */}}
{{- define "reporter.labels" -}}
{{- $root := .root -}}
{{- $users := merge (dict) (default dict .labels) (default dict $root.Values.extraLabels) -}}
{{- $own := list
  (list "app.kubernetes.io/name" (include "reporter.program" $root))
  (list "app.kubernetes.io/instance" (toYaml $root.Release.Name))
  (list "app.kubernetes.io/component" (include "reporter.component" $root))
  (list "app.kubernetes.io/managed-by" $root.Release.Service)
  (list "app.kubernetes.io/version" (quote $root.Chart.AppVersion))
  (list "helm.sh/chart" (printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63)) -}}
{{- range $own }}
{{- if not (hasKey $users (first .)) }}
{{ first . }}: {{ last . }}
{{- end }}
{{- end }}
{{- with $users }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The metadata of an object: {root, name, namespace, labels}. Without a namespace the object is cluster-scoped. */}}
{{- define "reporter.metadata" -}}
{{- include "reporter.checks" .root -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ toYaml . }}
{{- end }}
labels:
  {{- include "reporter.labels" . | trim | nindent 2 }}
{{- end -}}

{{/* The metadata of the object that has the name of the program, in its namespace: {root, labels}. */}}
{{- define "reporter.mainMetadata" -}}
{{- include "reporter.metadata" (dict "root" .root "name" (include "reporter.name" .root) "namespace" (include "reporter.namespace" .root) "labels" .labels) -}}
{{- end -}}

{{/* The name of the ServiceAccount: one that is there, or the one that is created. */}}
{{- define "reporter.serviceAccount" -}}
{{- default (include "reporter.name" .) (default dict .Values.serviceAccount).name -}}
{{- end -}}

{{/* The subject of bindings. */}}
{{- define "reporter.subjects" -}}
- kind: ServiceAccount
  name: {{ include "reporter.serviceAccount" . | toYaml }}
  namespace: {{ include "reporter.namespace" . | toYaml }}
{{- end -}}
