"""Counts that equal the provider's: tiktoken with a shipped vocabulary."""

import re
from collections.abc import Iterator
from importlib.resources.abc import Traversable
from threading import Lock

import tiktoken

from memsidecar.tokens.vocabulary import SHIPPED, load_encoding

# tiktoken panics (a BaseException, with a backtrace on standard error) on a run of more than about 1,000,000 white
# characters without a line break; nothing else was found to upset it. A longer run than this is counted in blocks:
# the same count where one character repeats, a token more or less per block in a mixture.
LONGEST_WHITE_RUN = 1 << 19
_BLOCK = LONGEST_WHITE_RUN // 2

# White space as the encodings see it: Python's \s also has the separators 1C to 1F, which they do not. The
# look-behind keeps the search linear, for without it each place in a run would be tried as a beginning.
_WHITE = r"[^\S\r\n\x1c-\x1f]"
_TOO_LONG_WHITE_RUN = re.compile(f"(?<!{_WHITE}){_WHITE}{{{LONGEST_WHITE_RUN + 1},}}")


class TiktokenCounter:
    """Loads its vocabulary at the first count, or before it by `warm`; making one costs nothing."""

    exact = True

    def __init__(self, name: str, folder: Traversable = SHIPPED) -> None:
        self.name = name
        self._folder = folder
        self._encoding: tiktoken.Encoding | None = None
        self._loading = Lock()

    @property
    def ready(self) -> bool:
        """Whether the next count is free of loading."""
        return self._encoding is not None

    def warm(self) -> None:
        """Load now. A second thread waits for the first; a failed load is tried again by the next caller."""
        self._loaded()

    def count(self, text: str) -> int:
        encoding = self._loaded()
        if len(text) <= LONGEST_WHITE_RUN:
            return len(encoding.encode_ordinary(text))
        return sum(len(encoding.encode_ordinary(part)) for part in _parts(text))

    def _loaded(self) -> tiktoken.Encoding:
        if self._encoding is not None:
            return self._encoding
        with self._loading:
            if self._encoding is None:
                self._encoding = load_encoding(self.name, self._folder)
            return self._encoding


def _parts(text: str) -> Iterator[str]:
    """The text, cut only inside runs of white space that are too long to be encoded."""
    start = 0
    for run in _TOO_LONG_WHITE_RUN.finditer(text):
        # The last part is never short, because a merged token may reach over the border before a short one.
        for cut in range(run.start() + _BLOCK, run.end() - _BLOCK, _BLOCK):
            yield text[start:cut]
            start = cut
    yield text[start:]
