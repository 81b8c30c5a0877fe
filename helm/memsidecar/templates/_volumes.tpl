{{/* Mounts of Secrets: whole directories, because a file mounted by subPath is never updated. */}}
{{- define "memsidecar.secrets" -}}
{{- $secrets := list
  (dict "volume" "memsidecar-tls" "secret" .Values.tls.secretName "path" "/etc/memsidecar/tls")
  (dict "volume" "memsidecar-client-ca" "secret" .Values.tls.clientCaSecretName "path" "/etc/memsidecar/client-ca")
  (dict "volume" "memsidecar-access" "secret" .Values.access.secretName "path" "/etc/memsidecar/access")
  (dict "volume" "memsidecar-keys" "secret" .Values.keys.secretName "path" "/etc/memsidecar/keys") }}
{{- range $secrets }}
{{- if .secret }}
- {{ toJson . }}
{{- end }}
{{- end }}
{{- end }}

{{/* Items of a pod's volumes. A claim without a name comes from the StatefulSet's volumeClaimTemplates. */}}
{{- define "memsidecar.volumes" -}}
{{- $storage := include "memsidecar.storage" . }}
{{- if eq $storage "emptyDir" }}
- name: memsidecar-data
  emptyDir:
    {{- if .Values.storage.sizeLimit }}
    sizeLimit: {{ .Values.storage.sizeLimit }}
    {{- else }} {}
    {{- end }}
{{- else if eq $storage "ephemeral" }}
- name: memsidecar-data
  ephemeral:
    volumeClaimTemplate:
      spec:
        {{- include "memsidecar.claimSpec" . | nindent 8 }}
{{- else if .Values.storage.existingClaim }}
- name: memsidecar-data
  persistentVolumeClaim:
    claimName: {{ .Values.storage.existingClaim }}
{{- end }}
- name: memsidecar-tmp
  emptyDir: {}
{{- if eq .Values.listen.kind "socket" }}
- name: memsidecar-run
  emptyDir:
    medium: Memory
    # Contains a socket and its lock, both empty. Its content counts as memory of the pod.
    sizeLimit: 1Mi
{{- end }}
{{- range include "memsidecar.secrets" . | fromYamlArray }}
- name: {{ .volume }}
  secret:
    secretName: {{ .secret }}
    # In a pod without fsGroup the files belong to root; only this container mounts them.
    defaultMode: 0444
{{- end }}
{{- if and .Values.agent.tokenSecretName (ne .Values.mode "service") }}
- name: memsidecar-token
  secret:
    secretName: {{ .Values.agent.tokenSecretName }}
    defaultMode: 0444
{{- end }}
{{- end }}

{{- define "memsidecar.claimSpec" -}}
accessModes: [{{ .Values.storage.accessMode }}]
{{- with .Values.storage.storageClassName }}
storageClassName: {{ . }}
{{- end }}
resources:
  requests:
    storage: {{ .Values.storage.size }}
{{- end }}

{{/* Items of a StatefulSet's volumeClaimTemplates; none unless storage.kind is pvc without an existing claim. */}}
{{- define "memsidecar.claims" -}}
{{- if and (eq (include "memsidecar.storage" .) "pvc") (not .Values.storage.existingClaim) }}
- metadata:
    name: memsidecar-data
  spec:
    {{- include "memsidecar.claimSpec" . | nindent 4 }}
{{- end }}
{{- end }}
