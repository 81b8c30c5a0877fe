"""A sidecar process of a fixture, which scenarios can stop, kill, pause and restart."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

from runner.forked_sidecar import ForkedSidecar, ForkServer
from runner.open_stream import OpenStream

START_SECONDS = 120
STOP_SECONDS = 60


class SidecarStartError(Exception):
    pass


class SidecarProcess:
    """`memsidecar serve`, restarted at the address of its first start.

    `small_disk` is the size of its disk in bytes, if not 0. `broken` names an RPC to break.
    """

    def __init__(
        self, server: ForkServer, folder: Path, listen: str, flags: list[str], *, small_disk: int = 0, broken: str = ""
    ) -> None:
        self._server = server
        self._broken = broken
        self.data_dir = folder / "data"
        self.data_dir.mkdir()
        self.address = listen
        self._flags = flags
        self._log = folder / "log"
        self._small_disk = small_disk
        self._open_stream: OpenStream | None = None
        self.start()

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = self._mounted(log) if self._small_disk else self._forked(log)
        ready = self._ready_line()
        if not ready:
            self.kill()
            raise SidecarStartError(self._log.read_text(errors="replace")[-2000:])
        self.address = json.loads(ready)["listen"]

    def _arguments(self) -> list[str]:
        arguments = ["serve", "--data-dir", str(self.data_dir), "--listen", self.address]
        return [*arguments, "--health-listen", "", "--http-listen", "", *self._flags]

    def _forked(self, log: IO[bytes]) -> ForkedSidecar:
        return self._server.start(self._arguments(), log, self._broken)

    def _mounted(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        """Start the sidecar in a mount namespace of its own, with a small disk as its data directory."""
        mount = f'mount -t tmpfs -o size={self._small_disk} tmpfs "{self.data_dir}" && exec "$@"'
        unshare = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh"]
        command = [*unshare, sys.executable, "-m", "memsidecar", *self._arguments()]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, env=_clean())

    def _ready_line(self) -> bytes:
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], START_SECONDS)
        return self._process.stdout.readline() if readable else b""

    def drain(self) -> None:
        """Send SIGTERM, and keep the sidecar draining by an open stream until it is stopped or killed."""
        self._open_stream = OpenStream(self.address)
        self._process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        self._close_stream()
        self._process.send_signal(signal.SIGTERM)
        self._reap()

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._close_stream()
        self._reap()

    def _close_stream(self) -> None:
        if self._open_stream is not None:
            self._open_stream.close()
            self._open_stream = None

    def _reap(self) -> None:
        self._process.wait(STOP_SECONDS)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def restart(self) -> None:
        self.stop()
        self.start()

    def crash(self) -> None:
        """Kill and start again. One step, because concurrent steps have no order."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """Stop the process with SIGSTOP: its connections stay open, and it answers nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def damage(self, text: str) -> None:
        """Flip a bit of the stored text. Only while the sidecar is stopped."""
        file = self.data_dir / "journal.db"
        content = bytearray(file.read_bytes())
        content[content.rindex(text.encode())] ^= 1
        file.write_bytes(content)


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}
