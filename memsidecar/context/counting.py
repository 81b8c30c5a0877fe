"""Counting each text once: most of a context is the same from turn to turn."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from hashlib import blake2b

from memsidecar.tokens.contract import Counter

COUNTS_KEPT = 65_536
_WORTH_REMEMBERING = 32
"Characters; a shorter text is counted sooner than looked up."


class Counts:
    """What texts cost, by a print of them: none of what was said stays here. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, bytes], int] = OrderedDict()

    def by(self, counter: Counter) -> Callable[[str], int]:
        def count(text: str) -> int:
            if len(text) < _WORTH_REMEMBERING:
                return counter.count(text)
            key = (counter.name, blake2b(text.encode(), digest_size=16).digest())
            with self._lock:
                known = self._known.get(key)
                if known is not None:
                    self._known.move_to_end(key)
                    return known
            tokens = counter.count(text)
            with self._lock:
                self._known[key] = tokens
                while len(self._known) > COUNTS_KEPT:
                    self._known.popitem(last=False)
            return tokens

        return count
