"""Echo filter: drops text from messages that the sidecar itself injected into a context."""

import threading
from collections import OrderedDict
from hashlib import blake2b

from memsidecar.domain.session import SessionKey
from memsidecar.domain.text import strip_injected

MAX_SESSIONS, MAX_LINES = 256, 2_000
MIN_LINE_CHARACTERS = 12
"""Shorter lines ("yes, please") are too common to prove an echo. They are dropped together with one."""
MIN_ECHOED_LINES = 2
"""A single equal line may be a coincidence; this many are a copy."""


class EchoFilter:
    """Hashes of the lines of recent contexts, by session, each with the sequence it was injected after.

    In RAM only. Thread-safe.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._injected: OrderedDict[SessionKey, OrderedDict[bytes, int]] = OrderedDict()

    def add_injected(self, key: SessionKey, last_sequence: int, *texts: str) -> None:
        """Remember the texts of a context that was built when the session's last message was `last_sequence`."""
        hashes = [_hash(line) for text in texts for line in _lines(text)]
        with self._lock:
            lines = self._injected.setdefault(key, OrderedDict())
            self._injected.move_to_end(key)
            for line_hash in hashes:
                lines.setdefault(line_hash, last_sequence)
                lines.move_to_end(line_hash)
            while len(lines) > MAX_LINES:
                lines.popitem(last=False)
            while len(self._injected) > MAX_SESSIONS:
                self._injected.popitem(last=False)

    def strip_echoes(self, key: SessionKey, sequence: int, text: str) -> str:
        """Return the message text without lines that were injected into the session before the message."""
        text = strip_injected(text)
        with self._lock:
            injected = self._injected.get(key)
            echoed = {line for line in _lines(text) if injected and injected.get(_hash(line), sequence) < sequence}
        if sum(len(line) >= MIN_LINE_CHARACTERS for line in echoed) < MIN_ECHOED_LINES:
            return text
        return "\n".join(line for line in text.splitlines() if line.strip() not in echoed)


def _lines(text: str) -> list[str]:
    return [stripped for line in text.splitlines() if (stripped := line.strip())]


def _hash(line: str) -> bytes:
    return blake2b(line.encode(), digest_size=8).digest()
