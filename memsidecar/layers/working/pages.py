"""Page tokens: opaque to callers, checked when they come back."""

import base64
import binascii
import struct
from collections.abc import Sequence
from hashlib import blake2b

from memsidecar.domain.errors import InvalidField

_SEAL_BYTES = 6
_NUMBER_BYTES = 8
_PLACE = struct.Struct(">dq")


def page_token(position: Sequence[int], request: bytes) -> str:
    """A token for going on at `position` with the same request."""
    packed = struct.pack(f">{len(position)}q", *position)
    return base64.urlsafe_b64encode(_seal(request) + packed).decode().rstrip("=")


def position_of(token: str, request: bytes, length: int) -> tuple[int, ...] | None:
    """Where to go on; None for an empty token. Raises InvalidField for one that this request did not get."""
    if not token:
        return None
    raw = decoded(token)
    if len(raw) != _SEAL_BYTES + length * _NUMBER_BYTES:
        raise InvalidField("page_token", "is not a token of this server")
    if raw[:_SEAL_BYTES] != _seal(request):
        raise InvalidField("page_token", "belongs to another request; only the size of the page may change")
    position = struct.unpack(f">{length}q", raw[_SEAL_BYTES:])
    if min(position) < 0:
        raise InvalidField("page_token", "is not a token of this server")
    return position


def id_token(last_id: str, request: bytes) -> str:
    """A token for going on behind an id with the same request."""
    return _sealed(last_id.encode(), request)


def last_id_of(token: str, request: bytes) -> str:
    """Behind which id to go on; empty for an empty token. Raises InvalidField for one that this request did not get."""
    return _text_of(_unsealed(token, request)) if token else ""


def place_token(place: tuple[float, int, str], request: bytes) -> str:
    """A token for going on behind a place in an order by a figure, a time and an id, with the same request."""
    figure, time_us, last_id = place
    return _sealed(_PLACE.pack(figure, time_us) + last_id.encode(), request)


def place_of(token: str, request: bytes) -> tuple[float, int, str] | None:
    """Behind which place to go on; None for an empty token. Raises InvalidField as the others do."""
    if not token:
        return None
    raw = _unsealed(token, request)
    if len(raw) <= _PLACE.size:
        raise InvalidField("page_token", "is not a token of this server")
    figure, time_us = _PLACE.unpack_from(raw)
    return figure, time_us, _text_of(raw[_PLACE.size :])


def _sealed(position: bytes, request: bytes) -> str:
    """An id may have any length, so a token that was cut would look like another: the seal is over the id, too."""
    return base64.urlsafe_b64encode(_seal(request + position) + position).decode().rstrip("=")


def _unsealed(token: str, request: bytes) -> bytes:
    raw = decoded(token)
    seal, position = raw[:_SEAL_BYTES], raw[_SEAL_BYTES:]
    if not position or seal != _seal(request + position):
        raise InvalidField("page_token", "is not a token of this request; only the size of the page may change")
    return position


def _text_of(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InvalidField("page_token", "is not a token of this server") from None


def decoded(token: str) -> bytes:
    """What stands in a token, whoever made it. Raises InvalidField for what is none."""
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidField("page_token", "is not a token of this server") from None


def _seal(request: bytes) -> bytes:
    return blake2b(request, digest_size=_SEAL_BYTES).digest()
