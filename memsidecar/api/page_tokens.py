"""Page tokens: opaque to clients, and valid only for the request that they continue.

A token holds the cursor of a page: the sort key of its last item. It is encrypted, because a cursor may hold an lsn,
which would tell a tenant how much others write. The key outlives the process, so a client can turn the page after a
restart.
"""

import base64
import binascii
import secrets
import struct
from collections.abc import Sequence
from hashlib import blake2b, shake_256
from typing import Any

from google.protobuf.message import Message

from memsidecar.domain.errors import InvalidField
from memsidecar.domain.session import DEFAULT_NAMESPACE

KEY_BYTES = 32
_NONCE_BYTES = 8
_MAC_BYTES = 10
_MAX_TOKEN_CHARACTERS = 1_024
"The longest cursor is an id of 256 bytes and two numbers."
_PAGE_FIELDS = ("page_token", "page_size", "limit", "cursor")
"The fields of a request that may differ from page to page."
_FORMATS = {int: ">q", float: ">d", str: ">I"}
"Numbers have a fixed width: the length of a token must not depend on an lsn. A text follows its length."

_NOT_OF_THIS_REQUEST = {
    "page_token": "is not a token of this request: only a page size may change",
    "cursor": "is not a cursor of this request: sidecar, namespace, user and session must be those that it came from",
}
"By field: what is wrong with a token that was not made for the request, or was changed."

Cursor = Sequence[int | float | str]


class PageTokens:
    """Encodes cursors as page tokens."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def encode(self, request: Message, cursor: Cursor | None) -> str:
        """Return a token for the next page of `request`; an empty one if the cursor is None."""
        return "" if cursor is None else self.of_request(request).encode(cursor)

    def decode(self, request: Any, *types: type, field: str = "page_token") -> tuple[Any, ...] | None:
        """Return the cursor of a request's token, values of these types; None for the first page.

        Raises InvalidField for the token of another request.
        """
        token = getattr(request, field)
        if not token:
            return None
        return self.of_request(request).decode(field, token, types)

    def of_request(self, request: Message) -> "RequestTokens":
        """Return the tokens of one request, for a stream that makes many of them."""
        return RequestTokens(self._key, _fingerprint(request))


class RequestTokens:
    """Encodes cursors as tokens of one request."""

    def __init__(self, key: bytes, fingerprint: bytes) -> None:
        self._key = key
        self._fingerprint = fingerprint

    def encode(self, cursor: Cursor) -> str:
        nonce, types = secrets.token_bytes(_NONCE_BYTES), [type(value) for value in cursor]
        encrypted = self._apply_keystream(nonce, b"".join(map(_pack, cursor)))
        raw = nonce + self._mac(nonce, encrypted, types) + encrypted
        return base64.urlsafe_b64encode(raw).decode().rstrip("=")

    def decode(self, field: str, token: str, types: Sequence[type]) -> tuple[Any, ...]:
        """Return the cursor of a token, values of these types. Raises InvalidField for that of another request."""
        raw = _from_base64(field, token)
        nonce, mac = raw[:_NONCE_BYTES], raw[_NONCE_BYTES : _NONCE_BYTES + _MAC_BYTES]
        encrypted = raw[_NONCE_BYTES + _MAC_BYTES :]
        if not secrets.compare_digest(mac, self._mac(nonce, encrypted, types)):
            raise InvalidField(field, _NOT_OF_THIS_REQUEST[field])
        return _unpack(self._apply_keystream(nonce, encrypted), types)

    def _apply_keystream(self, nonce: bytes, text: bytes) -> bytes:
        """Encrypt or decrypt: XOR with a keystream is its own inverse."""
        keystream = shake_256(self._key + nonce).digest(len(text))
        return bytes(byte ^ key_byte for byte, key_byte in zip(text, keystream, strict=True))

    def _mac(self, nonce: bytes, encrypted: bytes, types: Sequence[type]) -> bytes:
        """Authenticate the cursor, its types and the request: a version with another cursor rejects the token."""
        layout = "".join(_FORMATS[value_type] for value_type in types).encode()
        data = nonce + struct.pack(">II", len(layout), len(encrypted)) + layout + encrypted + self._fingerprint
        return blake2b(data, key=self._key, person=b"page token", digest_size=_MAC_BYTES).digest()


def _fingerprint(request: Message) -> bytes:
    """Return the request's type and its fields, except those that may differ from page to page."""
    copy: Any = type(request)()
    copy.CopyFrom(request)
    copy.namespace = copy.namespace or DEFAULT_NAMESPACE
    for field in _PAGE_FIELDS:
        if field in request.DESCRIPTOR.fields_by_name:
            copy.ClearField(field)
    name: str = request.DESCRIPTOR.full_name
    return name.encode() + b"\0" + copy.SerializeToString(deterministic=True)  # type: ignore[no-any-return]


def _pack(value: int | float | str) -> bytes:
    if isinstance(value, str):
        text = value.encode()
        return struct.pack(_FORMATS[str], len(text)) + text
    return struct.pack(_FORMATS[type(value)], value)


def _unpack(plain: bytes, types: Sequence[type]) -> tuple[Any, ...]:
    values: list[Any] = []
    for value_type in types:
        (value,) = struct.unpack_from(_FORMATS[value_type], plain)
        plain = plain[struct.calcsize(_FORMATS[value_type]) :]
        if value_type is str:
            length: int = value
            value, plain = plain[:length].decode(), plain[length:]
        values.append(value)
    return tuple(values)


def _from_base64(field: str, token: str) -> bytes:
    if len(token) > _MAX_TOKEN_CHARACTERS:
        raise InvalidField(field, _NOT_OF_THIS_REQUEST[field])
    try:
        return base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise InvalidField(field, _NOT_OF_THIS_REQUEST[field]) from None
