"""Lock, high-water mark, ballast file."""

import fcntl
import logging
import mmap
import os
import struct
import time
from pathlib import Path
from typing import NamedTuple

from memsidecar.domain.errors import DataCorrupted, StartRefused

log = logging.getLogger(__name__)

_MARK = b"memsidecar journal mark\n"
_MARK_FIELDS = struct.Struct("<QQ")
_MARK_OFFSET = 64
_MARK_BYTES = 4096
BALLAST_AGAIN_SECONDS = 5.0

# What a crash or a reboot would take with it, or where fsync and locks do not mean what they say.
_DOUBTFUL = {
    "tmpfs": "is kept in memory and gone after a reboot",
    "ramfs": "is kept in memory and gone after a reboot",
    "overlay": "goes with its container; mount a volume",
    "nfs": "does not keep SQLite's locks reliably",
    "nfs4": "does not keep SQLite's locks reliably",
    "cifs": "does not keep SQLite's locks reliably",
    "9p": "does not keep SQLite's locks reliably",
}


def make_directory(path: Path) -> None:
    """Make the directory and have every new parent remember it, so that a new journal survives power loss."""
    path = path.absolute()
    new = [one for one in (path, *path.parents) if not one.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise StartRefused(f"cannot make the data directory {path}: {error.strerror}") from error
    for one in new:
        sync_directory(one.parent)


def sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def warn_of_doubtful_filesystem(path: Path) -> None:
    kind = filesystem_of(path)
    if kind in _DOUBTFUL:
        log.warning("the data directory %s is on %s, which %s", path, kind, _DOUBTFUL[kind])


def filesystem_of(path: Path, mounts: Path = Path("/proc/self/mountinfo")) -> str:
    """The kind of file system that holds the path; empty where the system does not tell."""
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
    """Keeps a second process out of the directory; the system drops it when this process ends, however it ends."""

    def __init__(self, path: Path) -> None:
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
    """How far a journal has come: its last entry, and how many commits there were that left none in the log."""

    lsn: int = 0
    unlogged: int = 0


class HighWaterMark:
    """The extent that was acknowledged, noted beside the journal after each commit.

    SQLite takes a damaged write-ahead log for one that was cut by a crash, and quietly opens with less. The mark
    tells the two apart: it is written only after the commit is durable, so a journal that ends before its mark has
    lost what was acknowledged. The mark itself is never synced; after power loss it may be old, which only makes it
    less strict.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        if not path.exists() or path.stat().st_size < _MARK_BYTES:
            path.write_bytes(_MARK.ljust(_MARK_BYTES, b"\0"))
        with path.open("r+b") as file:
            self._map = mmap.mmap(file.fileno(), _MARK_BYTES)

    def read(self) -> LogPosition:
        return LogPosition(*_MARK_FIELDS.unpack_from(self._map, _MARK_OFFSET))

    def note(self, extent: LogPosition) -> None:
        # In one piece: to pack into the map itself would clear it first, and a crash could leave it so.
        self._map[_MARK_OFFSET : _MARK_OFFSET + _MARK_FIELDS.size] = _MARK_FIELDS.pack(*extent)

    def check(self, found: LogPosition, journal: Path) -> None:
        noted = self.read()
        if found.lsn < noted.lsn:
            self._refuse(journal, f"ends at entry {found.lsn}, but entry {noted.lsn} was acknowledged")
        if found.unlogged < noted.unlogged:
            self._refuse(journal, f"lacks {noted.unlogged - found.unlogged} of the last changes that were acknowledged")

    def _refuse(self, journal: Path, finding: str) -> None:
        raise DataCorrupted(
            f"{journal.name} {finding}: it or its -wal file is damaged or missing. Restore a backup; to go on with"
            f" what is left, remove {self._path}",
            file=str(journal),
        )

    def close(self) -> None:
        self._map.close()


class Ballast:
    """A file that is given up when the disk is full, so that a start, a checkpoint and erasing find room.

    It takes at most half of the room there is: reserve is no use where nothing else fits.
    """

    def __init__(self, path: Path, size_bytes: int) -> None:
        self._path = path
        self._size_bytes = size_bytes
        self.held_bytes = path.stat().st_size if path.exists() else 0
        self._again = 0.0
        if self.held_bytes > size_bytes:
            self.drop()

    def restore(self) -> None:
        """Take room back; where there is too little, try for more another time, which is not at once."""
        if self.held_bytes >= self._size_bytes or time.monotonic() < self._again:
            return
        self._again = time.monotonic() + BALLAST_AGAIN_SECONDS
        wanted = min(self._size_bytes, (free_bytes(self._path.parent) + self.held_bytes) // 2)
        if wanted > self.held_bytes:
            self.take(wanted)

    def take(self, size: int) -> None:
        try:
            _take_room(self._path, size)
            self.held_bytes = size
        except OSError:
            self.drop()

    def drop(self) -> int:
        """How much there was to give up; it may be taken back at once."""
        held, self.held_bytes, self._again = self.held_bytes, 0, 0.0
        self._path.unlink(missing_ok=True)
        return held


def free_bytes(directory: Path) -> int:
    room = os.statvfs(directory)
    return room.f_bavail * room.f_frsize


def _take_room(path: Path, size: int) -> None:
    with path.open("wb") as file:
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, size)
        else:
            file.write(bytes(size))
