{{/* Items of env for a container that uses the memory. */}}
{{- define "memsidecar.agentEnv" -}}
- name: MEMSIDECAR_ADDRESS
  value: {{ include "memsidecar.address" . | quote }}
{{- if .Values.agent.tokenSecretName }}
- name: MEMSIDECAR_TOKEN_FILE
  value: /var/run/secrets/memsidecar/token
{{- end }}
{{- end }}

{{/* Items of volumeMounts for a container that uses the memory; none on loopback without a token. */}}
{{- define "memsidecar.agentMounts" -}}
{{- if eq .Values.listen.kind "socket" }}
- name: memsidecar-run
  mountPath: /run/memsidecar
  # Read-only: connecting needs no write access, and an agent with it could replace the socket.
  readOnly: true
{{- end }}
{{- if .Values.agent.tokenSecretName }}
- name: memsidecar-token
  mountPath: /var/run/secrets/memsidecar
  readOnly: true
{{- end }}
{{- end }}
