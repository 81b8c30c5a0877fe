"""A container without an engine: a read-only root, no network but loopback, process 1, another user.

It uses Linux namespaces as an engine does, which needs root. Its root contains the runtime tree where the image has
it, the Python and the libraries of this machine, and the data. There is no /tmp, no home and no /etc/passwd.
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

from tests.image.dockerfile import ROOT, Dockerfile

START_SECONDS = 60
STOP_SECONDS = 30
TOOLS = ("unshare", "nsenter", "setpriv", "chroot", "ip", "mount")

# $1 is the root; the pairs behind it are what is seen where, and -- ends them; then comes the command.
_ENTER = """
set -euo pipefail
root=$1; shift
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
exec setpriv --no-new-privs --inh-caps=-all chroot "$@"
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


class Container:
    """Runs the command of the Dockerfile with its environment; ends with `stop`, or with the `with` block."""

    def __init__(self, folder: Path, tree: Path, data: Path, *settings: str) -> None:
        self.dockerfile = Dockerfile.read()
        self._root = folder / "root"
        self._seen = [
            BindMount(tree, self.dockerfile.runtime_prefix),
            BindMount(data, self.dockerfile.environment["MEMSIDECAR_DATA_DIR"], "rw"),
            *_python_and_libraries(),
            *(BindMount(Path(device), device, "rw") for device in ("/dev/null", "/dev/urandom")),
        ]
        self.log_path = folder / "log"
        self._prepare_root()
        self._start(settings)

    def _prepare_root(self) -> None:
        for name in ("proc", "etc"):
            (self._root / name).mkdir(parents=True)
        for name in ("bin", "lib", "lib64"):
            if Path("/", name).is_symlink():
                (self._root / name).symlink_to(Path("/", name).readlink())
        for seen in self._seen:
            place = self._root / seen.inside.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.mkdir(exist_ok=True) if seen.outside.is_dir() else place.touch()

    def _start(self, settings: tuple[str, ...]) -> None:
        namespaces = ["unshare", "--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child"]
        seen = [word for each in self._seen for word in (str(each.outside), each.inside, each.mode)]
        command = [*namespaces, "bash", "-c", _ENTER, "enter", str(self._root), *seen, "--", *self._as_user(settings)]
        with self.log_path.open("ab") as log:
            self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            self.process.stdout.close()
            raise AssertionError(f"it did not start (exit {self.process.wait(START_SECONDS)}):\n{self.log()}")
        self.ready: dict[str, str] = json.loads(line)

    def _as_user(self, settings: tuple[str, ...]) -> list[str]:
        uid, gid = self.dockerfile.user
        # An engine sets HOME to / for a user that /etc/passwd does not know.
        variables = [f"{name}={value}" for name, value in {**self.dockerfile.environment, "HOME": "/"}.items()]
        user = [f"--userspec={uid}:{gid}", "--groups=", str(self._root)]
        place = ["/usr/bin/env", "-i", "-C", self.dockerfile.one("WORKDIR"), *variables]
        return [*user, *place, *self.dockerfile.command, *settings]

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    @property
    def first_process(self) -> int:
        """Return the pid of the container's process 1 on this machine."""
        (child,) = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(child)

    def beside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of this machine in the container's network, as another container of the pod would."""
        enter = ["nsenter", f"--net=/proc/{self.first_process}/ns/net", *command]
        return subprocess.run(enter, capture_output=True, text=True, timeout=120, check=False, cwd=ROOT)

    def inside(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command of the image as `exec` of an engine does."""
        uid, gid = self.dockerfile.user
        variables = [f"{name}={value}" for name, value in self.dockerfile.environment.items()]
        enter = ["nsenter", "--all", "-t", str(self.first_process), "--root", f"--setuid={uid}", f"--setgid={gid}"]
        words = [*enter, "/usr/bin/env", "-i", *variables, *command]
        return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)

    def agent(self, task: str) -> dict[str, Any]:
        """Run tests/image/agent.py in the container's network; return its output."""
        done = self.beside(sys.executable, "-m", "tests.image.agent", task)
        assert done.returncode == 0, done.stderr + self.log()
        seen: dict[str, Any] = json.loads(done.stdout)
        return seen

    def stop(self) -> int:
        """Send the stop signal of the Dockerfile; return the exit code."""
        os.kill(self.first_process, signal.Signals[self.dockerfile.one("STOPSIGNAL")])
        return self.process.wait(STOP_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            # Not `unshare`, which would be gone before the sidecar has let go of the data.
            os.kill(self.first_process, signal.SIGKILL)
            self.process.wait(STOP_SECONDS)
        if self.process.stdout is not None:
            self.process.stdout.close()


def _python_and_libraries() -> list[BindMount]:
    seen = [BindMount(Path("/usr"), "/usr")]
    seen += [
        BindMount(Path("/", name), f"/{name}") for name in ("bin", "lib", "lib64") if not Path("/", name).is_symlink()
    ]
    base = Path(sys.base_prefix)
    return seen if base.is_relative_to("/usr") else [*seen, BindMount(base, str(base))]
