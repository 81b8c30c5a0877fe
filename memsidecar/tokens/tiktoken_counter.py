"""Exact counts, shipped vocabularies."""

import gzip
import hashlib
import io
import re
import zlib
from binascii import a2b_base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from threading import Lock

import tiktoken

from memsidecar.domain.errors import DataCorrupted

VOCABULARY_DIR = files(__package__) / "vocab"

# Parsing in pieces keeps the passing garbage small: resident memory after loading is 10 MB lower than in one go.
_PARSED_AT_ONCE_BYTES = 1 << 16

# tiktoken panics (a BaseException, with a backtrace on standard error) on a run of more than about 1,000,000 white
# characters without a line break; nothing else was found to upset it. A longer run than this is counted in blocks:
# the same count where one character repeats, a token more or less per block in a mixture.
MAX_WHITESPACE_RUN = 1 << 19
_BLOCK = MAX_WHITESPACE_RUN // 2

# White space as the encodings see it: Python's \s also has the separators 1C to 1F, which they do not. The
# look-behind keeps the search linear, for without it each place in a run would be tried as a beginning.
_WHITE = r"[^\S\r\n\x1c-\x1f]"
_TOO_LONG_WHITE_RUN = re.compile(f"(?<!{_WHITE}){_WHITE}{{{MAX_WHITESPACE_RUN + 1},}}")


@dataclass(frozen=True)
class Vocabulary:
    """What tiktoken knows of an encoding besides the ranks; a test holds both equal to tiktoken's own.

    `pieces` are the alternatives of the pattern that cuts a text before tokens are merged, in order.
    """

    sha256: str
    split_patterns: Sequence[str]


_CAPITALS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_SMALL_LETTERS = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

VOCABULARIES: Mapping[str, Vocabulary] = {
    "o200k_base": Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        split_patterns=(
            r"[^\r\n\p{L}\p{N}]?" + _CAPITALS + "*" + _SMALL_LETTERS + "+" + _CONTRACTION,
            r"[^\r\n\p{L}\p{N}]?" + _CAPITALS + "+" + _SMALL_LETTERS + "*" + _CONTRACTION,
            r"\p{N}{1,3}",
            r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
            r"\s*[\r\n]+",
            r"\s+(?!\S)",
            r"\s+",
        ),
    ),
    "cl100k_base": Vocabulary(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        split_patterns=(
            r"'(?i:[sdmt]|ll|ve|re)",
            r"[^\r\n\p{L}\p{N}]?+\p{L}++",
            r"\p{N}{1,3}+",
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
            r"\s++$",
            r"\s*[\r\n]",
            r"\s+(?!\S)",
            r"\s",
        ),
    ),
}


class CorruptedVocabulary(DataCorrupted):
    """A shipped vocabulary is missing, unreadable or altered. Counting with it would be silently wrong."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(f"the vocabulary {name} in {path} is damaged or missing: reinstall memsidecar", file=path)


def load_encoding(name: str, folder: Traversable = VOCABULARY_DIR) -> tiktoken.Encoding:
    """Read, verify and build one of VOCABULARIES; takes about 0.4 s. Raises DamagedVocabulary."""
    ranks = _parse(_verified_content(name, folder))
    pattern = "|".join(VOCABULARIES[name].split_patterns)
    # No special tokens: in a message their text is plain text.
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    # The encoder has copied the ranks; tiktoken keeps this dict only for pickling and listing tokens. Frees 20 MB.
    ranks.clear()
    return encoding


def _verified_content(name: str, folder: Traversable) -> bytes:
    file = folder / f"{name}.tiktoken.gz"
    try:
        content = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as unreadable:
        raise CorruptedVocabulary(name, str(file)) from unreadable
    if hashlib.sha256(content).hexdigest() != VOCABULARIES[name].sha256:
        raise CorruptedVocabulary(name, str(file))
    return content


def _parse(content: bytes) -> dict[bytes, int]:
    """Each line is a token in base64 and its rank."""
    ranks: dict[bytes, int] = {}
    lines = io.BytesIO(content)
    while batch := lines.readlines(_PARSED_AT_ONCE_BYTES):
        fields = b"".join(batch).split()
        ranks.update(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    return ranks


class TiktokenCounter:
    """Loads its vocabulary at the first count, or before it by `warm`; making one costs nothing."""

    exact = True

    def __init__(self, name: str, folder: Traversable = VOCABULARY_DIR) -> None:
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
        if len(text) <= MAX_WHITESPACE_RUN:
            return len(encoding.encode_ordinary(text))
        return sum(len(encoding.encode_ordinary(part)) for part in _blocks(text))

    def _loaded(self) -> tiktoken.Encoding:
        if self._encoding is not None:
            return self._encoding
        with self._loading:
            if self._encoding is None:
                self._encoding = load_encoding(self.name, self._folder)
            return self._encoding


def _blocks(text: str) -> Iterator[str]:
    """The text, cut only inside runs of white space that are too long to be encoded."""
    start = 0
    for run in _TOO_LONG_WHITE_RUN.finditer(text):
        # The last part is never short, because a merged token may reach over the border before a short one.
        for cut in range(run.start() + _BLOCK, run.end() - _BLOCK, _BLOCK):
            yield text[start:cut]
            start = cut
    yield text[start:]
