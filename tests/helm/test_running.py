"""The command of mode service is run here, and the command of `helm test` passes against it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helm.rendering import CHART, Helm, Manifest, of_kind
from tests.support.process import SidecarProcess

CHECK_SECONDS = 60
NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"


@pytest.fixture
def mounted(tmp_path: Path) -> Path:
    """The contents of the Secrets, in the folders where the containers mount them."""
    root = tmp_path / "etc" / "memsidecar"
    for folder in ("tls", "ca", "access", "token"):
        (root / folder).mkdir(parents=True)
    key, certificate = root / "tls" / "tls.key", root / "tls" / "tls.crt"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=memory"]
    run([*made, "-addext", NAMES, "-keyout", str(key), "-out", str(certificate)])
    (root / "ca" / "ca.crt").write_text(certificate.read_text())
    access = ["--role", "admin", "--access-file", str(root / "access" / "access.toml")]
    token = run(memsidecar("token", "new", "--name", "checker", "--namespace", "helm-test", *access))
    (root / "token" / "token").write_text(token)
    return tmp_path


def memsidecar(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "memsidecar", *arguments]


def run(command: list[str], environ: dict[str, str] | None = None) -> str:
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=CHECK_SECONDS,
        check=False,
        env={**os.environ, **(environ or {})},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def below(root: Path, text: str) -> str:
    return text.replace("/etc/memsidecar", f"{root}/etc/memsidecar")


def test_the_command_of_helm_test_passes(either_helm: Helm, mounted: Path) -> None:
    manifests = either_helm.render(CHART / "ci" / "service-values.yaml")
    server = container(of_kind("StatefulSet", manifests)[0]["spec"]["template"])
    checker = container(of_kind("Pod", manifests)[0])
    environ = {one["name"]: below(mounted, one["value"]) for one in server["env"]}
    with SidecarProcess(mounted / "data", "--listen", "0.0.0.0:0", environ=environ) as sidecar:
        port = sidecar.address.rpartition(":")[2]
        address = next(flag for flag in checker["args"] if flag.startswith("--address="))
        flags = [below(mounted, flag) for flag in checker["args"] if flag != address]
        run([*memsidecar(*flags), f"--address=localhost:{port}"])


def container(pod: Manifest) -> Manifest:
    (only,) = pod["spec"]["containers"]
    found: Manifest = only
    return found
