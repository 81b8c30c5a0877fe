"""Byte sizes as text: parse and format values such as 64MiB."""

import re

KIB = 1024
MIB = 1024 * KIB
GIB = 1024 * MIB

BYTES_PER_UNIT = {
    "b": 1,
    "kib": KIB,
    "mib": MIB,
    "gib": GIB,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
}
SIZE = re.compile(r"(?P<count>[0-9]{1,18})\s*(?P<unit>[a-z]*)", re.IGNORECASE)


def parse_size(given: object) -> int:
    """Return 65536, "65536", "64KiB" or "1GB" in bytes; raise ValueError for anything else."""
    match = SIZE.fullmatch(str(given).strip())
    if isinstance(given, bool) or match is None:
        raise ValueError("is no size: expected bytes, or a size such as 64MiB or 1GB")
    unit = match["unit"].lower() or "b"
    if unit not in BYTES_PER_UNIT:
        raise ValueError("has an unknown unit: expected B, KB, MB, GB, KiB, MiB or GiB")
    return int(match["count"]) * BYTES_PER_UNIT[unit]


def format_size(size_bytes: int) -> str:
    """Return the shortest exact text for a size."""
    for unit, unit_bytes in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if size_bytes and size_bytes % unit_bytes == 0:
            return f"{size_bytes // unit_bytes}{unit}"
    return str(size_bytes)
