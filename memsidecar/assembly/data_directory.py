"""Checks of the data directory of a running sidecar: permissions, file system, space, foreign files."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from memsidecar.assembly.storage import INDEX_FOLDER, INDEX_ID_FILE, PAGE_KEY_FILE, TEMPORARY_FOLDER
from memsidecar.cli.diagnosis import Diagnosis, fault, ok, warning
from memsidecar.cli.mcp_options import SHARED_FOLDER
from memsidecar.domain.byte_size import MIB
from memsidecar.stores.sqlite.data_dir import UNSAFE_FILESYSTEMS, filesystem_of
from memsidecar.stores.sqlite.integrity import FILE_NAME

MIN_FREE_SHARE = 0.05
MIN_FREE_BYTES = 256 * MIB
SUBJECT = "data directory"
_VOLATILE = ("tmpfs", "ramfs")
_FILES = (
    FILE_NAME,
    "lock",
    "journal.mark",
    "ballast",
    PAGE_KEY_FILE,
    INDEX_FOLDER,
    INDEX_ID_FILE,
    TEMPORARY_FOLDER,
    SHARED_FOLDER,
)
_OF_SQLITE = tuple(f"{FILE_NAME}{ending}" for ending in ("-wal", "-shm", "-journal"))
MAX_NAMED_FILES = 5


def directory_findings(directory: Path) -> list[Diagnosis]:
    """Return what is wrong around the files of a sidecar, without reading them. The sidecar may run."""
    checks = (_permissions, _filesystem, _space, _foreign_files)
    return [finding for check in checks for finding in check(directory)]


def _permissions(directory: Path) -> Iterator[Diagnosis]:
    mode = stat.S_IMODE(directory.stat().st_mode)
    if mode & (stat.S_IROTH | stat.S_IWOTH | stat.S_IXOTH):
        yield fault(
            SUBJECT,
            f"{directory} has the mode {mode:o}: every user of this machine may read all memories",
            f"chmod go= {directory}",
        )


def _filesystem(directory: Path) -> Iterator[Diagnosis]:
    kind = filesystem_of(directory)
    if kind in UNSAFE_FILESYSTEMS:
        level = fault if kind in _VOLATILE else warning
        text = f"{directory} is on {kind}, which {UNSAFE_FILESYSTEMS[kind]}"
        yield level(SUBJECT, text, "Move it to a local disk or a volume, and name that with --data-dir.")


def _space(directory: Path) -> Iterator[Diagnosis]:
    usage = shutil.disk_usage(directory)
    text = f"{usage.free // MIB:,} of {usage.total // MIB:,} MiB are free for {directory}"
    if usage.free < MIN_FREE_BYTES or usage.free < MIN_FREE_SHARE * usage.total:
        yield fault(
            "disk",
            text,
            "Free space or enlarge the volume; limit what is kept with the settings retention_* and quota_*.",
        )
    else:
        yield ok("disk", text)


def _foreign_files(directory: Path) -> Iterator[Diagnosis]:
    known = {*_FILES, *_OF_SQLITE}
    foreign = sorted(path.name for path in directory.iterdir() if path.name not in known)
    if foreign:
        more = f" and {len(foreign) - MAX_NAMED_FILES} more" if len(foreign) > MAX_NAMED_FILES else ""
        yield fault(
            SUBJECT,
            f"{directory} has files that no sidecar made: {', '.join(foreign[:MAX_NAMED_FILES])}{more}",
            "Move them elsewhere: forgetting does not erase them, and a backup of the directory includes them.",
        )
