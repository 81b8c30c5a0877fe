"""The image of the Dockerfile, built with buildah on a base that mmdebstrap makes.

The base is Debian of the Dockerfile's suite, with Debian's Python where the official image has it: in /usr/local. The
base and the layers are made once for each user of a machine, and kept in the user's cache.
"""

import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.image.dockerfile import ROOT, Dockerfile, ImageConfig

TOOLS = ("buildah", "mmdebstrap")
BUILD_SECONDS = 1_500
IMAGE, BUILD_STAGE = "localhost/memsidecar-test", "localhost/memsidecar-test-build"
CONTAINER_PREFIX = "memsidecar-test-"
PACKAGES = "python3-venv,ca-certificates"
# $1 is the new root; VERSION is that of Python.
MOVE_PYTHON = """chroot "$1" sh -euc '
  rm -r /usr/local/lib/pythonVERSION
  mv /usr/lib/pythonVERSION /usr/local/lib/
  mv /usr/bin/pythonVERSION /usr/local/bin/
  ln -s pythonVERSION /usr/local/bin/python3
  ln -s pythonVERSION /usr/local/bin/python'"""
# What the build needs of this machine's pip configuration to reach the same package index.
PIP_OPTIONS = ("cert", "default-timeout", "extra-index-url", "index-url", "proxy", "timeout", "trusted-host")


def missing() -> list[str]:
    """Return what this machine lacks to build and mount an image."""
    tools = [tool for tool in TOOLS if shutil.which(tool) is None]
    return tools if os.geteuid() == 0 else ["root", *tools]


def build_image() -> str:
    """Build the image, or take it from the cache of layers; return its name."""
    base = _base()
    # The build stage has a name, so that its layers are kept when older ones are deleted.
    _build(base, "--target=build", f"--tag={BUILD_STAGE}")
    _build(base, f"--tag={IMAGE}")
    _run("rmi", "--prune")
    return IMAGE


def read_config(image: str) -> ImageConfig:
    config = json.loads(_run("inspect", "--type=image", image))["OCIv1"]["config"]
    uid, gid = config["User"].split(":")
    return ImageConfig(
        environment=dict(pair.split("=", 1) for pair in config["Env"]),
        user=(int(uid), int(gid)),
        entrypoint=config["Entrypoint"],
        arguments=config["Cmd"],
        working_dir=config["WorkingDir"],
        stop_signal=config["StopSignal"],
        volumes=list(config["Volumes"]),
    )


@contextmanager
def mounted(image: str) -> Iterator[Path]:
    """Mount the file system of a new container of the image. The container is writable; the image stays as it is."""
    _remove_abandoned()
    name = _run("from", f"--name={CONTAINER_PREFIX}{os.getpid()}", image)
    try:
        yield Path(_run("mount", name))
    finally:
        _run("rm", name)


def _remove_abandoned() -> None:
    """Remove containers of test runs that were killed."""
    for name in _run("containers", "--noheading", "--format={{.ContainerName}}").split():
        if name.startswith(CONTAINER_PREFIX) and not Path("/proc", name.removeprefix(CONTAINER_PREFIX)).exists():
            _run("rm", name)


def _base() -> str:
    version, suite = Dockerfile.read().base
    hook = MOVE_PYTHON.replace("VERSION", version)
    recipe = hashlib.sha256((PACKAGES + hook).encode()).hexdigest()[:12]
    architecture = subprocess.run(["dpkg", "--print-architecture"], capture_output=True, text=True, check=True)
    name = f"localhost/memsidecar-test-base:{suite}-{architecture.stdout.strip()}-{recipe}"
    if name not in _run("images", "--noheading", "--format={{.Name}}:{{.Tag}}").split():
        with TemporaryDirectory(dir=_cache()) as folder:
            archive = Path(folder) / "base.tar"
            options = ["--variant=minbase", f"--include={PACKAGES}", f"--customize-hook={hook}"]
            mirrors = os.environ.get("DEBIAN_MIRROR", "").split()
            _call(["mmdebstrap", *options, suite, str(archive), *mirrors])
            container = _run("from", "scratch")
            _run("add", container, str(archive), "/")
            _run("commit", "--rm", container, name)
    return name


def _build(base: str, *options: str) -> None:
    with TemporaryDirectory() as folder:
        pip = _pip_options()
        conf = Path(folder) / "pip.conf"
        conf.write_text("\n".join(["[global]", *(f"{name} = {value}" for name, value in pip.items()), ""]))
        certificates = [f"--volume={pip['cert']}:{pip['cert']}:ro"] if "cert" in pip else []
        # In an isolation of its own, buildah would need more rights than a CI's container has.
        common = ["--layers", "--isolation=chroot", f"--build-arg=PYTHON={base}", f"--secret=id=pip.conf,src={conf}"]
        _run("build", *common, *certificates, *options, str(ROOT))


def _pip_options() -> dict[str, str]:
    listed = _call([sys.executable, "-m", "pip", "config", "list"])
    pairs = (line.split("=", 1) for line in listed.splitlines() if "=" in line)
    options = {name.rpartition(".")[2]: str(ast.literal_eval(value)) for name, value in pairs}
    return {name: value for name, value in options.items() if name in PIP_OPTIONS}


def _cache() -> Path:
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "memsidecar" / "image"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _run(*arguments: str) -> str:
    return _call(["buildah", f"--root={_cache() / 'store'}", "--runroot=/run/memsidecar-image", *arguments])


def _call(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=BUILD_SECONDS, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout.strip()
