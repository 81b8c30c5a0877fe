"""Page tokens: opaque to callers, checked when they come back."""

import base64
import binascii
import struct
from collections.abc import Sequence
from hashlib import blake2b

from memsidecar.domain.errors import InvalidField

_SEAL_BYTES = 6
_NUMBER_BYTES = 8


def page_token(position: Sequence[int], request: bytes) -> str:
    """A token for going on at `position` with the same request."""
    packed = struct.pack(f">{len(position)}q", *position)
    return base64.urlsafe_b64encode(_seal(request) + packed).decode().rstrip("=")


def position_of(token: str, request: bytes, length: int) -> tuple[int, ...] | None:
    """Where to go on; None for an empty token. Raises InvalidField for one that this request did not get."""
    if not token:
        return None
    raw = _decoded(token)
    if len(raw) != _SEAL_BYTES + length * _NUMBER_BYTES:
        raise InvalidField("page_token", "is not a token of this server")
    if raw[:_SEAL_BYTES] != _seal(request):
        raise InvalidField("page_token", "belongs to another request; only the size of the page may change")
    position = struct.unpack(f">{length}q", raw[_SEAL_BYTES:])
    if min(position) < 0:
        raise InvalidField("page_token", "is not a token of this server")
    return position


def _decoded(token: str) -> bytes:
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidField("page_token", "is not a token of this server") from None


def _seal(request: bytes) -> bytes:
    return blake2b(request, digest_size=_SEAL_BYTES).digest()
