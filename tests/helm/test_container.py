"""All modes run the same container, with a restricted security context."""

from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import yaml

from memsidecar.settings import documentation, load_settings
from tests.helm.cel import literal
from tests.helm.rendering import CHART, VALUES, Helm, Manifest, of_kind, pods

CI = CHART / "ci"
MAY_DIFFER = {"restartPolicy", "env", "ports", "volumeMounts"}
ALLOWED_VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected"}


def injected(manifests: list[Manifest], variable: str) -> Any:
    policy = of_kind("MutatingAdmissionPolicy", manifests)[0]
    expressions = {one["name"]: one["expression"] for one in policy["spec"]["variables"]}
    return literal(expressions[variable])


def containers(manifests: list[Manifest]) -> list[Manifest]:
    """Return the containers of memsidecar in the manifests, including those of the policy."""
    of_pods = [one for pod in pods(manifests) for one in pod.get("initContainers", []) + pod["containers"]]
    of_policies = [injected(manifests, "sidecar")] if of_kind("MutatingAdmissionPolicy", manifests) else []
    return [one for one in of_pods + of_policies if one["name"] == "memsidecar"]


def container(either_helm: Helm, name: str) -> Manifest:
    (only,) = containers(either_helm.render(CI / f"{name}-values.yaml"))
    return only


def env(one: Manifest) -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in one["env"]}


def mounts(one: Manifest) -> dict[str, str]:
    return {mount["mountPath"]: mount["name"] for mount in one["volumeMounts"]}


def test_three_modes_run_one_container(either_helm: Helm) -> None:
    sidecar, injection, service = (container(either_helm, name) for name in ("sidecar", "injection", "service"))
    assert sidecar == injection
    assert sidecar.keys() - service.keys() == {"restartPolicy"}
    assert {name for name in service if service[name] != sidecar[name]} <= MAY_DIFFER
    assert env(service) == {
        **env(sidecar),
        "MEMSIDECAR_LISTEN": "0.0.0.0:7600",
        "MEMSIDECAR_TLS_CERTIFICATE_FILE": "/etc/memsidecar/tls/tls.crt",
        "MEMSIDECAR_TLS_KEY_FILE": "/etc/memsidecar/tls/tls.key",
        "MEMSIDECAR_ACCESS_FILE": "/etc/memsidecar/access/access.toml",
    }
    secrets = {"/etc/memsidecar/tls": "memsidecar-tls", "/etc/memsidecar/access": "memsidecar-access"}
    assert mounts(service) == mounts(sidecar) | secrets


def test_the_agent_starts_after_the_sidecar_and_reaches_only_its_own(either_helm: Helm) -> None:
    sidecar = container(either_helm, "sidecar")
    assert sidecar["restartPolicy"] == "Always"
    assert sidecar["startupProbe"]["grpc"] == {"port": 7601, "service": "memsidecar.v1.MemoryService"}
    assert env(sidecar)["MEMSIDECAR_LISTEN"] == "127.0.0.1:7600"
    (pod,) = pods(either_helm.render(CI / "sidecar-values.yaml"))
    assert env(pod["containers"][0]) == {"MEMSIDECAR_ADDRESS": "127.0.0.1:7600"}


def test_the_agent_mounts_the_socket_and_its_token(either_helm: Helm) -> None:
    (pod,) = pods(either_helm.render(CI / "sidecar-socket-values.yaml"))
    agent = pod["containers"][0]
    assert env(agent) == {
        "MEMSIDECAR_ADDRESS": "unix:/run/memsidecar/memsidecar.sock",
        "MEMSIDECAR_TOKEN_FILE": "/var/run/secrets/memsidecar/token",
    }
    assert mounts(agent) == {"/run/memsidecar": "memsidecar-run", "/var/run/secrets/memsidecar": "memsidecar-token"}
    assert env(agent)["MEMSIDECAR_ADDRESS"] == env(pod["initContainers"][0])["MEMSIDECAR_LISTEN"]


def test_the_agent_can_write_neither_the_socket_nor_its_token(either_helm: Helm) -> None:
    (pod,) = pods(either_helm.render(CI / "sidecar-socket-values.yaml"))
    manifests = either_helm.render(CI / "injection-socket-token-values.yaml")
    for mounted in (pod["containers"][0]["volumeMounts"], injected(manifests, "mounts")):
        assert [(one["mountPath"], one["readOnly"]) for one in mounted] == [
            ("/run/memsidecar", True),
            ("/var/run/secrets/memsidecar", True),
        ]
    for volumes in (pod["volumes"], injected(manifests, "volumes")):
        (run,) = (volume["emptyDir"] for volume in volumes if volume["name"] == "memsidecar-run")
        assert run == {"medium": "Memory", "sizeLimit": "1Mi"}
    for server in (pod["initContainers"][0], injected(manifests, "sidecar")):
        (own,) = (mount for mount in server["volumeMounts"] if mount["name"] == "memsidecar-run")
        assert "readOnly" not in own


def test_the_policy_keeps_text_unchanged(either_helm: Helm) -> None:
    odd = 'a "b" \\ \n {{ c }} $(d) <e> ü \U0001f9e0 {"f": dyn(1,)}'
    settings = {"model_name": odd, "quota_messages": 100_000_000, "auto_prune_target": 0.5, "index": "off"}
    found = env(injected(either_helm.render({"mode": "injection", "settings": settings}), "sidecar"))
    assert found["MEMSIDECAR_MODEL_NAME"] == odd
    assert found["MEMSIDECAR_QUOTA_MESSAGES"] == "100000000"
    assert found["MEMSIDECAR_AUTO_PRUNE_TARGET"] == "0.5"
    assert found["MEMSIDECAR_INDEX"] == "off"


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_the_server_accepts_every_variable_and_its_value(either_helm: Helm, values: Path) -> None:
    (only,) = containers(either_helm.render(values))
    known = documentation()
    assert [name for name in env(only) if f"| `{name}` |" not in known] == []
    assert load_settings({}, env(only)).data_dir == Path("/data")


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_every_mount_has_its_volume_and_every_volume_is_mounted(either_helm: Helm, values: Path) -> None:
    manifests = either_helm.render(values)
    for pod in pods(manifests):
        mounted = {m["name"] for one in all_containers(pod) for m in one.get("volumeMounts") or []}
        assert mounted == {volume["name"] for volume in pod.get("volumes", [])} | claims(manifests, pod)
    if of_kind("MutatingAdmissionPolicy", manifests):
        there = {volume["name"] for volume in injected(manifests, "volumes")}
        assert set(mounts(injected(manifests, "sidecar")).values()) == there - {"memsidecar-token"}


def claims(manifests: list[Manifest], pod: Manifest) -> set[str]:
    return {
        claim["metadata"]["name"]
        for one in of_kind("StatefulSet", manifests)
        if one["spec"]["template"]["spec"] == pod
        for claim in one["spec"].get("volumeClaimTemplates") or []
    }


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_temporary_files_have_a_writable_folder(either_helm: Helm, values: Path) -> None:
    for one in containers(either_helm.render(values)):
        writable = {mount["mountPath"] for mount in one["volumeMounts"] if not mount.get("readOnly")}
        assert {env(one)["MEMSIDECAR_DATA_DIR"], env(one).get("TMPDIR", "/tmp")} <= writable


# -- Pod security standard "restricted", rule by rule


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_every_container_is_restricted(either_helm: Helm, values: Path) -> None:
    manifests = either_helm.render(values)
    for one in containers(manifests):
        assert_contained(one["securityContext"])
        assert one["securityContext"]["readOnlyRootFilesystem"] is True
    for pod in pods(manifests):
        assert not pod.keys() & {"hostNetwork", "hostPID", "hostIPC"}
        assert all((volume.keys() - {"name"}) <= ALLOWED_VOLUMES | {"secret"} for volume in pod.get("volumes", []))
        for one in all_containers(pod):
            assert_contained(pod["securityContext"] | one["securityContext"])
            assert all("hostPort" not in port for port in one.get("ports", []))


def assert_contained(security: Manifest) -> None:
    assert security["runAsNonRoot"] is True
    assert security["runAsUser"] != 0
    assert security["allowPrivilegeEscalation"] is False
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert security["seccompProfile"] == {"type": "RuntimeDefault"}


def all_containers(pod: Manifest) -> list[Manifest]:
    both: list[Manifest] = pod.get("initContainers", []) + pod["containers"]
    return both


@pytest.mark.parametrize("name", ["service", "injection"])
def test_pods_of_the_chart_get_no_token_of_the_api_server_and_no_variables_of_others(
    either_helm: Helm, name: str
) -> None:
    for pod in pods(either_helm.render(CI / f"{name}-values.yaml")):
        assert pod["automountServiceAccountToken"] is False
        assert pod["enableServiceLinks"] is False


def test_a_platform_may_choose_the_user(either_helm: Helm) -> None:
    (only,) = containers(either_helm.render({"mode": "injection", "user": None}))
    assert "runAsUser" not in only["securityContext"]


# -- Storage, and the time to stop


def test_a_service_stores_its_data_in_a_claim(either_helm: Helm) -> None:
    (stateful,) = of_kind("StatefulSet", either_helm.render(CI / "service-values.yaml"))
    assert stateful["spec"]["replicas"] == 1
    assert [claim["metadata"]["name"] for claim in stateful["spec"]["volumeClaimTemplates"]] == ["memsidecar-data"]
    assert stateful["spec"]["template"]["spec"]["securityContext"]["fsGroup"] == 65532


@pytest.mark.parametrize(("drain", "grace"), [(60, 80), (3600, 3620), (0, 20), (0.5, 21), (None, 30)])
def test_a_drain_fits_into_the_time_before_the_pod_is_killed(
    either_helm: Helm, drain: float | None, grace: int
) -> None:
    insecure = {"mode": "service", "access": {"insecure": True}}
    (stateful,) = of_kind("StatefulSet", either_helm.render({**insecure, "settings": {"drain_seconds": drain}}))
    assert stateful["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == grace


def test_a_new_chart_with_the_same_image_leaves_the_pod_alone(either_helm: Helm, tmp_path: Path) -> None:
    newer = copytree(CHART, tmp_path / "memsidecar")
    described = yaml.safe_load((CHART / "Chart.yaml").read_text())
    (newer / "Chart.yaml").write_text(yaml.safe_dump(described | {"version": "99.0.0", "appVersion": "99.0.0"}))
    flags = ["--set", "image.tag=same,podLabels.team=agents", "--values", str(CI / "service-values.yaml")]
    before, after = (rendered_stateful(either_helm, chart, *flags) for chart in (CHART, newer))
    assert before["metadata"]["labels"] != after["metadata"]["labels"]
    assert before["spec"] == after["spec"]
    selected = after["spec"]["selector"]["matchLabels"]
    assert after["spec"]["template"]["metadata"]["labels"] == {**selected, "team": "agents"}


def rendered_stateful(either_helm: Helm, chart: Path, *flags: str) -> Manifest:
    done = either_helm("template", "memory", str(chart), "--kube-version", "1.37.0", *flags)
    assert done.returncode == 0, done.stderr
    (only,) = of_kind("StatefulSet", [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest])
    return only


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_secrets_are_mounted_whole_so_that_a_rotation_is_seen(either_helm: Helm, values: Path) -> None:
    for one in containers(either_helm.render(values)):
        assert all("subPath" not in mount for mount in one["volumeMounts"])
