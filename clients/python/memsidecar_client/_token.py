"""The token of a client, from its settings, a file or the environment."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

TokenSource = Callable[[], str]
Stamp = tuple[int, int, int]


@dataclass
class TokenFile:
    """A file that is read again when it changes, so that a token can be rotated under a running agent.

    While it is away, empty or holds no token, which happens for a moment when it is replaced, the last token stays.
    """

    path: Path
    _seen: Stamp | None = field(default=None, init=False)
    _token: str = field(default="", init=False)

    def __post_init__(self) -> None:
        """Raises OSError for a file that cannot be read, ValueError for one that holds no token."""
        self._seen, self._token = self._stamp(), checked(self._text(), f"{self.path} holds")

    def __call__(self) -> str:
        with suppress(OSError, ValueError):
            stamp = self._stamp()
            if stamp != self._seen:
                self._token = checked(self._text(), "")
                self._seen = stamp
        return self._token

    def _text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def _stamp(self) -> Stamp:
        found = self.path.stat()
        return found.st_mtime_ns, found.st_size, found.st_ino


def token_source(token: str | None, token_file: str | Path | None) -> TokenSource | None:
    """Return a function that gives the token. Raises ValueError for an invalid token, OSError for a missing file."""
    if token and token_file:
        raise ValueError("give a token or a token_file, not both")
    if token_file:
        return TokenFile(Path(token_file))
    if not token:
        return None
    good = checked(token, "this is")
    return lambda: good


def checked(text: str, where: str) -> str:
    """Return the token without white space around it. The error does not show the text, which may be a token."""
    token = text.strip()
    if not token or not all("!" <= sign <= "~" for sign in token):
        raise ValueError(f"{where} no token: one has only letters, digits and signs of ASCII")
    return token
