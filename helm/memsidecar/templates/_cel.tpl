{{/*
Any value as a literal of CEL. Each item is dyn(), because CEL takes lists and maps of one type only. A string of JSON
is one of CEL: both know \" \\ \n \uXXXX, and JSON writes no other escapes.
*/}}
{{- define "memsidecar.cel" -}}
{{- if kindIs "map" . -}}
{
{{- range $key, $value := . }}
{{ printf "%s: dyn(%s)," (toJson $key) (include "memsidecar.cel" $value) | indent 2 }}
{{- end }}
}
{{- else if kindIs "slice" . -}}
[
{{- range . }}
{{ printf "dyn(%s)," (include "memsidecar.cel" .) | indent 2 }}
{{- end }}
]
{{- else -}}
{{ toJson . }}
{{- end }}
{{- end }}
