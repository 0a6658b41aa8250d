{{/* The pods whose metrics pages are read. YAML 1.1, which Helm reads, takes off for false. */}}
{{- define "reporter.scrapedPods" -}}
{{- kindIs "bool" .Values.scrape.pods | ternary "off" .Values.scrape.pods -}}
{{- end -}}

{{/* The metrics of the status. YAML 1.1, which Helm reads, takes off for false. */}}
{{- define "reporter.rollupMetrics" -}}
{{- kindIs "bool" .Values.rollupMetrics | ternary "off" (default "cluster" .Values.rollupMetrics) -}}
{{- end -}}

{{/* The ConfigMap of silences: one of the user's, that of the entries, or without either the one that `silence --apply`
creates. That one has a name of its own: Helm adopts no object that it has not made. */}}
{{- define "reporter.silences" -}}
{{- if and .Values.silences (kindIs "string" .Values.silences) -}}
{{- .Values.silences -}}
{{- else -}}
{{- printf "%s-%s" (include "reporter.name" .) (ternary "silences" "applied-silences" (not (empty .Values.silences))) -}}
{{- end -}}
{{- end -}}

{{/* The flags of the process. */}}
{{- define "reporter.arguments" -}}
{{- $there := .Values.controlPlane -}}
- --metrics-bind-address=:8080
- --health-probe-bind-address=:8081
- --status-bind-address={{ .Values.statusBindAddress }}
{{- if ne (default "none" .Values.statusAuthorization) "none" }}
- --status-authorization={{ .Values.statusAuthorization }}
{{- end }}
- --leader-elect={{ .Values.leaderElection.enabled }}
- --leader-election-id={{ include "reporter.lease" . }}
- --resync-seconds={{ .Values.resyncSeconds | int64 }}
- --startup-grace-seconds={{ .Values.startupGraceSeconds | int64 }}
- --release-namespace={{ .Release.Namespace }}
- --istio-namespace={{ $there.istioNamespace }}
- --kaito-namespace={{ $there.kaitoNamespace }}
- --keda-namespace={{ $there.kedaNamespace }}
- --gateway-auth-namespace={{ $there.gatewayAuthNamespace }}
- --bbr-namespace={{ $there.bbrNamespace }}
- --keda-scaler-namespace={{ $there.kedaScalerNamespace }}
- --istiod-deployment={{ $there.istiodDeployment }}
- --kaito-deployment={{ $there.kaitoDeployment }}
- --bbr-deployment={{ $there.bbrDeployment }}
- --keda-scaler-deployment={{ $there.kedaScalerDeployment }}
- --gateway-auth-deployment={{ $there.gatewayAuthDeployment }}
{{- with $there.nodeProvisioner }}
{{- if .name }}
- --node-provisioner-name={{ .name }}
- --node-provisioner-namespace={{ .namespace }}
{{- end }}
{{- end }}
{{- with $there.azureAuthz }}
{{- if .name }}
- --azure-authz-deployment={{ .name }}
- --azure-authz-namespace={{ .namespace }}
{{- end }}
{{- end }}
- --weight-download-window-seconds={{ $there.weightDownload.windowSeconds | int64 }}
- --weight-download-min-mbps={{ $there.weightDownload.minMBps }}
- --weight-download-metric={{ $there.weightDownload.metricName }}
- --weight-download-metric-port={{ $there.weightDownload.metricPort | int64 }}
- --scrape={{ include "reporter.scrapedPods" . }}
- --scrape-mode={{ .Values.scrape.mode }}
{{- if ne (include "reporter.store" .) "none" }}
- --store={{ include "reporter.store" . }}
{{- end }}
{{- if (default dict .Values.statusObjects).enabled }}
- --status-objects=true
{{- end }}
{{- if ne (include "reporter.rollupMetrics" .) "cluster" }}
- --rollup-metrics={{ include "reporter.rollupMetrics" . }}
{{- end }}
{{- if .Values.mirrorEvents }}
- --mirror-events=true
{{- end }}
- --silence-file=/etc/status-reporter-silences/silences.yaml
{{- with .Values.sources }}
- --sources={{ join "," . }}
{{- end }}
{{- if ne (include "reporter.packs" .) "kaito" }}
- --packs={{ include "reporter.packs" . }}
{{- end }}
{{- if include "reporter.overlay" . }}
- --catalogue-overlay=/etc/status-reporter/overlay.yaml
{{- end }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}

{{- define "reporter.store" -}}
{{- default "none" (default dict .Values.store).backend -}}
{{- end -}}

{{/* The resource that store.backend writes, as its CRD is named. */}}
{{- define "reporter.storeResource" -}}
{{- if eq (include "reporter.store" .) "nvsentinel" -}}
{{- include "reporter.flag" (dict "root" . "name" "store-resource" "default" "healtheventresources.healthevents.dgxc.nvidia.com") -}}
{{- else -}}
healthevents.reporter.productionstack.kaito.sh
{{- end -}}
{{- end -}}
