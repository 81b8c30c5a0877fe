"""Page tokens that hold places in the log of everybody: unreadable, because they would tell what others do."""

import base64
import secrets
import struct
from collections.abc import Sequence
from hashlib import blake2b

from memsidecar.domain.errors import InvalidField
from memsidecar.layers.working.pages import decoded

KEY_BYTES = 32
_NONCE_BYTES = 8
_SEAL_BYTES = 8
_NUMBER_BYTES = 8


class HiddenPages:
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
        nonce, seal = raw[:_NONCE_BYTES], raw[_NONCE_BYTES : _NONCE_BYTES + _SEAL_BYTES]
        packed = self._masked(nonce, raw[_NONCE_BYTES + _SEAL_BYTES :])
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
        return blake2b(sealed, key=self._key, person=b"seal", digest_size=_SEAL_BYTES).digest()
