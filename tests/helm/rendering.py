"""Rendering of the chart by real versions of Helm."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".tools" / "bin"
CHART = ROOT / "helm" / "memsidecar"
VALUES = sorted((CHART / "ci").glob("*-values.yaml"))
RENDER_SECONDS = 60

Manifest = dict[str, Any]


@dataclass(frozen=True)
class Helm:
    """One version of Helm; `agent` is a chart that depends on memsidecar, with its dependencies."""

    binary: Path
    agent: Path

    def render(self, values: Path | Manifest, kubernetes: str = "1.37.0") -> list[Manifest]:
        """Render the chart with these values; in mode sidecar, the chart that depends on it."""
        done = self.template(values, kubernetes)
        assert done.returncode == 0, done.stderr
        return [manifest for manifest in yaml.safe_load_all(done.stdout) if manifest]

    def refusal(self, values: Manifest, kubernetes: str = "1.37.0") -> str:
        done = self.template(values, kubernetes)
        assert done.returncode != 0, done.stdout
        return done.stderr

    def template(self, values: Path | Manifest, kubernetes: str) -> "subprocess.CompletedProcess[str]":
        given = yaml.safe_load(values.read_text()) if isinstance(values, Path) else values
        by_itself = given.get("mode", "sidecar") != "sidecar"
        chart, given = (CHART, given) if by_itself else (self.agent, {"memsidecar": given})
        arguments = ["memory", str(chart), "--namespace", "agents", "--kube-version", kubernetes, "--values", "-"]
        return self("template", *arguments, stdin=json.dumps(given, ensure_ascii=False))

    def __call__(self, *arguments: str, stdin: str = "") -> "subprocess.CompletedProcess[str]":
        command = [str(self.binary), *arguments]
        return subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=RENDER_SECONDS, check=False)


def helm(major: int, folder: Path) -> Helm:
    binary = TOOLS / f"helm-{major}" / "helm"
    assert binary.exists(), f"there is no {binary}: `make test-helm` builds it"
    agent = folder / "agent"
    copytree(ROOT / "tests" / "helm" / "agent", agent)
    copytree(CHART, agent / "charts" / "memsidecar")
    return Helm(binary, agent)


def of_kind(kind: str, manifests: list[Manifest]) -> list[Manifest]:
    return [manifest for manifest in manifests if manifest["kind"] == kind]


def pods(manifests: list[Manifest]) -> list[Manifest]:
    """Return the spec of every pod and pod template in the manifests."""
    bare = [manifest["spec"] for manifest in of_kind("Pod", manifests)]
    return bare + [
        manifest["spec"]["template"]["spec"] for manifest in manifests if "template" in manifest.get("spec", {})
    ]
