{{/* What the Deployments of the programs have in common. */}}
{{- define "reporter.deploymentSpec" -}}
replicas: {{ .Values.replicas }}
selector:
  matchLabels:
    {{- include "reporter.selector" . | nindent 4 }}
{{- end -}}

{{/* The metadata of the pods: {root, annotations}. */}}
{{- define "reporter.podMetadata" -}}
labels:
  {{- include "reporter.selector" .root | nindent 2 }}
  app.kubernetes.io/component: {{ include "reporter.component" .root }}
  {{- with .root.Values.extraLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with merge (dict) (default dict .root.Values.podAnnotations) (default dict .annotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Where and how the pods run. No image is of another system, and no Service of the namespace is needed. */}}
{{- define "reporter.podSpec" -}}
serviceAccountName: {{ include "reporter.serviceAccount" . | toYaml }}
enableServiceLinks: false
terminationGracePeriodSeconds: 30
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
nodeSelector:
  {{- toYaml (merge (dict) (default dict .Values.nodeSelector) (dict "kubernetes.io/os" "linux")) | nindent 2 }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if .Values.affinity }}
affinity:
  {{- toYaml .Values.affinity | nindent 2 }}
{{- else if .Values.podAntiAffinity }}
affinity:
  podAntiAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
      - weight: 100
        podAffinityTerm:
          topologyKey: kubernetes.io/hostname
          labelSelector:
            matchLabels:
              {{- include "reporter.selector" . | nindent 14 }}
{{- end }}
{{- with .Values.podSpec }}
{{ toYaml . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{/* The container but for its name, arguments and volumes: {root, env, live}: further variables, and the path of the
liveness probe. */}}
{{- define "reporter.container" -}}
image: {{ include "reporter.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
env:
  - name: POD_NAME
    valueFrom:
      fieldRef:
        fieldPath: metadata.name
  - name: POD_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
  {{- with concat (default list .env) (default list .root.Values.extraEnv) }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
ports:
  - name: metrics
    containerPort: 8080
    protocol: TCP
  - name: health
    containerPort: 8081
    protocol: TCP
{{- $live := dict "initialDelaySeconds" 15 "periodSeconds" 20 "timeoutSeconds" 5 }}
{{- $ready := dict "initialDelaySeconds" 2 "periodSeconds" 5 "timeoutSeconds" 5 }}
{{- $given := default dict .root.Values.probes }}
{{- range $probe := list (list "liveness" .live $live) (list "readiness" "/readyz" $ready) }}
{{ first $probe }}Probe:
  httpGet:
    path: {{ index $probe 1 }}
    port: health
  {{- toYaml (mergeOverwrite (index $probe 2) (default dict (get $given (first $probe)))) | nindent 2 }}
{{- end }}
{{- with .root.Values.resources }}
resources:
  {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  runAsNonRoot: true
  capabilities:
    drop: ["ALL"]
{{- end -}}
