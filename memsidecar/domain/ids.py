"""Ids: what is one, and how the sidecar makes one."""

import os
import re
import time
from uuid import UUID

from memsidecar.domain.errors import InvalidField

MAX_ID_BYTES = 256

# Control characters (C0, DEL, C1) would make ids that look alike differ, and logs lie.
_PLAIN = re.compile(r"[^\x00-\x1f\x7f-\x9f]+")


def check_id(field: str, value: str) -> str:
    """Return the id, or raise InvalidField that says what is wrong with it."""
    if not value:
        raise InvalidField(field, "is required")
    if len(value) * 4 > MAX_ID_BYTES and len(value.encode()) > MAX_ID_BYTES:
        raise InvalidField(field, f"is longer than {MAX_ID_BYTES} bytes")
    if not _PLAIN.fullmatch(value):
        raise InvalidField(field, "contains a control character")
    return value


def optional_id(field: str, value: str) -> str:
    return check_id(field, value) if value else ""


def new_id() -> str:
    """A UUIDv7: sorts by time, so that rows made together stand together."""
    milliseconds = time.time_ns() // 1_000_000
    random = int.from_bytes(os.urandom(10), "big")
    high, low = random >> 68, random & (1 << 62) - 1
    return str(UUID(int=milliseconds << 80 | 0x7 << 76 | high << 64 | 0b10 << 62 | low))
