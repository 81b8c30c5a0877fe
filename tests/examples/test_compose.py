"""The example for Docker Compose matches the image, and its agent works."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.image.dockerfile import ROOT, Dockerfile
from tests.support.process import SidecarProcess

FOLDER = ROOT / "examples/compose"

# What the specification of Compose knows and this file uses; a typo is none of them.
SERVICE_KEYS = {
    *("build", "cap_drop", "command", "depends_on", "entrypoint", "image", "network_mode", "profiles", "read_only"),
    *("restart", "security_opt", "stop_grace_period", "volumes"),
}


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    composed = yaml.safe_load((FOLDER / "compose.yaml").read_text())
    assert set(composed) == {"name", "services", "volumes"}
    found: dict[str, dict[str, Any]] = composed["services"]
    assert set(composed["volumes"]) == {found["memsidecar"]["volumes"][0].split(":")[0]}
    return found


def test_compose_accepts_it() -> None:
    compose = ("docker", "compose")
    if (
        shutil.which("docker") is None
        or subprocess.run((*compose, "version"), check=False, capture_output=True).returncode
    ):
        pytest.skip("NOT TESTED: there is no docker compose to read the example")
    command = (*compose, "--file", str(FOLDER / "compose.yaml"), "--profile", "agent", "config", "--quiet")
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_key_is_one_of_compose(services: dict[str, dict[str, Any]]) -> None:
    assert {key for service in services.values() for key in service} <= SERVICE_KEYS


def test_the_memory_is_kept_where_the_image_keeps_it(services: dict[str, dict[str, Any]]) -> None:
    assert [volume.split(":")[1] for volume in services["memsidecar"]["volumes"]] == Dockerfile.read().config.volumes


def test_the_agent_shares_the_network_of_the_sidecar_and_nothing_is_published(
    services: dict[str, dict[str, Any]],
) -> None:
    assert services["agent"]["network_mode"] == "service:memsidecar"
    assert services["agent"]["depends_on"] == ["memsidecar"]


def test_the_image_is_the_version_that_is_built(services: dict[str, dict[str, Any]]) -> None:
    (version,) = re.findall(r'^version = "(.*)"$', (ROOT / "pyproject.toml").read_text(), flags=re.MULTILINE)
    assert {service["image"] for service in services.values()} == {f"${{MEMSIDECAR_IMAGE:-memsidecar:{version}}}"}


def test_the_agent_sees_what_it_said_before(data_dir: Path) -> None:
    with SidecarProcess(data_dir) as sidecar:
        first = _agent(sidecar.address, "I moved to Lisbon.")
        second = _agent(sidecar.address, "Where do I live?")
    assert "ROLE_USER: I moved to Lisbon." in first
    assert "ROLE_USER: I moved to Lisbon." in second and "ROLE_USER: Where do I live?" in second
    assert "of 1000 tokens" in second


def _agent(address: str, text: str) -> str:
    command = (sys.executable, str(FOLDER / "agent.py"), text)
    environ = {**os.environ, "MEMSIDECAR_ADDRESS": address, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=True).stdout
