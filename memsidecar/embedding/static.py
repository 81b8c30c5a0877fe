"""StaticEmbedder: mean of the token vectors of the bundled model."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from tokenizers import Tokenizer

from memsidecar.embedding.bundled_model import DIMENSIONS, MODEL, BundledModel, StaticModel
from memsidecar.embedding.contract import InvalidEmbedder, Vectors, unit_rows

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
            tokens = [self._tokens(text) if _has_meaning(text) else [] for text in texts[start : start + BATCH_TEXTS]]
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


def _has_meaning(text: str) -> bool:
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
