{{/* The values that were given and that the chart does not have, separated by spaces. */}}
{{- define "reporter.unknownValues" -}}
{{- $top := list "affinity" "catalogueOverlay" "controlPlane" "crds" "emission" "enabled" "extraAnnotations" "extraArgs" "extraLabels" "global" "heartbeatSeconds" "hub" "image" "leaderElection" "logFormat" "namespaceOverride" "networkPolicy" "nodeSelector" "podAnnotations" "podAntiAffinity" "podDisruptionBudget" "podLabels" "podMonitor" "priorityClassName" "prometheusRule" "replicas" "resources" "resyncSeconds" "rollupMetrics" "scrape" "secondLook" "serviceMonitor" "settleSeconds" "sources" "startupGraceSeconds" "statusBindAddress" "statusObjects" "store" "tolerations" "topologySpreadConstraints" -}}
{{- $controlPlane := list "azureAuthz" "bbrDeployment" "bbrNamespace" "gatewayAuthDeployment" "gatewayAuthNamespace" "istioNamespace" "istiodDeployment" "kaitoDeployment" "kaitoNamespace" "kedaNamespace" "kedaScalerDeployment" "kedaScalerNamespace" "nodeProvisioner" "weightDownload" -}}
{{- $unknown := list -}}
{{- range $key := keys .Values | sortAlpha -}}
{{- if not (or (has $key $top) (hasPrefix "x-" $key)) -}}
{{- $unknown = append $unknown $key -}}
{{- end -}}
{{- end -}}
{{- range $key := keys .Values.controlPlane | sortAlpha -}}
{{- if not (has $key $controlPlane) -}}
{{- $unknown = append $unknown (printf "controlPlane.%s" $key) -}}
{{- end -}}
{{- end -}}
{{- join " " $unknown -}}
{{- end -}}

{{/* One line for each value that is taken and may not be what was meant. The process logs them too. */}}
{{- define "reporter.warnings" -}}
{{- $there := .Values.controlPlane -}}
{{- with include "reporter.unknownValues" . }}
{{- range splitList " " . }}
- {{ . }} is not a value of this chart and has no effect.
{{- end }}
{{- end }}
{{- range $pair := list (list "istioNamespace" "istiodDeployment") (list "kaitoNamespace" "kaitoDeployment") (list "bbrNamespace" "bbrDeployment") (list "gatewayAuthNamespace" "gatewayAuthDeployment") (list "kedaScalerNamespace" "kedaScalerDeployment") (list "kedaNamespace") }}
{{- $empty := list }}
{{- range $name := $pair }}
{{- if not (get $there $name) }}
{{- $empty = append $empty (printf "controlPlane.%s" $name) }}
{{- end }}
{{- end }}
{{- $azure := and (has "gatewayAuthDeployment" $pair) $there.azureAuthz $there.azureAuthz.name }}
{{- if and $empty (not $azure) }}
- {{ join " and " $empty }} {{ len $empty | eq 1 | ternary "is" "are" }} empty: that component is not checked.
{{- end }}
{{- end }}
{{- if not $there.weightDownload.minMBps }}
- controlPlane.weightDownload.minMBps is 0: weight downloads are not checked.
{{- end }}
{{- with include "reporter.statusPort" . }}
- statusBindAddress opens /status, without authentication, at port {{ . }} of the pods.
{{- end }}
{{- end -}}
