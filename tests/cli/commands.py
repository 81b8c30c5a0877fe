"""Running commands against a sidecar: in a pipe, and on a terminal."""

import json
import os
import pty
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from tests.support.forked import run
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS

HOSTILE = "red \x1b[31m title \x1b]0;owned\x07 clear \x9b2J back \x08\x7f order \u202etxt.exe\u2066 next\u2028line"
"Text that would act on a terminal: SGR, OSC, a C1 control, backspace, DEL, bidirectional and line controls."
BIN = Path(sys.executable).parent
WIDE = "日本語のテキスト 👩‍👩‍👧 नमस्ते"


@dataclass(frozen=True)
class CommandLine:
    """The commands, against one sidecar."""

    sidecar: SidecarProcess
    folder: Path

    @property
    def variables(self) -> dict[str, str]:
        return {"MEMSIDECAR_ADDRESS": self.sidecar.address, "COLUMNS": "100", "TZ": "UTC"}

    def run(self, *arguments: str, **variables: str) -> CompletedProcess[str]:
        done = run(*arguments, environ={**self.variables, **variables}, timeout=HANG_SECONDS)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def lines(self, *arguments: str) -> list[dict[str, Any]]:
        """Return the JSON lines of a command in a pipe."""
        done = self.run(*arguments)
        assert done.returncode == 0, done.stderr
        return [json.loads(line) for line in done.stdout.split("\n")[:-1]]

    def shell(self, line: str) -> CompletedProcess[str]:
        """Run a line of the shell. Its output may be longer than a pipe holds."""
        environ = {"PYTHONPATH": ":".join(sys.path), "PATH": f"{BIN}:{os.environ['PATH']}", **self.variables}
        return subprocess.run(
            ["/bin/sh", "-c", line],
            env=environ,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )

    def table(self, *arguments: str, **variables: str) -> str:
        done = self.run(*arguments, "--table", **variables)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def terminal(self, *arguments: str, typed: str = "", interrupted_at: str = "", **variables: str) -> tuple[int, str]:
        """Run a command on a terminal of 100 columns, and return its exit code and what the terminal got.

        With `interrupted_at` it gets SIGINT when it has printed this text.
        """
        outer, inner = pty.openpty()
        command = [sys.executable, "-m", "memsidecar", *arguments]
        environ = {"PYTHONPATH": ":".join(sys.path), "TERM": "xterm-256color", **self.variables, **variables}
        with subprocess.Popen(command, stdin=inner, stdout=inner, stderr=inner, env=environ) as process:
            os.close(inner)
            os.write(outer, typed.encode())
            received = ""
            if interrupted_at:
                while interrupted_at not in received:
                    received += os.read(outer, 1 << 16).decode()
                process.send_signal(signal.SIGINT)
            received += read_all(outer)
            code = process.wait(HANG_SECONDS)
        os.close(outer)
        return code, received


def read_all(terminal: int) -> str:
    received = b""
    while True:
        try:
            chunk = os.read(terminal, 1 << 16)
        except OSError:  # Linux ends a terminal without writers so
            chunk = b""
        if not chunk:
            return received.decode()
        received += chunk
