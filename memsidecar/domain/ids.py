"""Validation of caller-supplied ids, generation of new ones."""

import os
import re
import time
from uuid import UUID

from memsidecar.domain.errors import InvalidField

MAX_ID_BYTES = 256

# Control characters (C0, DEL, C1) are invisible: ids that look alike would differ, and logs could be forged.
_WITHOUT_CONTROL_CHARACTERS = re.compile(r"[^\x00-\x1f\x7f-\x9f]+")


def check_id(field: str, value: str) -> str:
    """Return the id; raise InvalidField if it is empty, too long or has a control character."""
    if not value:
        raise InvalidField(field, "is required")
    if len(value) * 4 > MAX_ID_BYTES and len(value.encode()) > MAX_ID_BYTES:
        raise InvalidField(field, f"is longer than {MAX_ID_BYTES} bytes")
    if not _WITHOUT_CONTROL_CHARACTERS.fullmatch(value):
        raise InvalidField(field, "contains a control character")
    return value


def optional_id(field: str, value: str) -> str:
    return check_id(field, value) if value else ""


def new_id() -> str:
    """Return a UUIDv7. It sorts by time, so rows created together are adjacent in an index."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    high, low = random >> 68, random & (1 << 62) - 1
    return str(UUID(int=milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low))
