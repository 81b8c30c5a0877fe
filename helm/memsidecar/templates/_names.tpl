{{- define "memsidecar.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* Truncated, to leave room for the longest suffix. */}}
{{- define "memsidecar.fullname" -}}
{{- $name := include "memsidecar.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- default $full .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "memsidecar.selector" -}}
app.kubernetes.io/name: {{ include "memsidecar.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "memsidecar.labels" -}}
{{ include "memsidecar.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "memsidecar.image" -}}
{{- with .Values.image -}}
{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ default $.Chart.AppVersion .tag }}{{ end }}
{{- end }}
{{- end }}

{{- define "memsidecar.storage" -}}
{{- default (ternary "pvc" "emptyDir" (eq .Values.mode "service")) .Values.storage.kind }}
{{- end }}

{{/* Listen address of the server. */}}
{{- define "memsidecar.listen" -}}
{{- if eq .Values.mode "service" -}}
{{ .Values.listen.wideHost }}:{{ .Values.listen.port }}
{{- else if eq .Values.listen.kind "socket" -}}
unix:/run/memsidecar/memsidecar.sock
{{- else -}}
127.0.0.1:{{ .Values.listen.port }}
{{- end }}
{{- end }}

{{/* Address for agents. */}}
{{- define "memsidecar.address" -}}
{{- if eq .Values.mode "service" -}}
{{ include "memsidecar.fullname" . }}.{{ .Release.Namespace }}.svc:{{ .Values.listen.port }}
{{- else -}}
{{ include "memsidecar.listen" . }}
{{- end }}
{{- end }}

{{/* Volumes of a storage class and sockets need their group; every container of the pod can use an emptyDir. */}}
{{- define "memsidecar.needsGroup" -}}
{{- if or (ne (include "memsidecar.storage" .) "emptyDir") (eq .Values.listen.kind "socket") }}true{{ end }}
{{- end }}
