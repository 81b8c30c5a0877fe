"""RAM of the process, and the limit of its control group: in a pod, the limit of the container. Linux only."""

import os
from collections.abc import Iterator
from pathlib import Path

_STATM = Path("/proc/self/statm")
_GROUPS = Path("/proc/self/cgroup")
_MOUNT = Path("/sys/fs/cgroup")
_NO_LIMIT_BYTES = 1 << 60
"The first version of control groups has a number near 2^63 for no limit."


def resident_bytes() -> int | None:
    """Return what of the process is in RAM; None where that is unknown."""
    try:
        return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def limit_bytes() -> int | None:
    """Return the RAM beyond which the kernel ends the process; None if there is no limit."""
    found = [limit for file in _limit_files() if (limit := _read_limit(file)) is not None]
    return min(found, default=None)


def _limit_files() -> Iterator[Path]:
    """Yield the files that may have the limit. In a container the group is the root of the mount."""
    yield from (_MOUNT / "memory.max", _MOUNT / "memory" / "memory.limit_in_bytes")
    try:
        lines = _GROUPS.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if not controllers:
            yield _MOUNT / path.lstrip("/") / "memory.max"
        elif "memory" in controllers.split(","):
            yield _MOUNT / "memory" / path.lstrip("/") / "memory.limit_in_bytes"


def _read_limit(file: Path) -> int | None:
    try:
        text = file.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() and int(text) < _NO_LIMIT_BYTES else None
