{{/* The values below controlPlane that were given and that the chart does not have, separated by spaces. */}}
{{- define "reporter.unknownValues" -}}
{{- $controlPlane := list "azureAuthz" "bbrDeployment" "bbrNamespace" "gatewayAuthDeployment" "gatewayAuthNamespace" "istioNamespace" "istiodDeployment" "kaitoDeployment" "kaitoNamespace" "kedaNamespace" "kedaScalerDeployment" "kedaScalerNamespace" "nodeProvisioner" "weightDownload" -}}
{{- $unknown := list -}}
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
{{- if include "reporter.runs" . }}
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
{{- with and (eq (default "none" .Values.statusAuthorization) "none") (include "reporter.statusPort" .) }}
- statusBindAddress opens /status, without authentication, at port {{ . }} of the pods.
{{- end }}
{{- $monitor := default dict .Values.serviceMonitor }}
{{- if and $monitor.enabled $monitor.rollupOnly (default dict .Values.prometheusRule).enabled }}
- serviceMonitor.rollupOnly leaves out series that the alerts of prometheusRule need, so
  ProductionStackStatusReporterSilent fires unless something else scrapes them.
{{- end }}
{{- if not (include "reporter.createsEventsRole" .) }}
{{- if .Values.mirrorEvents }}
- rbac.eventsRole is false: the permissions of mirrorEvents suffice to write Events in kube-system, but not
  to list them, so what lasts is announced again after a restart. Whoever may do so adds the Role with:
{{- else }}
- rbac.eventsRole is false: no Event is written until the Role in kube-system is there. Metrics, alerts,
  /status and the log show what would be announced. Whoever may do so creates it with:
{{- end }}
    kubectl create role {{ include "reporter.name" . }}-events -n kube-system --verb=create,get,list,patch --resource=events
    kubectl create rolebinding {{ include "reporter.name" . }}-events -n kube-system --role={{ include "reporter.name" . }}-events --serviceaccount={{ include "reporter.namespace" . }}:{{ include "reporter.serviceAccount" . }}
{{- end }}
{{- end }}
{{- end -}}

{{/* The commands that remove what helm does not: objects that the process or users have created. */}}
{{- define "reporter.leftovers" -}}
{{- if and (include "reporter.runs" .) (empty .Values.silences) }}
  kubectl delete configmap -n {{ include "reporter.namespace" . }} {{ include "reporter.silences" . }} --ignore-not-found
{{- end }}
{{- if ne (include "reporter.store" .) "none" }}
  kubectl delete {{ include "reporter.storeResource" . }} -n {{ .Release.Namespace }} -l app.kubernetes.io/managed-by={{ include "reporter.program" . }}
{{- end }}
{{- if (default dict .Values.statusObjects).enabled }}
  kubectl delete productionstackstatuses.reporter.productionstack.kaito.sh --all --all-namespaces
{{- end }}
{{- end -}}
