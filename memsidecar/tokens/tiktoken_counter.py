"""Exact counts by tiktoken, with vocabularies that are part of the package."""

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
from itertools import chain
from threading import Lock

import tiktoken

from memsidecar.domain.errors import DataCorrupted

VOCABULARY_DIR = files(__package__) / "vocab"

# Parsing in batches keeps temporary objects few: resident memory after loading is 10 MB lower.
_PARSE_BATCH_BYTES = 1 << 16

# tiktoken panics (a BaseException, with a backtrace on standard error) on more than about 1,000,000 white-space
# characters without a line break; no other input is known to do that. A run above this limit is counted in blocks: the
# count is the same if one character repeats, and differs by one token per block in a mixture.
MAX_WHITESPACE_RUN = 1 << 19
_BLOCK_CHARACTERS = MAX_WHITESPACE_RUN // 2

# White space as the encodings define it: Python's \s also has the separators 1C to 1F. The look-behind keeps the search
# linear: without it each position of a run would be tried as a start.
_WHITE = r"[^\S\r\n\x1c-\x1f]"
_OVERLONG_RUN = re.compile(f"(?<!{_WHITE}){_WHITE}{{{MAX_WHITESPACE_RUN + 1},}}")


@dataclass(frozen=True)
class Vocabulary:
    """Digest and pattern of an encoding; a test compares both with tiktoken's own.

    `split_patterns` are the alternatives of the pattern that splits a text before tokens are merged, in order.
    """

    sha256: str
    split_patterns: Sequence[str]


_UPPER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

VOCABULARIES: Mapping[str, Vocabulary] = {
    "o200k_base": Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        split_patterns=(
            r"[^\r\n\p{L}\p{N}]?" + _UPPER + "*" + _LOWER + "+" + _CONTRACTION,
            r"[^\r\n\p{L}\p{N}]?" + _UPPER + "+" + _LOWER + "*" + _CONTRACTION,
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
    """A vocabulary file is missing, unreadable or altered. Counts with it would be wrong without notice."""

    def __init__(self, name: str, path: str) -> None:
        super().__init__(f"the vocabulary {name} in {path} is damaged or missing: reinstall memsidecar", file=path)


def load_encoding(name: str, folder: Traversable = VOCABULARY_DIR) -> tiktoken.Encoding:
    """Read, verify and build one of VOCABULARIES; takes about 0.4 s. Raises CorruptedVocabulary."""
    ranks = _parse(_verified_content(name, folder))
    pattern = "|".join(VOCABULARIES[name].split_patterns)
    # No special tokens: their text in a message is plain text.
    encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    # Frees 20 MB: the encoder has a copy, and tiktoken keeps the dict only to pickle the encoding and to list tokens.
    ranks.clear()
    return encoding


def _verified_content(name: str, folder: Traversable) -> bytes:
    file = folder / f"{name}.tiktoken.gz"
    try:
        content = gzip.decompress(file.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        raise CorruptedVocabulary(name, str(file)) from error
    if hashlib.sha256(content).hexdigest() != VOCABULARIES[name].sha256:
        raise CorruptedVocabulary(name, str(file))
    return content


def _parse(content: bytes) -> dict[bytes, int]:
    """Parse lines of a base64 token and its rank."""
    ranks: dict[bytes, int] = {}
    lines = io.BytesIO(content)
    while batch := lines.readlines(_PARSE_BATCH_BYTES):
        fields = b"".join(batch).split()
        ranks.update(zip(map(a2b_base64, fields[::2]), map(int, fields[1::2]), strict=True))
    return ranks


class TiktokenCounter:
    """Loads its vocabulary at the first count, or in `warm`. Thread-safe."""

    exact = True
    adds_lines = True

    def __init__(self, name: str, folder: Traversable = VOCABULARY_DIR) -> None:
        self.name = name
        self._folder = folder
        self._encoding: tiktoken.Encoding | None = None
        self._loading = Lock()

    @property
    def ready(self) -> bool:
        """Whether the vocabulary is loaded."""
        return self._encoding is not None

    def warm(self) -> None:
        """Load now. A second thread waits for the first; the next caller repeats a failed load."""
        self._loaded()

    def count(self, text: str) -> int:
        return len(self.encode(text))

    def encode(self, text: str) -> list[int]:
        """Return the ranks of the text's tokens."""
        encoding = self._loaded()
        if len(text) <= MAX_WHITESPACE_RUN:
            return encoding.encode_ordinary(text)
        return list(chain.from_iterable(map(encoding.encode_ordinary, _blocks(text))))

    def tokens(self) -> Iterator[bytes]:
        """Yield all tokens of the vocabulary in the order of their ranks, without gaps."""
        encoding = self._loaded()
        return map(encoding.decode_single_token_bytes, range(encoding.n_vocab))

    def _loaded(self) -> tiktoken.Encoding:
        if self._encoding is not None:
            return self._encoding
        with self._loading:
            if self._encoding is None:
                self._encoding = load_encoding(self.name, self._folder)
            return self._encoding


def _blocks(text: str) -> Iterator[str]:
    """Yield the text in blocks; it is cut only inside overlong runs of white space."""
    start = 0
    for run in _OVERLONG_RUN.finditer(text):
        # The last block of a run is never short: a token could span the cut before a short one.
        for cut in range(run.start() + _BLOCK_CHARACTERS, run.end() - _BLOCK_CHARACTERS, _BLOCK_CHARACTERS):
            yield text[start:cut]
            start = cut
    yield text[start:]
