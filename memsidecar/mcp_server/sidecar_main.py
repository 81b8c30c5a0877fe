"""Entry point of the shared sidecar: `python -m`. Serves until no process holds the users lock any more."""

from __future__ import annotations

import fcntl
import os
import runpy
import signal
import sys
from threading import Thread


def main() -> None:
    users_file, *flags = sys.argv[1:]
    Thread(target=_end_when_unused, args=(users_file,), daemon=True).start()
    sys.argv = ["memsidecar", "serve", *flags]
    runpy.run_module("memsidecar", run_name="__main__", alter_sys=True)


def _end_when_unused(users_file: str) -> None:
    # Held until this process ends: a new user waits for that, then starts the next sidecar.
    descriptor = os.open(users_file, os.O_RDONLY | os.O_CLOEXEC)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    main()
