{{- define "reporter.name" -}}
{{- printf "%s-status-reporter" .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "reporter.namespace" -}}
{{- default .Release.Namespace .Values.namespaceOverride -}}
{{- end -}}

{{- define "reporter.selector" -}}
app.kubernetes.io/name: productionstack-status-reporter
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "reporter.labels" -}}
{{ include "reporter.selector" . }}
app.kubernetes.io/component: status-reporter
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 }}
{{- with .Values.extraLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The metadata of an object: {root, name, namespace}. Without a namespace the object is cluster-scoped. */}}
{{- define "reporter.metadata" -}}
{{- include "reporter.checks" .root -}}
name: {{ .name }}
{{- with .namespace }}
namespace: {{ . }}
{{- end }}
labels:
  {{- include "reporter.labels" .root | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .root.Values.extraAnnotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "reporter.image" -}}
{{- $image := .Values.image -}}
{{- $where := ternary $image.repository (printf "%s/%s" $image.registry $image.repository) (empty $image.registry) -}}
{{- if $image.digest -}}
{{ $where }}@{{ $image.digest }}
{{- else -}}
{{ $where }}:{{ default .Chart.AppVersion $image.tag }}
{{- end -}}
{{- end -}}

{{- define "reporter.overlay" -}}
{{- $overlay := .Values.catalogueOverlay -}}
{{- if kindIs "string" $overlay }}{{ $overlay }}{{ else if $overlay }}{{ toYaml $overlay }}{{ end -}}
{{- end -}}
