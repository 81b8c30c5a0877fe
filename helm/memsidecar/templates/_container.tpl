{{/* The container, the same in all modes. */}}
{{- define "memsidecar.container" -}}
{{- include "memsidecar.refuse" . -}}
name: memsidecar
image: {{ include "memsidecar.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
args: [serve]
env:
  - name: MEMSIDECAR_LISTEN
    value: {{ include "memsidecar.listen" . | quote }}
  - name: MEMSIDECAR_HEALTH_LISTEN
    value: {{ printf "%s:%v" .Values.listen.wideHost .Values.listen.healthPort | quote }}
  - name: MEMSIDECAR_DATA_DIR
    value: /data
  {{- if .Values.serviceMonitor.enabled }}
  - name: MEMSIDECAR_HTTP_LISTEN
    value: {{ printf "%s:%v" .Values.listen.wideHost .Values.listen.httpPort | quote }}
  {{- end }}
  {{- if .Values.tls.secretName }}
  - name: MEMSIDECAR_TLS_CERTIFICATE_FILE
    value: /etc/memsidecar/tls/tls.crt
  - name: MEMSIDECAR_TLS_KEY_FILE
    value: /etc/memsidecar/tls/tls.key
  {{- end }}
  {{- if .Values.tls.clientCaSecretName }}
  - name: MEMSIDECAR_TLS_CLIENT_CA_FILE
    value: /etc/memsidecar/client-ca/ca.crt
  {{- end }}
  {{- if .Values.access.secretName }}
  - name: MEMSIDECAR_ACCESS_FILE
    value: /etc/memsidecar/access/access.toml
  {{- end }}
  {{- if and (eq .Values.mode "service") .Values.access.insecure }}
  - name: MEMSIDECAR_INSECURE_LISTEN
    value: allow
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - name: MEMSIDECAR_{{ upper $name }}
    value: {{ ternary $value (toJson $value) (kindIs "string" $value) | toJson }}
  {{- end }}
ports:
  {{- if eq .Values.mode "service" }}
  - name: memory
    containerPort: {{ .Values.listen.port }}
  {{- end }}
  - name: memory-health
    containerPort: {{ .Values.listen.healthPort }}
  {{- if .Values.serviceMonitor.enabled }}
  - name: memory-http
    containerPort: {{ .Values.listen.httpPort }}
  {{- end }}
# Agents start when the sidecar is ready. Two minutes, because recovery first reads a journal that was not closed.
startupProbe:
  grpc:
    port: {{ .Values.listen.healthPort }}
    service: memsidecar.v1.MemoryService
  periodSeconds: 1
  timeoutSeconds: 3
  failureThreshold: 120
# Tolerant, because a busy machine is no reason for a restart.
livenessProbe:
  grpc:
    port: {{ .Values.listen.healthPort }}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  grpc:
    port: {{ .Values.listen.healthPort }}
    service: memsidecar.v1.MemoryService
  periodSeconds: 5
  timeoutSeconds: 3
  failureThreshold: 3
resources:
  {{- toYaml .Values.resources | nindent 2 }}
securityContext:
  {{- include "memsidecar.restricted" . | nindent 2 }}
terminationMessagePolicy: FallbackToLogsOnError
volumeMounts:
  - name: memsidecar-data
    mountPath: /data
  # SQLite writes temporary files here; the root file system is read-only. Those of LanceDB, which are large, are in
  # index.tmp of the data directory, where each start deletes what a killed process left. TMPDIR would change that.
  - name: memsidecar-tmp
    mountPath: /tmp
  {{- if eq .Values.listen.kind "socket" }}
  - name: memsidecar-run
    mountPath: /run/memsidecar
  {{- end }}
  {{- range include "memsidecar.secrets" . | fromYamlArray }}
  - name: {{ .volume }}
    mountPath: {{ .path }}
    readOnly: true
  {{- end }}
{{- end }}

{{/* Pod security standard "restricted", and a read-only root file system. */}}
{{- define "memsidecar.restricted" -}}
runAsNonRoot: true
{{- with .Values.user }}
runAsUser: {{ . }}
runAsGroup: {{ . }}
{{- end }}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{/* Item of a pod's initContainers: starts before all that follow it, stops after them. */}}
{{- define "memsidecar.sidecar" -}}
- {{ include "memsidecar.container" . | nindent 2 | trim }}
  restartPolicy: Always
{{- end }}

{{/* Security context of the pods that this chart creates. */}}
{{- define "memsidecar.podSecurity" -}}
runAsNonRoot: true
{{- with .Values.user }}
runAsUser: {{ . }}
runAsGroup: {{ . }}
# A new volume belongs to root; this group may write to it. OnRootMismatch: changing all files at each start is slow.
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
{{- end }}
seccompProfile:
  type: RuntimeDefault
{{- end }}
