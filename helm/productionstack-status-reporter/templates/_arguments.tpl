{{/* The pods whose metrics pages are read. YAML 1.1, which Helm reads, takes off for false. */}}
{{- define "reporter.scrapedPods" -}}
{{- kindIs "bool" .Values.scrape.pods | ternary "off" .Values.scrape.pods -}}
{{- end -}}

{{/* The metrics of the status. YAML 1.1, which Helm reads, takes off for false. */}}
{{- define "reporter.rollupMetrics" -}}
{{- kindIs "bool" .Values.rollupMetrics | ternary "off" (default "cluster" .Values.rollupMetrics) -}}
{{- end -}}

{{/* Whether what follows is suppressed. YAML 1.1, which Helm reads, takes on and off for booleans. */}}
{{- define "reporter.suppression" -}}
{{- $value := default "on" .Values.suppression -}}
{{- if kindIs "bool" .Values.suppression -}}
{{- $value = ternary "on" "off" .Values.suppression -}}
{{- end -}}
{{- $value -}}
{{- end -}}

{{/* The ConfigMap of silences; empty if there is none. */}}
{{- define "reporter.silences" -}}
{{- $silences := default dict .Values.silences -}}
{{- if and $silences.entries $silences.configMap -}}
{{- include "reporter.refuse" (dict "root" $ "why" "silences: entries and configMap are both set; leave one of them out") -}}
{{- end -}}
{{- if $silences.entries -}}
{{- printf "%s-silences" (include "reporter.name" .) -}}
{{- else -}}
{{- default "" $silences.configMap -}}
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
- --leader-election-id={{ .Values.leaderElection.id }}
- --lease-duration-seconds={{ .Values.leaderElection.leaseDurationSeconds | int64 }}
- --renew-deadline-seconds={{ .Values.leaderElection.renewDeadlineSeconds }}
- --retry-period-seconds={{ .Values.leaderElection.retryPeriodSeconds }}
- --resync-seconds={{ .Values.resyncSeconds | int64 }}
- --startup-grace-seconds={{ .Values.startupGraceSeconds | int64 }}
- --settle-seconds={{ .Values.settleSeconds | int64 }}
- --heartbeat-seconds={{ .Values.heartbeatSeconds | int64 }}
- --emission={{ .Values.emission }}
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
- --scrape-interval-seconds={{ .Values.scrape.intervalSeconds | int64 }}
{{- with .Values.store }}
{{- if ne (default "none" .backend) "none" }}
- --store={{ .backend }}
{{- if eq .backend "nvsentinel" }}
- --store-resource={{ .resource }}
{{- end }}
- --store-max={{ .max | int64 }}
- --store-max-per-node={{ .maxPerNode | int64 }}
- --store-retention-seconds={{ .retentionSeconds | int64 }}
{{- end }}
{{- end }}
{{- with .Values.statusObjects }}
{{- if .enabled }}
- --status-objects=true
{{- end }}
{{- with .packageLabel }}
- --package-label={{ . }}
{{- end }}
{{- with .revisionLabel }}
- --revision-label={{ . }}
{{- end }}
{{- end }}
{{- if ne (include "reporter.rollupMetrics" .) "cluster" }}
- --rollup-metrics={{ include "reporter.rollupMetrics" . }}
{{- end }}
{{- if ne (include "reporter.suppression" .) "on" }}
- --suppression={{ include "reporter.suppression" . }}
{{- end }}
{{- if .Values.mirrorEvents }}
- --mirror-events=true
{{- end }}
{{- if include "reporter.silences" . }}
- --silence-file=/etc/status-reporter-silences/silences.yaml
{{- end }}
{{- with .Values.sources }}
- --sources={{ join "," . }}
{{- end }}
{{- if eq (toString .Values.secondLook) "false" }}
- --second-look=false
{{- end }}
{{- if ne (include "reporter.packs" .) "kaito" }}
- --packs={{ include "reporter.packs" . }}
{{- end }}
{{- if include "reporter.overlay" . }}
- --catalogue-overlay=/etc/status-reporter/overlay.yaml
{{- end }}
- --log-format={{ .Values.logFormat }}
{{- range .Values.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end -}}
