"""One signed page-token codec, one encrypted variant."""

import base64
import binascii
import secrets
import struct
from collections.abc import Sequence
from hashlib import blake2b

from memsidecar.domain.errors import InvalidField

_SEAL_BYTES = 6
_NUMBER_BYTES = 8
_PLACE = struct.Struct(">dq")

KEY_BYTES = 32
_NONCE_BYTES = 8
_MAC_BYTES = 8
_NUMBER_BYTES = 8


def encode_position(position: Sequence[int], request: bytes) -> str:
    """A token for going on at `position` with the same request."""
    packed = struct.pack(f">{len(position)}q", *position)
    return base64.urlsafe_b64encode(_seal(request) + packed).decode().rstrip("=")


def decode_position(token: str, request: bytes, length: int) -> tuple[int, ...] | None:
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


def encode_id(last_id: str, request: bytes) -> str:
    """A token for going on behind an id with the same request."""
    return _sealed(last_id.encode(), request)


def decode_id(token: str, request: bytes) -> str:
    """Behind which id to go on; empty for an empty token. Raises InvalidField for one that this request did not get."""
    return _text_of(_unsealed(token, request)) if token else ""


def encode_cursor(place: tuple[float, int, str], request: bytes) -> str:
    """A token for going on behind a place in an order by a figure, a time and an id, with the same request."""
    figure, time_us, last_id = place
    return _sealed(_PLACE.pack(figure, time_us) + last_id.encode(), request)


def decode_cursor(token: str, request: bytes) -> tuple[float, int, str] | None:
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


class EncryptedPageTokens:
    """The key outlives the process, so that a page can be turned after a restart."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def token(self, position: Sequence[int], request: bytes) -> str:
        """A token for going on at `position` with the same request; never the same twice."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        packed = struct.pack(f">{len(position)}q", *position)
        raw = nonce + self._seal(nonce, packed, request) + self._masked(nonce, packed)
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def position(self, token: str, request: bytes, length: int) -> tuple[int, ...] | None:
        """Where to go on; None for an empty token. Raises InvalidField for one that this request did not get."""
        if not token:
            return None
        raw = decoded(token)
        nonce, seal = raw[:_NONCE_BYTES], raw[_NONCE_BYTES : _NONCE_BYTES + _MAC_BYTES]
        packed = self._masked(nonce, raw[_NONCE_BYTES + _MAC_BYTES :])
        is_ours = len(packed) == length * _NUMBER_BYTES
        if not is_ours or not secrets.compare_digest(seal, self._seal(nonce, packed, request)):
            raise InvalidField("page_token", "is not a token of this request; only the size of the page may change")
        return struct.unpack(f">{length}q", packed)

    def _masked(self, nonce: bytes, packed: bytes) -> bytes:
        """The same again gives the numbers back."""
        mask = blake2b(nonce, key=self._key, person=b"mask").digest()
        return bytes(one ^ other for one, other in zip(packed[: len(mask)], mask, strict=False))

    def _seal(self, nonce: bytes, packed: bytes, request: bytes) -> bytes:
        sealed = nonce + struct.pack(">q", len(packed)) + packed + request
        return blake2b(sealed, key=self._key, person=b"seal", digest_size=_MAC_BYTES).digest()
