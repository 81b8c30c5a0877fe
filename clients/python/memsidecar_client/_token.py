"""The token that a client sends, from wherever it was told to take it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

TokenSource = Callable[[], str]
Stamp = tuple[int, int, int]


@dataclass
class TokenFile:
    """A file that is read again when it changes, so that a token can be rotated under a running agent.

    While the file is away or empty, which happens for a moment when it is replaced, the last token stays.
    """

    path: Path
    _seen: Stamp | None = field(default=None, init=False)
    _token: str = field(default="", init=False)

    def __call__(self) -> str:
        stamp = self._stamp()
        if stamp is not None and stamp != self._seen:
            self._token = self.path.read_text(encoding="utf-8").strip() or self._token
            self._seen = stamp
        return self._token

    def _stamp(self) -> Stamp | None:
        try:
            found = self.path.stat()
        except FileNotFoundError:
            if self._seen is None:
                raise
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino


def token_source(token: str | None, token_file: str | Path | None) -> TokenSource | None:
    """Raises FileNotFoundError for a file that is not there at all, ValueError for one that holds no token."""
    if token and token_file:
        raise ValueError("give a token or a token_file, not both")
    if token_file:
        source = TokenFile(Path(token_file))
        if not source():
            raise ValueError(f"{token_file} holds no token")
        return source
    return (lambda: token) if token else None
