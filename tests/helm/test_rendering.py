"""Both versions of Helm render the same manifests, and Kubernetes knows every field of them."""

from pathlib import Path

import pytest
import yaml

from helm.generate import MADE
from memsidecar import __version__
from tests.helm.rendering import CHART, ROOT, VALUES, Helm, helm
from tests.helm.schemas import problem

# The oldest that a mode renders for, and the newest that there are schemas of.
OLDEST = {"service": "1.27.0", "sidecar": "1.29.0", "injection": "1.36.0"}
NEWEST = "1.37.0"


def mode_of(values: Path) -> str:
    mode: str = yaml.safe_load(values.read_text())["mode"]
    return mode


def test_helm_lint_has_no_findings(either_helm: Helm) -> None:
    for values in ([], *(["--values", str(path)] for path in VALUES)):
        done = either_helm("lint", "--strict", str(CHART), "--kube-version", NEWEST, *values)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_kubernetes_knows_every_rendered_field(either_helm: Helm, values: Path) -> None:
    for kubernetes in (OLDEST[mode_of(values)], NEWEST):
        manifests = either_helm.render(values, kubernetes)
        assert manifests
        assert [found for manifest in manifests if (found := problem(manifest, kubernetes))] == []


@pytest.mark.parametrize("values", VALUES, ids=lambda path: path.stem)
def test_helm_4_renders_what_helm_3_does(tmp_path: Path, values: Path) -> None:
    third, fourth = (helm(major, tmp_path / str(major)) for major in (3, 4))
    assert third.render(values) == fourth.render(values)


def test_a_field_that_kubernetes_does_not_know_is_found(either_helm: Helm) -> None:
    manifest = either_helm.render(CHART / "ci" / "service-values.yaml")[0]
    manifest["spec"]["replica"] = 1
    assert "'replica' was unexpected" in str(problem(manifest, NEWEST))


def test_the_chart_and_the_examples_run_the_current_version() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert chart["appVersion"] == __version__
    assert f"image: memsidecar:{__version__}" in chart["annotations"]["artifacthub.io/images"]
    kustomization = yaml.safe_load((ROOT / "examples" / "kubernetes" / "kustomize" / "kustomization.yaml").read_text())
    assert {"name": "memsidecar", "newTag": __version__} in kustomization["images"]


@pytest.mark.parametrize("path", MADE, ids=lambda path: path.name)
def test_generated_files_are_up_to_date(path: Path) -> None:
    assert path.read_text() == MADE[path](), "run `make helm-docs`"
