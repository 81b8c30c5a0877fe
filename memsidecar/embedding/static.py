"""The bundled model, which is files of the wordllama wheel, and its embedder: the mean of the token vectors."""

import hashlib
import json
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memsidecar.embedding.contract import EmbedderMismatch, InvalidEmbedder, Vectors, unit_rows

PACKAGE = "wordllama"
MODEL = "wordllama-l2_supercat"
DIMENSIONS = 256

MATRIX = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

# An embedder's identity promises the same vectors for ever, so other weights must not be used under it.
SHA256: Mapping[str, str] = {
    MATRIX: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}

_TENSOR = "embedding.weight"
_HEADER_LENGTH = struct.Struct("<Q")

# Part of the identity, which must change with the vectors. The lengths of the token vectors reflect rarity already, so
# that further weights gain nothing: measured in docs/decisions/ranking.md.
POOLING = "mean"

# The model was trained so that prefixes of these lengths are vectors, too (Matryoshka).
SUPPORTED_DIMENSIONS = (64, 128, 256)

# About 1,400 words; more tokens make the sum less specific. It bounds the time for a message of 1 MiB: 2 ms for cached
# words, 5 to 8 ms for a script that is tokenized byte by byte, 10 ms if no word is cached.
MAX_TEXT_BYTES = 8_192

# A conversation repeats its words: with cached tokens a text takes a fifth of the time. The full cache has about 5 MB.
WORD_CACHE_SIZE = 1 << 14

# Longer ones are no words (a script without spaces, base64). They are not cached, and are tokenized without the GIL,
# because that takes long.
MAX_CACHED_WORD_CHARACTERS = 64

# Texts of one batch share the rows that are converted from float16. This many hold the GIL for 1 to 2 ms; more would
# hold it longer and need more memory.
BATCH_TEXTS = 16

TokenizeWord = Callable[[str], Sequence[int]]

_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~\s]*")


@dataclass(frozen=True)
class StaticModel:
    """Has one row of the matrix for each token."""

    tokenizer: Tokenizer
    matrix: NDArray[np.float16]


class BundledModel:
    """Loads the model at first use, once. The constructor only checks that the files exist. Thread-safe."""

    def __init__(self, folder: Path | None = None) -> None:
        """Raises InvalidEmbedder if the package is not installed."""
        self._folder = folder or _package_folder()
        self._model: StaticModel | None = None
        self._loading = Lock()
        for file in SHA256:
            if not (self._folder / file).is_file():
                raise InvalidEmbedder(f"the bundled model is not complete: {self._folder / file} is missing")

    @property
    def ready(self) -> bool:
        return self._model is not None

    def loaded(self) -> StaticModel:
        """Return the model. A second thread waits for the first; the next caller repeats a failed load."""
        if self._model is not None:
            return self._model
        with self._loading:
            if self._model is None:
                self._model = _load(self._folder)
            return self._model


def _package_folder() -> Path:
    spec = find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise InvalidEmbedder(f"the bundled model is not installed: the package {PACKAGE} is missing")
    return Path(spec.submodule_search_locations[0])


def _load(folder: Path) -> StaticModel:
    for file, sha256 in SHA256.items():
        _verify(folder / file, sha256)
    tokenizer = Tokenizer.from_file(str(folder / TOKENIZER))
    # The text of a special token in a message is plain text.
    tokenizer.encode_special_tokens = True
    return StaticModel(tokenizer, _map_matrix(folder / MATRIX))


def _verify(file: Path, sha256: str) -> None:
    try:
        with file.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderMismatch(f"the bundled model cannot be read: {file}") from error
    if found != sha256:
        raise EmbedderMismatch(f"the bundled model is damaged or of another version: {file}")


def _map_matrix(file: Path) -> NDArray[np.float16]:
    """Map the matrix into memory: only rows that texts use become resident, and the system may evict them.

    The library `safetensors` can only copy a tensor. The format is a length, a JSON header and the numbers.
    """
    with file.open("rb") as content:
        (header_length,) = _HEADER_LENGTH.unpack(content.read(_HEADER_LENGTH.size))
        tensor = json.loads(content.read(header_length))[_TENSOR]
    offset = _HEADER_LENGTH.size + header_length + tensor["data_offsets"][0]
    mapped = np.memmap(file, dtype="<f2", mode="r", offset=offset, shape=tuple(tensor["shape"]))
    # A plain array: indexing a memmap takes half as long again.
    return np.asarray(mapped)


def sanitize(text: str, max_bytes: int) -> str:
    """Return the beginning of the stripped text; empty if there is nothing to embed.

    The bound is in bytes of UTF-8, which are proportional to tokens in any script. No character is cut. Lone
    surrogates, which tokenizers and JSON parsers reject, become question marks.
    """
    beginning = text.strip()[:max_bytes].encode("utf-8", "replace")
    return beginning[:max_bytes].decode("utf-8", "ignore")


class StaticEmbedder:
    """Embedder of the bundled model. Embedders with the same BundledModel share its memory."""

    batch_size = BATCH_TEXTS
    unrelated_cosine = 0.0

    def __init__(self, dimensions: int = DIMENSIONS, model: BundledModel | None = None) -> None:
        """Raises InvalidEmbedder for dimensions that the model does not have, or if its package is missing."""
        if dimensions not in SUPPORTED_DIMENSIONS:
            known = ", ".join(map(str, SUPPORTED_DIMENSIONS))
            raise InvalidEmbedder(f"the bundled model has {known} dimensions, not {dimensions}")
        self.dimensions = dimensions
        self.identity = f"static/{MODEL}-{dimensions}/{POOLING}"
        self._model = model or BundledModel()
        self._word_tokens: TokenizeWord = lru_cache(WORD_CACHE_SIZE)(self._tokens_of_word)

    @property
    def ready(self) -> bool:
        return self._model.ready

    def warm(self) -> None:
        self._model.loaded()

    def embed(self, texts: Sequence[str]) -> Vectors:
        model = self._model.loaded()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BATCH_TEXTS):
            tokens = [self._tokens(text) if has_meaning(text) else [] for text in texts[start : start + BATCH_TEXTS]]
            vectors[start : start + BATCH_TEXTS] = unit_rows(_sums(model, tokens, self.dimensions))
        return vectors

    def _tokens(self, text: str) -> list[int]:
        """Tokenize word by word, which gives the tokens of the whole text, because no token spans a space.

        Tokens of white space are omitted.
        """
        words = sanitize(text, MAX_TEXT_BYTES).split()
        all_short = max(map(len, words), default=0) <= MAX_CACHED_WORD_CHARACTERS
        return list(chain.from_iterable(map(self._word_tokens if all_short else self._tokens_of_any, words)))

    def _tokens_of_any(self, word: str) -> Sequence[int]:
        """Tokenize without the cache if the word is too long for it."""
        if len(word) <= MAX_CACHED_WORD_CHARACTERS:
            return self._word_tokens(word)
        return _tokens_without_gil(self._model.loaded().tokenizer, word)

    def _tokens_of_word(self, word: str) -> Sequence[int]:
        return self._model.loaded().tokenizer.encode(word, add_special_tokens=False).ids


def has_meaning(text: str) -> bool:
    """Return False for punctuation alone. Its vector would be near to those of many texts."""
    return not _PUNCTUATION.fullmatch(text)


def _tokens_without_gil(tokenizer: Tokenizer, word: str) -> list[int]:
    """Tokenize by a batch call: only these release the GIL."""
    return tokenizer.encode_batch_fast([word], add_special_tokens=False)[0].ids


def _sums(model: StaticModel, texts: Sequence[Sequence[int]], dimensions: int) -> Vectors:
    """Return the sum of each text's token vectors. It has the direction of their mean.

    Rows are added in order, without BLAS: so a sum does not depend on other texts of the batch, to the last bit, and no
    threads are started.
    """
    tokens = np.fromiter(chain.from_iterable(texts), dtype=np.intp)
    used, places = np.unique(tokens, return_inverse=True)
    rows = model.matrix[used, :dimensions].astype(np.float32)
    ends = np.cumsum([len(text) for text in texts])
    return np.stack([np.add.reduce(rows.take(own, axis=0), axis=0) for own in np.split(places, ends[:-1])])
