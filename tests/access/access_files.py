"""Access files and their tokens, for tests."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self

from memsidecar.access.access_file import token_lines
from memsidecar.access.bearer_token import Token, new_token
from memsidecar.access.policy import AccessRole
from tests.support import canaries

LONG_AGO = datetime(2020, 1, 31, tzinfo=UTC)


def secret_token() -> Token:
    """Return a new token; the test session fails if a log contains its secret."""
    token = new_token()
    canaries.secret(token.secret)
    return token


@dataclass(frozen=True)
class Grant:
    """A token with its entry in the access file."""

    name: str
    namespaces: tuple[str, ...]
    role: AccessRole = AccessRole.WRITE
    expires: datetime | None = None
    token: Token = field(default_factory=secret_token)

    @property
    def text(self) -> str:
        return self.token.text

    @property
    def lines(self) -> str:
        return token_lines(self.token, self.name, self.namespaces, self.role, self.expires)

    def rotated(self) -> Self:
        """Return the entry with a new token for the same caller."""
        return replace(self, token=secret_token())

    def expiring_in(self, seconds: float) -> Self:
        return replace(self, expires=datetime.now(UTC) + timedelta(seconds=seconds))


def write_access_file(file: Path, grants: Iterable[Grant]) -> Path:
    """Replace the file atomically, as a mounted secret is replaced."""
    fresh = file.with_name(f"{file.name}.fresh")
    fresh.write_text("\n".join(grant.lines for grant in grants), encoding="utf-8")
    return fresh.replace(file)
