"""Files of the wordllama wheel; SIF token weights."""

import hashlib
import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memsidecar.embedding.contract import EmbedderMismatch, InvalidEmbedder

NAME = "zipf-2"

# The smaller, the harder common tokens are pressed down. Between 1e-5 and 1e-3 retrieval hardly changes: measured in
# docs/retrieval.md.
SMOOTHING = 3e-5

PACKAGE = "wordllama"
MODEL = "wordllama-l2_supercat"
DIMENSIONS = 256

MATRIX = "weights/l2_supercat_256.safetensors"
TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"

# An identity promises the same vectors for ever, so a wheel with other weights must not pass for this model.
SHA256: Mapping[str, str] = {
    MATRIX: "64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5",
    TOKENIZER: "93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68",
}

_TENSOR = "embedding.weight"
_HEADER_LENGTH = struct.Struct("<Q")


def token_weights(tokens: Sequence[str], smoothing: float = SMOOTHING) -> NDArray[np.float32]:
    """The weight of each token: a / (a + p), as in SIF (Arora et al., 2017); none for what has no letter and no digit.

    There p is counted in a corpus. Here a stored vector must not depend on what else is stored, so p comes from
    Zipf's law over the token's rank. A tokenizer numbers its tokens in the order in which it learned them, the most
    frequent first, so that the id is the rank; but single signs come last, whatever their rank, and a full stop would
    count like the rarest word.
    """
    ranks = np.arange(1, len(tokens) + 1, dtype=np.float64)
    probabilities = 1 / (ranks * np.sum(1 / ranks))
    says_something = np.array([any(sign.isalnum() for sign in token) for token in tokens])
    return np.where(says_something, smoothing / (smoothing + probabilities), 0).astype(np.float32)


@dataclass(frozen=True)
class StaticModel:
    """One row of the matrix and one weight for each token."""

    tokenizer: Tokenizer
    matrix: NDArray[np.float16]
    weights: NDArray[np.float32]


class BundledModel:
    """Loads at first use, once, for all who share it; making one only looks whether the files are there."""

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
        """A second thread waits for the first; a failed load is tried again by the next caller."""
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
    # In a message the text of a special token is plain text.
    tokenizer.encode_special_tokens = True
    matrix = _mapped(folder / MATRIX)
    tokens = [tokenizer.id_to_token(number) or "" for number in range(len(matrix))]
    return StaticModel(tokenizer, matrix, token_weights(tokens))


def _verify(file: Path, sha256: str) -> None:
    try:
        with file.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as unreadable:
        raise EmbedderMismatch(f"the bundled model cannot be read: {file}") from unreadable
    if found != sha256:
        raise EmbedderMismatch(f"the bundled model is damaged or of another version: {file}")


def _mapped(file: Path) -> NDArray[np.float16]:
    """The matrix as a map of its file: only rows that texts use become resident, and the system may drop them again.

    The library `safetensors` can only copy a tensor into memory; the format is a length, a JSON header and the numbers.
    """
    with file.open("rb") as content:
        (header_length,) = _HEADER_LENGTH.unpack(content.read(_HEADER_LENGTH.size))
        tensor = json.loads(content.read(header_length))[_TENSOR]
    offset = _HEADER_LENGTH.size + header_length + tensor["data_offsets"][0]
    mapped = np.memmap(file, dtype="<f2", mode="r", offset=offset, shape=tuple(tensor["shape"]))
    # As a plain array, because memmap's own indexing is slower by half.
    return np.asarray(mapped)
