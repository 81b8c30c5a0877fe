"""A value read from files, and read again when they change."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Generic, TypeVar

from memsidecar.domain.errors import SidecarError

log = logging.getLogger(__name__)

T = TypeVar("T")
Fingerprint = tuple[tuple[int, ...], ...]


@dataclass
class ReloadingFile(Generic[T]):
    """The result of `read` as of its last success.

    An invalid file is logged once and changes nothing: the previous value stays in use until the file is repaired,
    because rejecting every caller, or admitting every caller, would both be worse.
    """

    what: str
    files: Sequence[Path]
    read: Callable[[], T]
    value: T = field(init=False)
    _fingerprint: Fingerprint = field(init=False)
    _logged_problem: str = ""
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self._fingerprint = _fingerprint_of(self.files)
        self.value = self.read()

    def poll(self) -> None:
        """Read the files if they have changed. Called about every second, from any thread."""
        with self._lock:
            fingerprint = _fingerprint_of(self.files)
            if fingerprint == self._fingerprint:
                return
            try:
                value = self.read()
            except SidecarError as error:
                self._log_once(str(error))
                return
            if _fingerprint_of(self.files) == fingerprint:  # else they changed while being read: left to the next poll
                self.value, self._fingerprint, self._logged_problem = value, fingerprint, ""
                log.info("%s: read again", self.what)

    def _log_once(self, problem: str) -> None:
        if problem != self._logged_problem:
            self._logged_problem = problem
            log.error("%s: the new one cannot be used, and the old one stays: %s", self.what, problem)


def _fingerprint_of(files: Sequence[Path]) -> Fingerprint:
    """Return a value that changes when a file is replaced, written or removed."""
    return tuple(_stat_of(file) for file in files)


def _stat_of(file: Path) -> tuple[int, ...]:
    try:
        stat = file.stat()
    except OSError:
        return ()
    # The ctime too: a copied file may keep the mtime, and a revoked token must not stay valid because of it.
    return (stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size)
