"""Bearer tokens: their format and their hash."""

import hashlib
import hmac
import secrets
from typing import NamedTuple

PREFIX = "msc"
HASH_SCHEME = "sha256:"
_ID_BYTES = 6
_SECRET_BYTES = 32


class Token(NamedTuple):
    """A bearer token. Clients send its text: `msc_<id>_<secret>`."""

    id: str
    secret: str

    @property
    def text(self) -> str:
        return f"{PREFIX}_{self.id}_{self.secret}"

    @property
    def hash(self) -> str:
        return HASH_SCHEME + hashlib.sha256(self.text.encode()).hexdigest()


def new_token() -> Token:
    return Token(secrets.token_hex(_ID_BYTES), secrets.token_urlsafe(_SECRET_BYTES))


def read_token(text: str) -> Token | None:
    """Return the token; None for a text without its format."""
    prefix, _, rest = text.partition("_")
    id, _, secret = rest.partition("_")
    return Token(id, secret) if prefix == PREFIX and id and secret else None


def matches(token: Token, stored_hash: str) -> bool:
    """Compare in constant time."""
    return hmac.compare_digest(token.hash.encode(), stored_hash.encode())
