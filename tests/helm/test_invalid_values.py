"""Invalid or unsafe values are rejected before the installation, with a message."""

import pytest

from tests.helm.rendering import CHART, Helm, Manifest, of_kind

SECURE: Manifest = {"mode": "service", "tls": {"secretName": "tls"}, "access": {"secretName": "access"}}


def test_installed_alone_the_chart_needs_a_mode(either_helm: Helm) -> None:
    done = either_helm("template", "memory", str(CHART), "--kube-version", "1.37.0")
    assert done.returncode != 0 and "set mode=injection or mode=service" in done.stderr


@pytest.mark.parametrize(
    ("values", "kubernetes", "words"),
    [
        ({"mode": "sidecar"}, "1.28.9", "needs Kubernetes 1.29 or later, for native sidecars; this is v1.28.9"),
        ({"mode": "injection"}, "1.35.4", "needs Kubernetes 1.36 or later, for MutatingAdmissionPolicy"),
        (SECURE, "1.26.0", ">=1.27.0-0"),
    ],
)
def test_a_cluster_too_old_for_the_mode_is_rejected(
    either_helm: Helm, values: Manifest, kubernetes: str, words: str
) -> None:
    assert words in either_helm.refusal(values, kubernetes)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mode": "service"}, "needs tls.secretName and access.secretName"),
        ({"mode": "service", "tls": {"secretName": "tls"}}, "needs tls.secretName and access.secretName"),
        (SECURE | {"listen": {"kind": "socket"}}, "listen.kind=socket reaches no other pod"),
        (SECURE | {"listen": {"healthPort": 7600}}, "listen.port and listen.healthPort are both 7600"),
        ({"mode": "injection", "listen": {"port": 7601}}, "listen.port and listen.healthPort are both 7601"),
        ({"mode": "sidecar", "listen": {"port": 9, "healthPort": 9}}, "two listeners cannot share a port"),
        ({"mode": "injection", "tls": {"secretName": "tls"}}, "tls.* is for mode service"),
        ({"mode": "sidecar", "tls": {"secretName": "tls"}}, "tls.* is for mode service"),
        (
            {"mode": "service", "access": {"insecure": True}, "tls": {"clientCaSecretName": "ca"}},
            "needs tls.secretName: callers show certificates over TLS only",
        ),
        ({"mode": "injection", "storage": {"kind": "pvc"}}, "one claim, and mode injection serves many pods"),
        ({"mode": "injection", "settings": {"listen": "0.0.0.0:7600"}}, "settings.listen is the chart's own"),
        (
            SECURE | {"networkPolicy": {"from": None}},
            "networkPolicy.from is empty, which Kubernetes treats as all peers",
        ),
        (SECURE | {"settings": {"model_url": "http://ollama:11434/v1"}}, "networkPolicy.egress lets nothing out"),
    ],
)
def test_inconsistent_values_are_rejected(either_helm: Helm, values: Manifest, words: str) -> None:
    assert words in either_helm.refusal(values)


def test_ports_given_as_flags_are_compared_with_those_of_the_file(either_helm: Helm) -> None:
    flags = ["--set", "mode=injection,listen.healthPort=7600"]
    done = either_helm("template", "memory", str(CHART), "--kube-version", "1.37.0", *flags)
    assert done.returncode != 0 and "are both 7600" in done.stderr


def test_a_socket_has_no_port_to_share(either_helm: Helm) -> None:
    assert either_helm.render({"mode": "injection", "listen": {"kind": "socket", "healthPort": 7600}})


def test_without_a_policy_no_callers_are_needed(either_helm: Helm) -> None:
    manifests = either_helm.render(SECURE | {"networkPolicy": {"enabled": False, "from": None}})
    assert of_kind("NetworkPolicy", manifests) == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mode": "sidecars"}, ["mode", "'sidecar', 'injection', 'service'"]),
        (SECURE | {"replicas": 3}, ["additional properties 'replicas' not allowed"]),
        (SECURE | {"settings": {"quota_byte": 1}}, ["settings", "additional properties 'quota_byte' not allowed"]),
        # `off` without quotes is a boolean in YAML.
        (SECURE | {"settings": {"index": False}}, ["settings/index", "'lancedb', 'volatile', 'off'"]),
        (SECURE | {"settings": {"drain_seconds": "120s"}}, ["settings/drain_seconds", "got string, want number"]),
        (SECURE | {"settings": {"drain_seconds": "120"}}, ["settings/drain_seconds", "got string, want number"]),
        (SECURE | {"storage": {"kind": "hostPath"}}, ["storage/kind", "'emptyDir', 'ephemeral', 'pvc'"]),
        (SECURE | {"storage": {"size": "5 GB"}}, ["storage/size", "does not match pattern"]),
        (SECURE | {"listen": {"port": 70000}}, ["listen/port", "65,535"]),
        (SECURE | {"image": {"digest": "latest"}}, ["image/digest", "does not match pattern"]),
        (SECURE | {"networkPolicy": {"from": []}}, ["networkPolicy/from", "minItems"]),
        (SECURE | {"user": 0}, ["user", "minimum"]),
    ],
)
def test_the_schema_names_the_invalid_value(either_helm: Helm, values: Manifest, words: list[str]) -> None:
    refusal = either_helm.refusal(values)
    assert [word for word in words if word not in refusal] == [], refusal
