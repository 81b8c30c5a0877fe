"""Reload on change."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from memsidecar.domain.errors import SidecarError

log = logging.getLogger(__name__)

T = TypeVar("T")
Mark = tuple[tuple[int, ...], ...]


@dataclass
class ReloadingFile(Generic[T]):
    """What `read` makes of some files, as they were when it last succeeded.

    A file that cannot be used any more is told of once and changes nothing: the old ones stay good until somebody
    mends it, because locking everybody out, or letting everybody in, would both be worse.
    """

    what: str
    files: Sequence[Path]
    read: Callable[[], T]
    value: T = field(init=False)
    _mark: Mark = field(init=False)
    _told: str = ""
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._mark = _mark_of(self.files)
        self.value = self.read()

    def poll(self) -> None:
        """Read again what has changed since. Called every second or so, from any thread."""
        with self._lock:
            mark = _mark_of(self.files)
            if mark == self._mark:
                return
            try:
                value = self.read()
            except SidecarError as error:
                self._tell(str(error))
                return
            if _mark_of(self.files) == mark:  # else they changed while they were read: the next look takes them all
                self.value, self._mark, self._told = value, mark, ""
                log.info("%s: read again", self.what)

    def _tell(self, problem: str) -> None:
        if problem != self._told:
            self._told = problem
            log.error("%s: the new one cannot be used, and the old one stays: %s", self.what, problem)


def _mark_of(files: Sequence[Path]) -> Mark:
    """What changes when a file is replaced or written; a missing one is a change, too."""
    return tuple(_mark_of_one(file) for file in files)


def _mark_of_one(file: Path) -> tuple[int, ...]:
    try:
        found = file.stat()
    except OSError:
        return ()
    # The ctime, too: whoever copies a file may keep its mtime, and a token that was taken back has to go.
    return (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
