{{/* Checks that the schema cannot express: combinations of values that would not run, or would run unsafely. */}}
{{- define "memsidecar.refuse" -}}
{{- $mode := .Values.mode }}
{{- $version := .Capabilities.KubeVersion.Version }}
{{- if and (eq $mode "sidecar") (semverCompare "<1.29.0-0" $version) }}
{{- fail (printf "memsidecar: mode sidecar needs Kubernetes 1.29 or later, for native sidecars; this is %s. Mode service runs here." $version) }}
{{- end }}
{{- if and (eq $mode "injection") (semverCompare "<1.36.0-0" $version) }}
{{- fail (printf "memsidecar: mode injection needs Kubernetes 1.36 or later, for MutatingAdmissionPolicy; this is %s. Include the sidecar with mode sidecar instead." $version) }}
{{- end }}
{{- if and (eq $mode "service") (not .Values.access.insecure) }}
{{- if not (and .Values.tls.secretName .Values.access.secretName) }}
{{- fail "memsidecar: mode service is reached over the network, so it needs tls.secretName and access.secretName (see the chart's README for both). access.insecure=true disables this check; every client that reaches the port can then read all memory." }}
{{- end }}
{{- end }}
{{- if and (eq $mode "service") (eq .Values.listen.kind "socket") }}
{{- fail "memsidecar: listen.kind=socket reaches no other pod, so mode service cannot use it." }}
{{- end }}
{{- if and (ne .Values.listen.kind "socket") (eq (int .Values.listen.port) (int .Values.listen.healthPort)) }}
{{- fail (printf "memsidecar: listen.port and listen.healthPort are both %d, and two listeners cannot share a port." (int .Values.listen.port)) }}
{{- end }}
{{- if and (ne $mode "service") (or .Values.tls.secretName .Values.tls.clientCaSecretName) }}
{{- fail (printf "memsidecar: tls.* is for mode service. In mode %s no traffic leaves the pod; to require a token, set access.secretName and agent.tokenSecretName." $mode) }}
{{- end }}
{{- if and .Values.tls.clientCaSecretName (not .Values.tls.secretName) }}
{{- fail "memsidecar: tls.clientCaSecretName needs tls.secretName: callers show certificates over TLS only." }}
{{- end }}
{{- if and (eq $mode "injection") (eq (include "memsidecar.storage" .) "pvc") }}
{{- fail "memsidecar: storage.kind=pvc is one claim, and mode injection serves many pods. Use ephemeral or emptyDir, or mode sidecar with a claim for each agent." }}
{{- end }}
{{- if .Values.serviceMonitor.enabled }}
{{- if ne $mode "service" }}
{{- fail (printf "memsidecar: serviceMonitor.enabled is for mode service. In mode %s the HTTP listener is on loopback: a collector in the pod reads http://127.0.0.1:7680/metrics." $mode) }}
{{- end }}
{{- if hasKey .Values.settings "http_listen" }}
{{- fail "memsidecar: with serviceMonitor.enabled settings.http_listen is the chart's own; see listen.httpPort." }}
{{- end }}
{{- if eq (.Values.settings.metrics | default "on") "off" }}
{{- fail "memsidecar: serviceMonitor.enabled with settings.metrics=off would scrape nothing." }}
{{- end }}
{{- if or (eq (int .Values.listen.httpPort) (int .Values.listen.port)) (eq (int .Values.listen.httpPort) (int .Values.listen.healthPort)) }}
{{- fail (printf "memsidecar: listen.httpPort is %d, the port of another listener." (int .Values.listen.httpPort)) }}
{{- end }}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.metricsFrom) }}
{{- fail "memsidecar: networkPolicy.metricsFrom is empty, which Kubernetes treats as all peers. Name the scrapers." }}
{{- end }}
{{- end }}
{{- range $name := list "listen" "health_listen" "data_dir" "tls_certificate_file" "tls_key_file" "tls_client_ca_file" "access_file" "insecure_listen" }}
{{- if hasKey $.Values.settings $name }}
{{- fail (printf "memsidecar: settings.%s is the chart's own; see listen.*, storage.*, tls.* and access.*." $name) }}
{{- end }}
{{- end }}
{{- /* The schema sees an empty list, but not a null: Helm removes the key before. */}}
{{- if and (eq $mode "service") .Values.networkPolicy.enabled (not .Values.networkPolicy.from) }}
{{- fail "memsidecar: networkPolicy.from is empty, which Kubernetes treats as all peers. Name the permitted callers, or disable the policy with networkPolicy.enabled=false." }}
{{- end }}
{{- if and (eq $mode "service") .Values.networkPolicy.enabled (not .Values.networkPolicy.egress) (or .Values.settings.model_url .Values.settings.embedder_url) }}
{{- fail "memsidecar: settings name a model or an embedder, and networkPolicy.egress lets nothing out. Add a rule for it, and one for DNS." }}
{{- end }}
{{- end }}
