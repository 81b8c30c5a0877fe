"""Page tokens: a cursor and a fingerprint of the request, as URL-safe text; plain or encrypted.

The layers take and return cursors. Only `api` encodes them.
"""

import base64
import binascii
import secrets
import struct
from collections.abc import Sequence
from hashlib import blake2b

from memsidecar.domain.errors import InvalidField

KEY_BYTES = 32
_FINGERPRINT_BYTES = 6
_INTEGER_BYTES = 8
_SCORE_AND_TIME = struct.Struct(">dq")
_NONCE_BYTES = 8
_MAC_BYTES = 8

_INVALID = "is not a token of this server"
_OTHER_REQUEST = "is not a token of this request; only the size of the page may change"


def encode_position(position: Sequence[int], request: bytes) -> str:
    """Encode integers. The token is valid for the same request only."""
    return _to_text(_fingerprint(request) + _pack(position))


def decode_position(token: str, request: bytes, length: int) -> tuple[int, ...] | None:
    """Return the integers of a token; None for an empty one. Raises InvalidField for another request's token."""
    if not token:
        return None
    raw = _from_text(token)
    if len(raw) != _FINGERPRINT_BYTES + length * _INTEGER_BYTES:
        raise InvalidField("page_token", _INVALID)
    if raw[:_FINGERPRINT_BYTES] != _fingerprint(request):
        raise InvalidField("page_token", "belongs to another request; only the size of the page may change")
    position = _unpack(raw[_FINGERPRINT_BYTES:], length)
    if min(position) < 0:
        raise InvalidField("page_token", _INVALID)
    return position


def encode_id(last_id: str, request: bytes) -> str:
    """Encode the last id of a page."""
    return _encode(last_id.encode(), request)


def decode_id(token: str, request: bytes) -> str:
    """Return the id of a token; empty for an empty one. Raises InvalidField for the token of another request."""
    return _decode_text(_decode(token, request)) if token else ""


def encode_cursor(cursor: tuple[float, int, str], request: bytes) -> str:
    """Encode a cursor in an order by score, time and id."""
    score, time_us, last_id = cursor
    return _encode(_SCORE_AND_TIME.pack(score, time_us) + last_id.encode(), request)


def decode_cursor(token: str, request: bytes) -> tuple[float, int, str] | None:
    """Return the cursor of a token; None for an empty one. Raises InvalidField for the token of another request."""
    if not token:
        return None
    raw = _decode(token, request)
    if len(raw) <= _SCORE_AND_TIME.size:
        raise InvalidField("page_token", _INVALID)
    score, time_us = _SCORE_AND_TIME.unpack_from(raw)
    return score, time_us, _decode_text(raw[_SCORE_AND_TIME.size :])


def _encode(cursor: bytes, request: bytes) -> str:
    """Encode a cursor of any length. The fingerprint covers it, so that a truncated token is not valid."""
    return _to_text(_fingerprint(request + cursor) + cursor)


def _decode(token: str, request: bytes) -> bytes:
    raw = _from_text(token)
    fingerprint, cursor = raw[:_FINGERPRINT_BYTES], raw[_FINGERPRINT_BYTES:]
    if not cursor or fingerprint != _fingerprint(request + cursor):
        raise InvalidField("page_token", _OTHER_REQUEST)
    return cursor


def _fingerprint(request: bytes) -> bytes:
    return blake2b(request, digest_size=_FINGERPRINT_BYTES).digest()


def _pack(position: Sequence[int]) -> bytes:
    return struct.pack(f">{len(position)}q", *position)


def _unpack(raw: bytes, length: int) -> tuple[int, ...]:
    return struct.unpack(f">{length}q", raw)


def _decode_text(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        raise InvalidField("page_token", _INVALID) from None


def _to_text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


def _from_text(token: str) -> bytes:
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidField("page_token", _INVALID) from None


class EncryptedPageTokens:
    """Page tokens that hide their integers: an lsn tells how much other tenants write.

    The key is stored on disk, so that a token is valid after a restart.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key

    def encode(self, position: Sequence[int], request: bytes) -> str:
        """Encode integers. Two tokens of the same position differ."""
        nonce, packed = secrets.token_bytes(_NONCE_BYTES), _pack(position)
        return _to_text(nonce + self._mac(nonce, packed, request) + self._xor_keystream(nonce, packed))

    def decode(self, token: str, request: bytes, length: int) -> tuple[int, ...] | None:
        """Return the integers of a token; None for an empty one. Raises InvalidField for another request's token."""
        if not token:
            return None
        raw = _from_text(token)
        nonce, mac = raw[:_NONCE_BYTES], raw[_NONCE_BYTES : _NONCE_BYTES + _MAC_BYTES]
        packed = self._xor_keystream(nonce, raw[_NONCE_BYTES + _MAC_BYTES :])
        has_length = len(packed) == length * _INTEGER_BYTES
        if not has_length or not secrets.compare_digest(mac, self._mac(nonce, packed, request)):
            raise InvalidField("page_token", _OTHER_REQUEST)
        return _unpack(packed, length)

    def _xor_keystream(self, nonce: bytes, data: bytes) -> bytes:
        """Encrypt or decrypt: the function is its own inverse."""
        keystream = blake2b(nonce, key=self._key, person=b"mask").digest()
        return bytes(byte ^ key_byte for byte, key_byte in zip(data[: len(keystream)], keystream, strict=False))

    def _mac(self, nonce: bytes, packed: bytes, request: bytes) -> bytes:
        data = nonce + struct.pack(">q", len(packed)) + packed + request
        return blake2b(data, key=self._key, person=b"seal", digest_size=_MAC_BYTES).digest()
