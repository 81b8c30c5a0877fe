"""A sidecar in a process of its own."""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

START_SECONDS = 60
STOP_SECONDS = 30
BROKEN = Path(__file__).parent / "broken_sidecar.py"


class NotStarted(Exception):
    pass


class SidecarProcess:
    """`memsidecar serve`, restarted at the address that it had first.

    `small_disk` gives it a disk of so many bytes, `broken` names an RPC that does not work.
    """

    def __init__(self, folder: Path, listen: str, flags: list[str], small_disk: int = 0, broken: str = "") -> None:
        self._program = [str(BROKEN), broken] if broken else ["-m", "memsidecar"]
        self.data_dir = folder / "data"
        self.data_dir.mkdir()
        self.address = listen
        self._flags = flags
        self._log = folder / "log"
        self._small_disk = small_disk
        self.start()

    def start(self) -> None:
        log = self._log.open("ab")
        self._process = subprocess.Popen(self._command(), stdout=subprocess.PIPE, stderr=log, env=_clean())
        log.close()
        ready = self._ready_line()
        if not ready:
            self.kill()
            raise NotStarted(self._log.read_text(errors="replace")[-2000:])
        self.address = json.loads(ready)["listen"]

    def _command(self) -> list[str]:
        serve = [sys.executable, *self._program, "serve", "--data-dir", str(self.data_dir)]
        serve += ["--listen", self.address, "--health-listen", "", *self._flags]
        if not self._small_disk:
            return serve
        mount = f'mount -t tmpfs -o size={self._small_disk} tmpfs "{self.data_dir}" && exec "$@"'
        return ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", mount, "sh", *serve]

    def _ready_line(self) -> bytes:
        assert self._process.stdout is not None
        readable, _, _ = select.select([self._process.stdout], [], [], START_SECONDS)
        return self._process.stdout.readline() if readable else b""

    def terminate(self) -> None:
        """Tells it to stop, and does not wait."""
        self._process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        self.terminate()
        self._reap()

    def kill(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._reap()

    def _reap(self) -> None:
        self._process.wait(STOP_SECONDS)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def restart(self) -> None:
        self.stop()
        self.start()

    def crash(self) -> None:
        """Killed, and started again: in this order, which two steps at once would not have."""
        self.kill()
        self.start()

    def pause(self) -> None:
        """It is there, and does nothing."""
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def damage(self, text: str) -> None:
        """Flips a bit of what is stored where this text stands. Only while it is stopped."""
        file = self.data_dir / "journal.db"
        content = bytearray(file.read_bytes())
        place = content.rindex(text.encode())
        content[place] ^= 1
        file.write_bytes(content)


def _clean() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("MEMSIDECAR_")}
