"""StaticEmbedder."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import chain

import numpy as np
from tokenizers import Tokenizer

from memsidecar.embedding.bundled_model import DIMENSIONS, MODEL, BundledModel, StaticModel
from memsidecar.embedding.bundled_model import NAME as WEIGHTING
from memsidecar.embedding.contract import InvalidEmbedder, Vectors, unit_rows

# The model was trained so that the beginning of a vector is a vector (Matryoshka), at these lengths.
SUPPORTED_DIMENSIONS = (64, 128, 256)

# About 1,400 words. A sum of more says ever less, and a message of 1 MiB must cost no more than some milliseconds: this
# much takes 2 ms of known words, 5 to 8 ms of a script that is spelt byte by byte, 10 ms where every word is new.
MAX_TEXT_BYTES = 8_192

# A conversation repeats its words: remembering their tokens makes a text five times cheaper than tokenizing it whole.
# Full, they take about 5 MB.
WORDS_REMEMBERED = 1 << 14

# What is longer is no word (a script without spaces, base64): not worth remembering, and long enough to tokenize that
# other threads should run meanwhile.
MAX_CACHED_WORD_CHARACTERS = 64

# Texts of one batch share the rows that are converted from float16. More at once would hold the memory of many rows,
# and the GIL for longer: this many take a millisecond or two.
BATCH_TEXTS = 16

Words = Callable[[str], Sequence[int]]


def sanitize(text: str, longest_bytes: int) -> str:
    """The beginning of the text, without the white space around it; empty where there is nothing to embed.

    The bound is in bytes of UTF-8, for they follow the number of tokens in any script; no character is cut in two.
    Lone surrogates, which no tokenizer and no JSON reader takes, become question marks.
    """
    beginning = text.strip()[:longest_bytes].encode("utf-8", "replace")
    return beginning[:longest_bytes].decode("utf-8", "ignore")


class StaticEmbedder:
    """The bundled model. Its memory is shared by all embedders that are given the same BundledModel."""

    batch_size = BATCH_TEXTS

    def __init__(self, dimensions: int = DIMENSIONS, model: BundledModel | None = None) -> None:
        """Raises InvalidEmbedder for dimensions that the model does not have, or if its package is missing."""
        if dimensions not in SUPPORTED_DIMENSIONS:
            known = ", ".join(map(str, SUPPORTED_DIMENSIONS))
            raise InvalidEmbedder(f"the bundled model has {known} dimensions, not {dimensions}")
        self.dimensions = dimensions
        self.identity = f"static/{MODEL}-{dimensions}/{WEIGHTING}"
        self._model = model or BundledModel()
        self._word_tokens: Words = lru_cache(WORDS_REMEMBERED)(self._tokens_of_word)

    @property
    def ready(self) -> bool:
        return self._model.ready

    def warm(self) -> None:
        self._model.loaded()

    def embed(self, texts: Sequence[str]) -> Vectors:
        model = self._model.loaded()
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for start in range(0, len(texts), BATCH_TEXTS):
            tokens = [self._tokens(text) for text in texts[start : start + BATCH_TEXTS]]
            vectors[start : start + BATCH_TEXTS] = unit_rows(_sums(model, tokens, self.dimensions))
        return vectors

    def _tokens(self, text: str) -> list[int]:
        """Word by word, which gives the tokens of the whole text, for no token reaches over a space.

        White space itself has tokens too, which say nothing and are left out.
        """
        words = sanitize(text, MAX_TEXT_BYTES).split()
        all_short = max(map(len, words), default=0) <= MAX_CACHED_WORD_CHARACTERS
        return list(chain.from_iterable(map(self._word_tokens if all_short else self._tokens_of_any, words)))

    def _tokens_of_any(self, word: str) -> Sequence[int]:
        """What is long is no word, and is not remembered."""
        if len(word) <= MAX_CACHED_WORD_CHARACTERS:
            return self._word_tokens(word)
        return _tokens_without_gil(self._model.loaded().tokenizer, word)

    def _tokens_of_word(self, word: str) -> Sequence[int]:
        return self._model.loaded().tokenizer.encode(word, add_special_tokens=False).ids


def _tokens_without_gil(tokenizer: Tokenizer, word: str) -> list[int]:
    """Only the library's batch calls let other threads run."""
    return tokenizer.encode_batch_fast([word], add_special_tokens=False)[0].ids


def _sums(model: StaticModel, texts: Sequence[Sequence[int]], dimensions: int) -> Vectors:
    """The weighted sum of each text's tokens. Weighing by row and adding in order, without BLAS, keeps a sum the same
    to the last bit whatever stands beside it, and starts no threads.
    """
    tokens = np.fromiter(chain.from_iterable(texts), dtype=np.intp)
    used, places = np.unique(tokens, return_inverse=True)
    rows = model.matrix[used, :dimensions].astype(np.float32) * model.weights[used, np.newaxis]
    ends = np.cumsum([len(text) for text in texts])
    return np.stack([np.add.reduce(rows.take(own, axis=0), axis=0) for own in np.split(places, ends[:-1])])
