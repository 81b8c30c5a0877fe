"""Control group with a memory limit, of version 1 or 2."""

import os
from itertools import count
from pathlib import Path

CGROUPS = Path("/sys/fs/cgroup")
LIMIT_FILES = {CGROUPS / "memory": "memory.limit_in_bytes", CGROUPS: "memory.max"}
_numbers = count(1)


class MemoryGroup:
    """Limits the memory of the processes that join it. Without a folder if this machine does not let root make one.

    An address space limit (RLIMIT_AS) is no substitute: LanceDB and Arrow reserve gigabytes that they never use.
    """

    def __init__(self, limit_bytes: int) -> None:
        self.folder: Path | None = None
        self.problems: list[str] = []
        for parent, file in LIMIT_FILES.items():
            folder = parent / f"memsidecar-test-{os.getpid()}-{next(_numbers)}"
            try:
                self._make(folder, file, limit_bytes)
            except OSError as error:
                self.problems.append(str(error))
            else:
                self.folder = folder
                return

    @staticmethod
    def _make(folder: Path, file: str, limit_bytes: int) -> None:
        folder.mkdir()
        try:
            with (folder / file).open("r+") as limit:
                limit.write(str(limit_bytes))
        except OSError:
            folder.rmdir()
            raise

    @property
    def procs(self) -> Path | None:
        """Return the file to which a process writes 0 to join."""
        return self.folder / "cgroup.procs" if self.folder else None

    def close(self) -> None:
        if self.folder:
            self.folder.rmdir()
