"""A container without an engine: read-only root, loopback only, process 1, own user, no capabilities, 512 MiB.

It uses Linux namespaces as an engine does, which needs root.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from tests.image.dockerfile import ROOT, Dockerfile, ImageConfig
from tests.image.memory_group import MemoryGroup

START_SECONDS = 60
STOP_SECONDS = 30
MEMORY_BYTES = 512 << 20
TOOLS = ("unshare", "nsenter", "setpriv", "chroot", "ip", "mount")

# $1 is the log, $2 the file of the control group or empty, $3 the root; the triples behind it are what is seen where,
# and -- ends them; then comes the command.
_ENTER = """
set -euo pipefail
exec 2>>"$1"
[ -z "$2" ] || echo 0 >"$2"
root=$3; shift 3
ip link set lo up
mount --bind "$root" "$root"
while [ "$1" != -- ]; do
  mount --bind "$1" "$root$2"
  [ "$3" = rw ] || mount -o remount,bind,ro "$root$2"
  shift 3
done
shift
mount -t proc proc "$root/proc"
mount -o remount,bind,ro "$root"
exec chroot "$root" "$@"
"""


def require_namespaces() -> None:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if os.geteuid() != 0 or missing:
        pytest.skip(f"NOT TESTED: running the image's content like a container needs root and {', '.join(TOOLS)}")
    if subprocess.run(["unshare", "--mount", "--net", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("NOT TESTED: this machine does not let root make namespaces")


@dataclass(frozen=True)
class BindMount:
    """A file or folder of this machine, and its path in the container."""

    outside: Path
    inside: str
    mode: str = "ro"


@dataclass(frozen=True)
class Image:
    """A file system and its configuration. Containers create mount points in `root`, and nothing else."""

    config: ImageConfig
    root: Path
    tree: Path
    "The runtime tree, on this machine."
    mounts: tuple[BindMount, ...] = ()


def image_of_tree(root: Path, tree: Path) -> Image:
    """Return an image of the runtime tree with the Python and the libraries of this machine.

    It has no /tmp, no home and no /etc/passwd.
    """
    for name in ("proc", "etc"):
        (root / name).mkdir(parents=True)
    for name in ("bin", "lib", "lib64"):
        if Path("/", name).is_symlink():
            (root / name).symlink_to(Path("/", name).readlink())
    dockerfile = Dockerfile.read()
    mounts = (BindMount(tree, dockerfile.runtime_prefix), *_python_and_libraries())
    return Image(dockerfile.config, root, tree, mounts)


class Container:
    """Runs the image's command; ends with `stop`, with `kill`, or with the `with` block."""

    def __init__(self, folder: Path, image: Image, data: Path, environment: dict[str, str] | None = None) -> None:
        self.config = image.config
        self.environment = {**image.config.environment, **(environment or {})}
        self._root = image.root
        self._mounts = [
            *image.mounts,
            BindMount(data, self.environment["MEMSIDECAR_DATA_DIR"], "rw"),
            *(BindMount(Path(device), device, "rw") for device in ("/dev/null", "/dev/urandom")),
        ]
        self.log_path = folder / "log"
        self._make_mount_points()
        self.memory = MemoryGroup(MEMORY_BYTES)
        self._start()

    def _make_mount_points(self) -> None:
        for mount in self._mounts:
            place = self._root / mount.inside.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.mkdir(exist_ok=True) if mount.outside.is_dir() else place.touch()

    def _start(self) -> None:
        namespaces = ["unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child"]
        mounts = [word for mount in self._mounts for word in (str(mount.outside), mount.inside, mount.mode)]
        places = [str(self.log_path), str(self.memory.procs or ""), str(self._root)]
        command = [*namespaces, "bash", "-c", _ENTER, "enter", *places, *mounts, "--", *self._as_user()]
        # Not into the log: `unshare` itself complains if the container is killed.
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.process.stdout.close()
            status = self.process.wait(START_SECONDS)
            self.memory.close()
            raise AssertionError(f"it did not start (exit {status}):\n{self.log()}")
        self.ready: dict[str, str] = json.loads(line)

    def _as_user(self) -> list[str]:
        uid, gid = self.config.user
        # An engine sets HOME to / for a user that /etc/passwd does not know.
        variables = [f"{name}={value}" for name, value in {**self.environment, "HOME": "/"}.items()]
        user = ["/usr/bin/setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
        rights = ["--no-new-privs", "--inh-caps=-all", "--bounding-set=-all"]
        place = ["/usr/bin/env", "-i", "-C", self.config.working_dir, *variables]
        return [*user, *rights, *place, *self.config.command]

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    def complaints(self) -> list[str]:
        """Return the lines of the log that are no JSON (a panic), or more severe than info."""
        return [line for line in self.log().splitlines() if not _is_harmless(line)]

    @property
    def first_process(self) -> int:
        """Return the pid of the container's process 1 on this machine."""
        (child,) = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(child)

    def beside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of this machine in the container's network, as another container of the pod would."""
        enter = [*self._network(), *command]
        return subprocess.run(enter, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)

    def _network(self) -> list[str]:
        return ["nsenter", f"--net=/proc/{self.first_process}/ns/net"]

    def inside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the image as `exec` of an engine does."""
        uid, gid = self.config.user
        variables = [f"{name}={value}" for name, value in self.environment.items()]
        enter = ["nsenter", "--all", "-t", str(self.first_process), "--root", f"--setuid={uid}", f"--setgid={gid}"]
        words = [*enter, "/usr/bin/env", "-i", *variables, *command]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)

    def agent(self, *task: str) -> dict[str, Any]:
        """Run tests/image/agent.py in the container's network; return its output."""
        done = self.beside(sys.executable, "-m", "tests.image.agent", *task)
        assert done.returncode == 0, done.stderr + self.log()
        seen: dict[str, Any] = json.loads(done.stdout)
        return seen

    def start_agent(self, task: str) -> subprocess.Popen[str]:
        """Start a task of tests/image/agent.py that prints lines while it runs."""
        command = [*self._network(), sys.executable, "-m", "tests.image.agent", task]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)

    def stop(self) -> int:
        """Send the stop signal of the image; return the exit code."""
        os.kill(self.first_process, signal.Signals[self.config.stop_signal])
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        # Not `unshare`, which would be gone before the sidecar has let go of the data.
        os.kill(self.first_process, signal.SIGKILL)
        self.process.wait(STOP_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        self.memory.close()
        if self.process.stdout is not None:
            self.process.stdout.close()


def _is_harmless(line: str) -> bool:
    try:
        return json.loads(line)["level"] in ("debug", "info")
    except ValueError:
        return False


def _python_and_libraries() -> list[BindMount]:
    seen = [BindMount(Path("/usr"), "/usr")]
    seen += [
        BindMount(Path("/", name), f"/{name}") for name in ("bin", "lib", "lib64") if not Path("/", name).is_symlink()
    ]
    base = Path(sys.base_prefix)
    return seen if base.is_relative_to("/usr") else [*seen, BindMount(base, str(base))]
