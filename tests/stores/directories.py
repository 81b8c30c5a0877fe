"""Helpers that open a journal in a data directory."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from memsidecar.domain.session import SessionKey
from memsidecar.stores.sqlite.journal import SqliteJournal

OTHER = SessionKey("default", "s2")


@contextmanager
def opened(folder: Path, checkpoint_bytes: int = 4 << 20, ballast_bytes: int = 1 << 20) -> Iterator[SqliteJournal]:
    with closing(SqliteJournal(folder, checkpoint_bytes=checkpoint_bytes, ballast_bytes=ballast_bytes)) as journal:
        yield journal


def bytes_of(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


@contextmanager
def another_process(script: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the script in another process; enter once it printed `ready`, kill it at the end."""
    command = [sys.executable, "-c", script, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()
