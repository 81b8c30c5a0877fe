"""The chart on a real API server: every object is accepted, and the policy injects the container once."""

import copy
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.helm.cluster import Answer, Cluster, wait_until
from tests.helm.rendering import CHART, VALUES, Manifest, helm, pods

CI = CHART / "ci"
INSTALL_SECONDS = 120
FREE, STRICT = "free", "strict"
NAMESPACES = {FREE: {}, STRICT: {"pod-security.kubernetes.io/enforce": "restricted"}}
LABEL = {"memsidecar.dev/inject": "true"}
POLICIES = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
SAFE = {
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as running:
        for name, labels in NAMESPACES.items():
            running.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}}).admitted()
            # A controller makes it elsewhere; pods are refused without.
            account = {"metadata": {"name": "default"}}
            running.create(f"/api/v1/namespaces/{name}/serviceaccounts", account).admitted()
        yield running


@pytest.fixture(params=[3, 4], ids=["helm3", "helm4"])
def release(request: pytest.FixtureRequest, cluster: Cluster, tmp_path: Path) -> Iterator["Release"]:
    made = Release(cluster, helm(request.param, tmp_path).binary)
    yield made
    made.uninstall()


class Release:
    """An installation of the chart in a namespace with the restricted policy."""

    def __init__(self, cluster: Cluster, binary: Path) -> None:
        self.cluster = cluster
        self._command = [str(binary), "--kubeconfig", str(cluster.kubeconfig), "--namespace", STRICT]

    def install(self, values: Path) -> str:
        """Install the chart; return the output of Helm."""
        output = self.run("upgrade", "--install", "memory", str(CHART), "--values", str(values))
        if values.name.startswith("injection"):
            # Policies are in force some moments after they are made.
            wait_until(lambda: names(self.dry(pod()).admitted()) == ["memsidecar"])
        return output

    def dry(self, manifest: Manifest) -> Answer:
        return self.cluster.create(f"/api/v1/namespaces/{FREE}/pods?dryRun=All", manifest)

    def uninstall(self) -> None:
        self.run("uninstall", "memory", "--ignore-not-found")
        wait_until(lambda: names(self.dry(pod()).admitted()) == [])

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [*self._command, *arguments],
            capture_output=True,
            text=True,
            timeout=INSTALL_SECONDS,
            check=False,
            env={**os.environ, "HELM_CACHE_HOME": str(self.cluster.folder)},
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def pod(labels: Manifest = LABEL, **spec: object) -> Manifest:
    containers = [{"name": "agent", "image": "agent:1", "securityContext": SAFE}]
    return {
        "metadata": {"generateName": "agent-", "labels": labels},
        "spec": {"containers": containers, "automountServiceAccountToken": False, **spec},
    }


MIRROR = pod(nodeName="any")
MIRROR["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "of-a-file"}


def names(manifest: Manifest, kind: str = "initContainers") -> list[str]:
    return [one["name"] for one in manifest["spec"].get(kind, [])]


def env(container: Manifest) -> dict[str, str]:
    return {one["name"]: one.get("value", "") for one in container.get("env", [])}


def mounts(container: Manifest) -> list[str]:
    return [one["mountPath"] for one in container.get("volumeMounts", [])]


# -- Installing


@pytest.mark.parametrize("values", [path for path in VALUES if "sidecar" not in path.name], ids=lambda path: path.stem)
def test_every_object_is_accepted_and_installing_again_changes_nothing(release: Release, values: Path) -> None:
    output = release.install(values)
    assert f"helm test memory --namespace {STRICT}" in output and "What was said" in output
    manifests = [one for one in yaml.safe_load_all(release.run("get", "manifest", "memory")) if one]
    before = [version(release.cluster, manifest) for manifest in manifests]
    assert all(before)
    release.install(values)
    assert [version(release.cluster, one) for one in manifests] == before


PLURALS = {
    "MutatingAdmissionPolicy": "mutatingadmissionpolicies",
    "NetworkPolicy": "networkpolicies",
}


def version(cluster: Cluster, manifest: Manifest) -> str:
    group = manifest["apiVersion"]
    prefix = f"/apis/{group}" if "/" in group else f"/api/{group}"
    scope = "" if group.startswith("admissionregistration") else f"/namespaces/{STRICT}"
    plural = PLURALS.get(manifest["kind"], manifest["kind"].lower() + "s")
    metadata = cluster.get(f"{prefix}{scope}/{plural}/{manifest['metadata']['name']}")["metadata"]
    found: str = metadata["resourceVersion"]
    return found


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_a_restricted_namespace_admits_every_pod_of_the_chart(cluster: Cluster, tmp_path: Path, values: Path) -> None:
    for spec in pods(helm(4, tmp_path).render(values)):
        known = {volume["name"] for volume in spec.get("volumes", [])}
        if "memsidecar-data" not in known:
            # Comes from the StatefulSet's claim.
            spec.setdefault("volumes", []).append({"name": "memsidecar-data", "emptyDir": {}})
        spec.pop("serviceAccountName", None)
        spec.pop("priorityClassName", None)
        manifest = {"metadata": {"generateName": "any-"}, "spec": spec}
        cluster.create(f"/api/v1/namespaces/{STRICT}/pods?dryRun=All", manifest).admitted()


def test_the_restricted_namespace_rejects_other_pods(cluster: Cluster) -> None:
    loose = {"metadata": {"generateName": "any-"}, "spec": {"containers": [{"name": "any", "image": "any:1"}]}}
    refused = cluster.create(f"/api/v1/namespaces/{STRICT}/pods?dryRun=All", loose)
    assert refused.status == 403 and "restricted" in refused.body["message"]


# -- Injecting


def test_a_labelled_pod_without_lists_is_injected(release: Release) -> None:
    release.install(CI / "injection-values.yaml")
    made = release.dry(pod()).admitted()
    sidecar = made["spec"]["initContainers"][0]
    assert sidecar["restartPolicy"] == "Always"
    assert sidecar["startupProbe"]["grpc"]["port"] == 7601
    assert names(made, "volumes") == ["memsidecar-data", "memsidecar-tmp"]
    assert env(made["spec"]["containers"][0]) == {"MEMSIDECAR_ADDRESS": "127.0.0.1:7600"}


def test_the_policy_adds_what_the_template_renders(release: Release, tmp_path: Path) -> None:
    release.install(CI / "injection-values.yaml")
    (spec,) = pods(helm(4, tmp_path / "again").render(CI / "sidecar-values.yaml"))
    by_template = release.dry({**pod({}), "spec": {**spec, "automountServiceAccountToken": False}}).admitted()
    by_policy = release.dry(pod()).admitted()
    assert by_policy["spec"]["initContainers"] == by_template["spec"]["initContainers"]
    assert by_policy["spec"]["volumes"] == by_template["spec"]["volumes"]


def test_every_container_of_the_agent_is_extended_and_keeps_its_own_settings(release: Release) -> None:
    release.install(CI / "injection-socket-token-values.yaml")
    containers = [
        {"name": "bare", "image": "a:1"},
        {"name": "rich", "image": "a:1", "env": [{"name": "A", "value": "1"}]},
        {"name": "own", "image": "a:1", "env": [{"name": "MEMSIDECAR_ADDRESS", "value": "elsewhere:1"}]},
        {"name": "mounted", "image": "a:1", "volumeMounts": [{"name": "mine", "mountPath": "/run/memsidecar"}]},
    ]
    volumes = [{"name": "mine", "emptyDir": {}}]
    before = [{"name": "migrate", "image": "m:1"}]
    made = release.dry(pod(containers=containers, volumes=volumes, initContainers=before)).admitted()
    bare, rich, own, mounted = made["spec"]["containers"]
    socket, token = "unix:/run/memsidecar/memsidecar.sock", "/var/run/secrets/memsidecar/token"
    assert env(bare) == {"MEMSIDECAR_ADDRESS": socket, "MEMSIDECAR_TOKEN_FILE": token}
    assert env(rich) == {"A": "1", **env(bare)}
    assert env(own) == {"MEMSIDECAR_ADDRESS": "elsewhere:1", "MEMSIDECAR_TOKEN_FILE": token}
    assert mounts(bare) == ["/run/memsidecar", "/var/run/secrets/memsidecar"]
    assert [mount["name"] for mount in mounted["volumeMounts"]] == ["mine", "memsidecar-token"]
    assert names(made) == ["memsidecar", "migrate"]
    assert made["spec"]["initContainers"][1].get("env") is None
    assert names(made, "volumes")[0] == "mine"


def test_a_volume_that_needs_a_group_gets_one_and_the_group_of_the_pod_stays(release: Release) -> None:
    release.install(CI / "injection-ephemeral-values.yaml")
    assert release.dry(pod()).admitted()["spec"]["securityContext"]["fsGroup"] == 65532
    own = pod(securityContext={"fsGroup": 1000})
    assert release.dry(own).admitted()["spec"]["securityContext"]["fsGroup"] == 1000


@pytest.mark.parametrize(
    "left_alone",
    [
        pytest.param(pod({}), id="unlabelled"),
        pytest.param(pod({"memsidecar.dev/inject": "false"}), id="labelled otherwise"),
        pytest.param(pod(hostNetwork=True), id="on the network of the node"),
        pytest.param(pod(volumes=[{"name": "memsidecar-data", "emptyDir": {}}]), id="with a volume of the name"),
        pytest.param(pod(containers=[{"name": "memsidecar", "image": "a:1"}]), id="with a container of the name"),
        pytest.param(MIRROR, id="mirror of a static pod"),
        pytest.param(pod(os={"name": "windows"}, containers=[{"name": "a", "image": "a:1"}]), id="on Windows"),
    ],
)
def test_other_pods_are_left_alone(release: Release, left_alone: Manifest) -> None:
    release.install(CI / "injection-values.yaml")
    made = release.dry(left_alone).admitted()
    assert names(made) == []
    assert "memsidecar-tmp" not in names(made, "volumes")
    assert all("MEMSIDECAR_ADDRESS" not in env(one) for one in made["spec"]["containers"])


def test_namespaces_of_the_cluster_are_left_alone(release: Release) -> None:
    release.install(CI / "injection-values.yaml")
    accounts = "/api/v1/namespaces/kube-system/serviceaccounts"
    assert release.cluster.create(accounts, {"metadata": {"name": "default"}}).status in (201, 409)
    made = release.cluster.create("/api/v1/namespaces/kube-system/pods?dryRun=All", pod()).admitted()
    assert names(made) == []


def test_an_injected_pod_is_admitted_to_a_restricted_namespace_and_never_injected_again(release: Release) -> None:
    release.install(CI / "injection-values.yaml")
    path = f"/api/v1/namespaces/{STRICT}/pods"
    made = release.cluster.create(path, pod()).admitted()
    assert names(made) == ["memsidecar"]

    again = release.cluster.call("PUT", f"{path}/{made['metadata']['name']}", made).admitted()
    assert again["spec"] == made["spec"]

    copied = {"metadata": {"generateName": "copy-", "labels": LABEL}, "spec": copy.deepcopy(made["spec"])}
    assert release.cluster.create(path, copied).admitted()["spec"] == made["spec"]
    release.cluster.call("DELETE", f"{path}?gracePeriodSeconds=0").admitted()


def test_a_second_round_of_policies_does_not_inject_twice(release: Release) -> None:
    release.install(CI / "injection-values.yaml")
    cluster = release.cluster
    again = {"spec": {"reinvocationPolicy": "IfNeeded"}}
    cluster.call("PATCH", f"{POLICIES}/memory-memsidecar", again, "application/merge-patch+json").admitted()
    cluster.create(POLICIES, LATER).admitted()
    binding = {"metadata": {"name": "zz-later"}, "spec": {"policyName": "zz-later"}}
    cluster.create(f"{POLICIES.removesuffix('ies')}ybindings", binding).admitted()
    try:
        wait_until(lambda: names(release.dry(pod()).admitted(), "containers") == ["agent", "later"])
        made = release.dry(pod()).admitted()
        assert names(made) == ["memsidecar"]
        assert names(made, "volumes") == ["memsidecar-data", "memsidecar-tmp"]
        assert [one["name"] for one in made["spec"]["containers"][0]["env"]] == ["MEMSIDECAR_ADDRESS"]
    finally:
        cluster.call("DELETE", f"{POLICIES}/zz-later").admitted()
        cluster.call("DELETE", f"{POLICIES.removesuffix('ies')}ybindings/zz-later").admitted()


# Comes behind the chart's policy by its name, and changes the pod, so that the chart's is called once more.
LATER: Manifest = {
    "metadata": {"name": "zz-later"},
    "spec": {
        "failurePolicy": "Fail",
        "reinvocationPolicy": "Never",
        "matchConstraints": {
            "objectSelector": {"matchLabels": LABEL},
            "resourceRules": [
                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
            ],
        },
        "matchConditions": [{"name": "once", "expression": "!object.spec.containers.exists(c, c.name == 'later')"}],
        "mutations": [
            {
                "patchType": "JSONPatch",
                "jsonPatch": {
                    "expression": "[JSONPatch{op: 'add', path: '/spec/containers/-', "
                    "value: {'name': 'later', 'image': 'later:1'}}]"
                },
            }
        ],
    },
}
