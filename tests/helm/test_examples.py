"""The agents of examples/kubernetes run, and their manifests are valid."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copytree, which

import pytest
import yaml

from tests.helm.rendering import CHART, ROOT, TOOLS, Helm, Manifest
from tests.helm.schemas import problem
from tests.support.process import SidecarProcess

EXAMPLES = ROOT / "examples" / "kubernetes"
RUN_SECONDS = 60
INSTALL_SECONDS = 300
CI_SIDECAR = CHART / "ci" / "sidecar-values.yaml"


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("examples") / "data") as running:
        yield running


def run(command: list[str], folder: Path, **variables: str) -> str:
    environ = {**os.environ, "AGENT_TURNS": "3", "AGENT_PAUSE_SECONDS": "0", **variables}
    done = subprocess.run(
        command, cwd=folder, env=environ, capture_output=True, text=True, timeout=RUN_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_remembers(printed: str) -> None:
    assert "turn 2: " in printed
    last = printed.split("turn 2")[1]
    assert "ROLE_USER: I moved to Lisbon." in last and "ROLE_USER: Where do I live?" in last


def test_the_agent_in_python_remembers_with_nothing_but_the_generated_code(
    sidecar: SidecarProcess, tmp_path: Path
) -> None:
    copytree(ROOT / "memsidecar" / "v1", tmp_path / "memsidecar" / "v1")
    (tmp_path / "agent.py").write_text((EXAMPLES / "python" / "agent.py").read_text())
    assert_remembers(run([sys.executable, "agent.py"], tmp_path, MEMSIDECAR_ADDRESS=sidecar.address))


def test_the_agent_in_node_remembers_with_nothing_but_the_protos(sidecar: SidecarProcess, tmp_path: Path) -> None:
    assert which("npm"), "NOT TESTED: the agent in Node needs npm, and there is none"
    copytree(EXAMPLES / "node", tmp_path, dirs_exist_ok=True)
    install = ["npm", "install", "--omit=dev", "--no-audit", "--no-fund"]
    subprocess.run(install, cwd=tmp_path, check=True, capture_output=True, timeout=INSTALL_SECONDS)
    variables = {"MEMSIDECAR_ADDRESS": sidecar.address, "AGENT_PROTOS": str(ROOT / "protos")}
    assert_remembers(run(["node", "agent.mjs"], tmp_path, **variables))


def test_the_chart_of_the_agents_renders(either_helm: Helm, tmp_path: Path) -> None:
    # As far apart as in the repository, because one names the other by its folder.
    agents = copytree(EXAMPLES / "agents", tmp_path / "examples" / "kubernetes" / "agents")
    copytree(CHART, tmp_path / "helm" / "memsidecar")
    built = either_helm("dependency", "build", str(agents))
    assert built.returncode == 0, built.stderr
    done = either_helm("template", "agents", str(agents), "--kube-version", "1.29.0")
    assert done.returncode == 0, done.stderr
    deployments = [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]
    assert [deployment["metadata"]["name"] for deployment in deployments] == ["node-agent", "python-agent"]
    assert_valid(deployments)


def test_kustomize_adds_the_container_that_the_chart_does(either_helm: Helm) -> None:
    done = subprocess.run(
        [TOOLS / "kustomize", "build", EXAMPLES / "kustomize"],
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    deployments = list(yaml.safe_load_all(done.stdout))
    assert_valid(deployments)
    (chart,) = either_helm.render(CI_SIDECAR)
    for deployment in deployments:
        made, expected = (manifest["spec"]["template"]["spec"] for manifest in (deployment, chart))
        assert made["initContainers"] == expected["initContainers"]
        assert made["volumes"] == expected["volumes"]
        assert made["containers"][0]["env"] == expected["containers"][0]["env"]


def assert_valid(manifests: list[Manifest]) -> None:
    assert len(manifests) == 2
    for kubernetes in ("1.29.0", "1.37.0"):
        assert [found for manifest in manifests if (found := problem(manifest, kubernetes))] == []
