"""The bundled model: files of the wordllama wheel."""

import hashlib
import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from memsidecar.embedding.contract import EmbedderMismatch, InvalidEmbedder

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
