{{/* The items of env in a container that uses the memory. */}}
{{- define "memsidecar.agentEnv" -}}
- name: MEMSIDECAR_ADDRESS
  value: {{ include "memsidecar.address" . | quote }}
{{- if .Values.agent.tokenSecretName }}
- name: MEMSIDECAR_TOKEN_FILE
  value: /var/run/secrets/memsidecar/token
{{- end }}
{{- end }}

{{/* The items of volumeMounts in a container that uses the memory; nothing on loopback without a token. */}}
{{- define "memsidecar.agentMounts" -}}
{{- if eq .Values.listen.kind "socket" }}
- name: memsidecar-run
  mountPath: /run/memsidecar
  # Connecting writes nothing there; an agent that could might put a socket of its own in this one's place.
  readOnly: true
{{- end }}
{{- if .Values.agent.tokenSecretName }}
- name: memsidecar-token
  mountPath: /var/run/secrets/memsidecar
  readOnly: true
{{- end }}
{{- end }}
