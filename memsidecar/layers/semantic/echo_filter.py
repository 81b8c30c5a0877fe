"""Drops text the sidecar served itself."""

import threading
from collections import OrderedDict
from hashlib import blake2b

from memsidecar.domain.session import SessionKey
from memsidecar.domain.text import strip_injected

SESSIONS_KEPT, LINES_KEPT = 256, 2_000
SHORTEST_LINE = 12
"Characters; a shorter line ('yes, please') is said by anybody at any time: it makes no echo, but goes with one."
LINES_OF_AN_ECHO = 2
"A single line may be said twice; from so many on it is a copy."


class EchoFilter:
    """Remembers the lines of the newest contexts of each session in use, and since when. Thread-safe; RAM only."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._served: OrderedDict[SessionKey, OrderedDict[bytes, int]] = OrderedDict()

    def add_injected(self, key: SessionKey, last_sequence: int, *texts: str) -> None:
        """These texts go out; the session then stands at this message."""
        prints = [_print(line) for text in texts for line in _lines(text)]
        with self._lock:
            lines = self._served.setdefault(key, OrderedDict())
            self._served.move_to_end(key)
            for one in prints:
                lines.setdefault(one, last_sequence)
                lines.move_to_end(one)
            while len(lines) > LINES_KEPT:
                lines.popitem(last=False)
            while len(self._served) > SESSIONS_KEPT:
                self._served.popitem(last=False)

    def strip_echoes(self, key: SessionKey, sequence: int, text: str) -> str:
        """What of a message is the speaker's own: without what was served to the session before it."""
        text = strip_injected(text)
        with self._lock:
            served = self._served.get(key)
            echoed = {line for line in _lines(text) if served and served.get(_print(line), sequence) < sequence}
        if sum(len(line) >= SHORTEST_LINE for line in echoed) < LINES_OF_AN_ECHO:
            return text
        return "\n".join(line for line in text.splitlines() if line.strip() not in echoed)


def _lines(text: str) -> list[str]:
    return [stripped for line in text.splitlines() if (stripped := line.strip())]


def _print(line: str) -> bytes:
    return blake2b(line.encode(), digest_size=8).digest()
