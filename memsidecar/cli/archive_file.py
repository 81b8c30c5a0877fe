"""Archive files: JSON lines, compressed or not, written so that an interruption can be resumed."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import BinaryIO, cast

from memsidecar.domain.errors import SidecarError

STANDARD = "-"
MAX_UNSAVED_RECORDS = 1_000
MAX_UNSAVED_BYTES = 8 << 20
"Bounds on what an archive may hold in RAM until its next checkpoint."
_STDIN = 0
_GZIP_MAGIC = b"\x1f\x8b"
_COMPRESSION_LEVEL = 6


class FileProblem(SidecarError):
    """The file cannot be read, or not be written."""


@dataclass(frozen=True)
class Checkpoint:
    """The durable part of an incomplete archive: bytes, records, and the cursor after the last of them.

    `request` is what was exported: another request cannot continue it.
    """

    request: str
    bytes: int = 0
    records: int = 0
    cursor: str = ""


class ArchiveWriter:
    """Writes FILE.partial, and renames it when it is complete. Each checkpoint ends a member of a compressed file."""

    def __init__(self, file: Path, request: str, *, resume: bool) -> None:
        self._file = file
        self._partial = file.with_name(f"{file.name}.partial")
        self._side = file.with_name(f"{file.name}.partial.cursor")
        self._compressed = file.suffix == ".gz"
        if file.exists():
            raise FileProblem(f"{file} exists already: remove it, or choose another name")
        self.checkpoint = self._read_checkpoint(request) if resume else Checkpoint(request)
        self._lines: list[bytes] = []
        self._unsaved_bytes = 0
        with _named(self._partial):
            if not self.checkpoint.bytes:
                self._partial.unlink(missing_ok=True)
            self._output = _open_private(self._partial, "r+b" if self.checkpoint.bytes else "xb")
            self._output.truncate(self.checkpoint.bytes)
            self._output.seek(0, os.SEEK_END)

    def _read_checkpoint(self, request: str) -> Checkpoint:
        try:
            checkpoint = Checkpoint(**json.loads(self._side.read_text()))
        except (OSError, ValueError, TypeError):
            raise FileProblem(f"there is nothing to resume: {self._side} cannot be read") from None
        if checkpoint.request != request:
            raise FileProblem(f"{self._partial} is the export of {checkpoint.request}, and not of {request}")
        if not self._partial.exists() or self._partial.stat().st_size < checkpoint.bytes:
            raise FileProblem(f"{self._partial} is shorter than {self._side} says: export again without --resume")
        return checkpoint

    def add(self, line: str) -> None:
        self._lines.append(line.encode() + b"\n")
        self._unsaved_bytes += len(self._lines[-1])

    @property
    def needs_checkpoint(self) -> bool:
        return len(self._lines) >= MAX_UNSAVED_RECORDS or self._unsaved_bytes >= MAX_UNSAVED_BYTES

    def discard(self) -> None:
        """Forget the lines since the last checkpoint."""
        self._lines.clear()
        self._unsaved_bytes = 0

    def save(self, cursor: str) -> int:
        """Make all lines durable, then the cursor after them. Return the number of lines."""
        count = len(self._lines)
        content = b"".join(self._lines)
        with _named(self._partial):
            self._output.write(gzip.compress(content, _COMPRESSION_LEVEL) if self._compressed and content else content)
            self._output.flush()
            os.fsync(self._output.fileno())
            records = self.checkpoint.records + count
            self.checkpoint = Checkpoint(self.checkpoint.request, self._output.tell(), records, cursor)
            self.discard()
            replacement = self._side.with_name(f"{self._side.name}.new")
            with _open_private(replacement, "wb") as side:
                side.write(json.dumps(asdict(self.checkpoint)).encode())
            replacement.replace(self._side)
        return count

    def complete(self) -> None:
        self.save(self.checkpoint.cursor)
        with _named(self._file):
            if self._compressed and not self.checkpoint.bytes:
                self._output.write(gzip.compress(b""))
            self._output.close()
            self._partial.replace(self._file)
            self._side.unlink()

    def close(self) -> None:
        """Leave what is saved for a later --resume."""
        self._output.close()


def _open_private(file: Path, mode: str) -> BinaryIO:
    """Open a file to write; if it is new, only its owner may read it, because an archive has what users said."""
    return cast(BinaryIO, open(file, mode, opener=lambda path, flags: os.open(path, flags, 0o600)))


@contextmanager
def _named(file: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise FileProblem(f"{file} cannot be written: {error.strerror}") from None


@contextmanager
def open_input(name: str) -> Iterator[BinaryIO]:
    """Open a file, or standard input, and decompress it if it is compressed."""
    with ExitStack() as opened:
        try:
            # Not sys.stdin: at the end of the process, Python aborts if a thread still reads it.
            is_standard = name == STANDARD
            source = opened.enter_context(open(_STDIN if is_standard else name, "rb", closefd=not is_standard))
            is_compressed = source.peek(2)[:2] == _GZIP_MAGIC
        except OSError as error:
            raise FileProblem(f"{name} cannot be read: {error.strerror}") from None
        yield cast(BinaryIO, opened.enter_context(gzip.open(source))) if is_compressed else source


def read_lines(source: BinaryIO, name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not empty, with their numbers. Raises FileProblem for a damaged file."""
    number = 0
    try:
        for number, line in enumerate(source, 1):
            text = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            if text:
                yield number, text
    except UnicodeDecodeError:
        raise FileProblem(f"{name}, line {number}: is not UTF-8") from None
    except EOFError:
        raise FileProblem(f"{name} ends within its compressed data, after line {number}: it is truncated") from None
    except (OSError, zlib.error) as error:
        raise FileProblem(f"{name}, after line {number}: {error}") from None
