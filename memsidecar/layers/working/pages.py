"""Page tokens: opaque to callers, checked when they come back."""

import base64
import binascii
import json
from hashlib import blake2b

from memsidecar.domain.errors import InvalidField

_SEAL_BYTES = 6


def page_token(position: list[int], request: bytes) -> str:
    """A token for going on at `position` with the same request."""
    return base64.urlsafe_b64encode(_seal(request) + json.dumps(position).encode()).decode().rstrip("=")


def position_of(token: str, request: bytes, length: int) -> list[int] | None:
    """Where to go on; None for an empty token. Raises InvalidField for one that this request did not get."""
    if not token:
        return None
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
        position = json.loads(raw[_SEAL_BYTES:])
    except (binascii.Error, ValueError):
        raise InvalidField("page_token", "is not a token of this server") from None
    if raw[:_SEAL_BYTES] != _seal(request) or not _is_position(position, length):
        raise InvalidField("page_token", "belongs to another request; only page_size may change between pages")
    return list(position)


def _is_position(position: object, length: int) -> bool:
    return isinstance(position, list) and len(position) == length and all(type(one) is int for one in position)


def _seal(request: bytes) -> bytes:
    return blake2b(request, digest_size=_SEAL_BYTES).digest()
