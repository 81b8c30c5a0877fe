"""The files beside the journal: lock, high-water mark, ballast."""

import fcntl
import logging
import mmap
import os
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.errors import DataCorrupted, StartRefused

log = logging.getLogger(__name__)

_MARK = b"memsidecar journal mark\n"
_MARK_FIELDS = struct.Struct("<QQ")
_MARK_OFFSET = 64
_MARK_BYTES = 4096
BALLAST_RETRY_SECONDS = 5.0

# File systems that lose data at a reboot, or whose fsync and locks are unreliable.
UNSAFE_FILESYSTEMS = {
    "tmpfs": "is kept in memory and gone after a reboot",
    "ramfs": "is kept in memory and gone after a reboot",
    "overlay": "goes with its container; mount a volume",
    "nfs": "does not keep SQLite's locks reliably",
    "nfs4": "does not keep SQLite's locks reliably",
    "cifs": "does not keep SQLite's locks reliably",
    "9p": "does not keep SQLite's locks reliably",
}


def make_directory(path: Path) -> None:
    """Create the directory and sync every new parent, so that a new journal survives power loss."""
    path = path.absolute()
    new = [each for each in (path, *path.parents) if not each.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StartRefused(f"cannot make the data directory {path}: {error.strerror}") from error
    for created in new:
        sync_directory(created.parent)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    """Refuse the start with the name of the file if it cannot be written."""
    try:
        yield
    except OSError as error:
        raise StartRefused(f"cannot write {path}: {error.strerror}") from error


def warn_of_unsafe_filesystem(path: Path) -> None:
    kind = filesystem_of(path)
    if kind in UNSAFE_FILESYSTEMS:
        log.warning("the data directory %s is on %s, which %s", path, kind, UNSAFE_FILESYSTEMS[kind])


def filesystem_of(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """Return the type of the file system that holds the path; empty if the system does not tell."""
    if not mounts.exists():
        return ""
    best, kind, path = "", "", path.resolve()
    for line in mounts.read_text(errors="replace").splitlines():
        left, _, right = line.partition(" - ")
        point = left.split()[4].encode().decode("unicode_escape")
        if path.is_relative_to(point) and len(point) >= len(best):
            best, kind = point, right.split()[0]
    return kind


class DirectoryLock:
    """Excludes a second process from the directory. The system releases the lock when this process ends."""

    def __init__(self, path: Path) -> None:
        with _writable(path):
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(self._descriptor, 32, 0).decode(errors="replace").strip() or "unknown"
            os.close(self._descriptor)
            raise StartRefused(f"{path.parent} is in use by another memsidecar (process {holder})") from error
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._descriptor)


class LogPosition(NamedTuple):
    """The last lsn of a journal, and the number of its commits without a log entry."""

    lsn: int = 0
    unlogged: int = 0


class HighWaterMark:
    """The acknowledged LogPosition, saved beside the journal after each commit.

    SQLite takes a damaged write-ahead log for one that was cut by a crash, and silently opens with less. The mark tells
    the two apart: it is written only after the commit is durable, so a journal that ends before its mark has lost
    acknowledged data. The mark itself is never synced; after power loss it may be old, which only makes it less strict.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        with _writable(path):
            if not path.exists() or path.stat().st_size < _MARK_BYTES:
                path.write_bytes(_MARK.ljust(_MARK_BYTES, b"\0"))
            file = path.open("r+b")
        with file:
            self._map = mmap.mmap(file.fileno(), _MARK_BYTES)

    def read(self) -> LogPosition:
        return LogPosition(*_MARK_FIELDS.unpack_from(self._map, _MARK_OFFSET))

    def save(self, position: LogPosition) -> None:
        # With one assignment: packing into the map itself would clear it first, and a crash could leave it so.
        self._map[_MARK_OFFSET : _MARK_OFFSET + _MARK_FIELDS.size] = _MARK_FIELDS.pack(*position)

    def check(self, found: LogPosition, journal: Path) -> None:
        """Raise DataCorrupted if the journal ends before the mark."""
        saved = self.read()
        if found.lsn < saved.lsn:
            self._refuse(journal, f"ends at entry {found.lsn}, but entry {saved.lsn} was acknowledged")
        if found.unlogged < saved.unlogged:
            self._refuse(journal, f"lacks {saved.unlogged - found.unlogged} of the last changes that were acknowledged")

    def _refuse(self, journal: Path, finding: str) -> None:
        raise DataCorrupted(
            f"{journal.name} {finding}: it or its -wal file is damaged or missing. Restore a backup; to go on with"
            f" what is left, remove {self._path}",
            file=str(journal),
        )

    def close(self) -> None:
        self._map.close()


class Ballast:
    """A file that is deleted when the disk is full, so that a start, a checkpoint or an erasure has room.

    It takes at most half of the free space: a reserve is of no use if nothing else fits.
    """

    def __init__(self, path: Path, size_bytes: int) -> None:
        self._path = path
        self._size_bytes = size_bytes
        self.held_bytes = path.stat().st_size if path.is_file() else 0
        self._retry_at = 0.0
        if self.held_bytes > size_bytes:
            self.drop()

    def restore(self) -> None:
        """Allocate the ballast again, as far as there is room; retry for the rest after BALLAST_RETRY_SECONDS."""
        if self.held_bytes >= self._size_bytes or time.monotonic() < self._retry_at:
            return
        self._retry_at = time.monotonic() + BALLAST_RETRY_SECONDS
        wanted = min(self._size_bytes, (free_bytes(self._path.parent) + self.held_bytes) // 2)
        if wanted > self.held_bytes:
            self.allocate(wanted)

    def allocate(self, size: int) -> None:
        try:
            _allocate(self._path, size)
            self.held_bytes = size
        except OSError as error:
            log.debug("%s is not allocated: %s", self._path.name, error)
            self._remove()

    def drop(self) -> int:
        """Delete the ballast, and return its size. It may be allocated again at once."""
        held, self._retry_at = self.held_bytes, 0.0
        self._remove()
        return held

    def _remove(self) -> None:
        self.held_bytes = 0
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("%s cannot be removed, so there is no room in reserve: %s", self._path, error)


def free_bytes(directory: Path) -> int:
    status = os.statvfs(directory)
    return status.f_bavail * status.f_frsize


def _allocate(path: Path, size: int) -> None:
    with path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.write(bytes(size))
