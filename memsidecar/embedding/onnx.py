"""OnnxEmbedder: a sentence-transformers export in a directory, computed by onnxruntime. It needs no network."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib import import_module
from mmap import ACCESS_READ, mmap
from pathlib import Path
from threading import BoundedSemaphore
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import BaseModel, Field, TypeAdapter
from tokenizers import Tokenizer

from memsidecar.embedding.contract import (
    EmbedderMismatch,
    EmbedderUnavailable,
    InvalidEmbedder,
    Vectors,
    measure_unrelated_cosine,
    unit_rows,
)
from memsidecar.embedding.static import has_meaning, sanitize

T = TypeVar("T")

MODEL_FILES = ("model.onnx", "onnx/model.onnx")
TOKENIZER_FILE = "tokenizer.json"
DEFAULT_MAX_TOKENS = 512
MIN_TOKENS, MAX_TOKENS = 4, 8_192
MAX_BYTES_PER_TOKEN = 16
"Longer texts are cut before they are tokenized, because a message may have 1 MiB."

# A waiting search embeds new messages of so many tokens in total: up to a second with a small model. It ranks more of
# them by words, until the background task has indexed them.
MAX_INTERACTIVE_TOKENS = 4_096

# Background tasks yield the CPU after each text, which takes 5 to 100 ms. The limit above is for all texts of a call.
BATCH_TEXTS, INTERACTIVE_BATCH_TEXTS = 1, 1_000

_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_SENTENCE_OUTPUT = "sentence_embedding"
_EXTERNAL = re.compile(rb"\n\x08location\x12([\x01-\x7f])")
"An entry of `TensorProto.external_data` up to the name of the file, and the length of that name."


class Pooling(StrEnum):
    """How the vectors of the tokens become one."""

    CLS = "cls"
    MEAN = "mean"
    MAX = "max"
    LAST = "lasttoken"


_POOLING_FLAGS: Mapping[str, str] = {
    **{f"pooling_mode_{name}_tokens": name for name in ("mean", "max", "weightedmean")},
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_sqrt_len_tokens": "mean",  # has the same direction
    "pooling_mode_lasttoken": "lasttoken",
}


class _Module(BaseModel):
    type: str = ""
    path: str = ""


class _Settings(BaseModel):
    prompts: dict[str, str] | None = None
    default_prompt_name: str | None = None
    max_seq_length: Annotated[int, Field(strict=True, ge=MIN_TOKENS, le=MAX_TOKENS)] | None = None


@dataclass(frozen=True)
class ExportConfig:
    """What the configuration files of an export say about texts and vectors."""

    pooling: Pooling = Pooling.MEAN
    max_tokens: int | None = None
    query_prompt: str = ""
    document_prompt: str = ""
    other_modules: tuple[str, ...] = ()
    "Modules that only the ONNX file itself could compute."

    @classmethod
    def read(cls, folder: Path) -> "ExportConfig":
        """Read the files that exist. Raises InvalidEmbedder."""
        modules = _read(folder / "modules.json", list[_Module], [])
        kinds = {module.type.rpartition(".")[2]: module.path for module in modules}
        pooling = _read(folder / kinds.get("Pooling", "1_Pooling") / "config.json", dict[str, Any], {})
        prompts = _read(folder / "config_sentence_transformers.json", _Settings, _Settings())
        named = prompts.prompts or {}
        default = named.get(prompts.default_prompt_name or "", "")
        return cls(
            _pooling_of(pooling, folder),
            _read(folder / "sentence_bert_config.json", _Settings, _Settings()).max_seq_length,
            named.get("query") or default,
            next((named[name] for name in ("document", "passage", "corpus") if named.get(name)), default),
            tuple(sorted(set(kinds) - {"Transformer", "Pooling", "Normalize"})),
        )


def _read(file: Path, kind: type[T], default: T) -> T:
    try:
        return TypeAdapter(kind).validate_json(file.read_bytes()) if file.is_file() else default
    except (OSError, ValueError) as error:
        problem = f"{file} is no file of a sentence-transformers export: {' '.join(str(error).split())}"
        raise InvalidEmbedder(f"embedder_model: {problem}") from None


def _pooling_of(config: Mapping[str, Any], folder: Path) -> Pooling:
    """Return the only pooling that the export uses; the mean if it does not say."""
    if config.get("include_prompt") is False:
        raise InvalidEmbedder(f"embedder_model: {folder} pools without its prompts, and that is not supported")
    flags = [pooling for flag, pooling in _POOLING_FLAGS.items() if config.get(flag)] or [Pooling.MEAN.value]
    chosen = [str(config["pooling_mode"])] if "pooling_mode" in config else flags
    if len(chosen) > 1 or chosen[0] not in set(Pooling):
        supported = ", ".join(Pooling)
        raise InvalidEmbedder(f"embedder_model: {folder} needs a pooling that is not supported: expected {supported}")
    return Pooling(chosen[0])


class OnnxModel:
    """An export, loaded and tried once. Thread-safe: at most `threads` texts are computed at the same time."""

    def __init__(self, folder: Path, dimensions: int, threads: int = 1) -> None:
        """Raises InvalidEmbedder, so that a wrong setting fails at start."""
        runtime = _runtime()
        file = _model_file(folder)
        self.config = ExportConfig.read(folder)
        self._tokenizer, self.max_tokens = _load_tokenizer(folder / TOKENIZER_FILE, self.config.max_tokens)
        self._session = _open_session(runtime, file)
        self._inputs = [each.name for each in self._session.get_inputs()]
        outputs = [each.name for each in self._session.get_outputs()]
        self._output = _SENTENCE_OUTPUT if _SENTENCE_OUTPUT in outputs else outputs[0]
        if unknown := set(self._inputs) - set(_INPUTS):
            raise InvalidEmbedder(f"embedder_model: {file} needs inputs that no tokenizer has: {', '.join(unknown)}")
        if self.config.other_modules and self._output != _SENTENCE_OUTPUT:
            others = ", ".join(self.config.other_modules)
            raise InvalidEmbedder(f"embedder_model: {folder} needs {others}: export it with output {_SENTENCE_OUTPUT}")
        self._running = BoundedSemaphore(threads)
        self._check(folder, dimensions)
        self.dimensions = dimensions
        self.identity = f"onnx/{_digest(folder, file, self.config)}/{dimensions}"
        prompts = self.config.query_prompt, self.config.document_prompt
        self.unrelated_cosine = measure_unrelated_cosine(lambda text: self.vector(self.tokens(text)), *prompts)

    def _check(self, folder: Path, dimensions: int) -> None:
        """Compute the longest possible text, so that a wrong length or a wrong output is found at start."""
        try:
            vector = self.vector(self.tokens("word " * self.max_tokens))
        except (EmbedderMismatch, EmbedderUnavailable) as error:
            raise InvalidEmbedder(f"embedder_model: {folder} computes no vectors: {error}") from error
        if not vector.any():
            raise InvalidEmbedder(f"embedder_model: {folder} computes no vectors: all numbers are 0 or not finite")
        if (found := len(vector)) != dimensions:
            raise InvalidEmbedder(f"embedder_dimensions is {dimensions}: set it to {found}, as the model in {folder}")

    def tokens(self, text: str) -> Any:
        """Tokenize by a batch call: only these release the GIL."""
        beginning = sanitize(text, self.max_tokens * MAX_BYTES_PER_TOKEN)
        return self._tokenizer.encode_batch_fast([beginning])[0]

    def vector(self, tokens: Any) -> Vectors:
        """Compute the vector of one text. Raises EmbedderUnavailable or EmbedderMismatch.

        Texts are not computed in batches: a quantized model rounds all texts of a batch together, so that a vector
        would depend on the other texts (measured: down to a cosine of 0.97 with itself), and padding takes longer.
        """
        values = {"input_ids": tokens.ids, "attention_mask": tokens.attention_mask, "token_type_ids": tokens.type_ids}
        feed = {name: np.array([values[name]], np.int64) for name in self._inputs}
        with self._running:
            try:
                (output,) = self._session.run([self._output], feed)
            except Exception as error:
                raise EmbedderUnavailable(f"onnxruntime fails: {type(error).__name__}") from error
        vector = _pooled(np.asarray(output[0], np.float32), self.config.pooling)
        if vector.ndim != 1:
            raise EmbedderMismatch("the ONNX model returns no vector")
        # The model rejects this text: it is found by its words. An error would be repeated with every try.
        return vector if np.isfinite(vector).all() else np.zeros_like(vector)


def _runtime() -> Any:
    try:
        return import_module("onnxruntime")
    except ImportError:
        raise InvalidEmbedder("embedder onnx needs onnxruntime: pip install 'memsidecar[onnx]'") from None


def _model_file(folder: Path) -> Path:
    if not folder.is_dir():
        raise InvalidEmbedder(f"embedder_model {folder} is no directory: expected a sentence-transformers export")
    found = next((folder / name for name in MODEL_FILES if (folder / name).is_file()), None)
    if found is None:
        raise InvalidEmbedder(f"embedder_model {folder} has no {MODEL_FILES[0]}: export the model to ONNX")
    if not (folder / TOKENIZER_FILE).is_file():
        raise InvalidEmbedder(f"embedder_model {folder} has no {TOKENIZER_FILE}: save the model's fast tokenizer there")
    return found


def _load_tokenizer(file: Path, configured: int | None) -> tuple[Tokenizer, int]:
    """Return the tokenizer, and the tokens of a text at most: by the export, or else by its tokenizer."""
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:
        raise InvalidEmbedder(f"embedder_model: {file} is no tokenizer: {error}") from error
    # The text of a special token in a message is plain text.
    tokenizer.encode_special_tokens = True
    tokenizer.no_padding()
    longest = configured or (tokenizer.truncation or {}).get("max_length") or DEFAULT_MAX_TOKENS
    tokenizer.enable_truncation(max_tokens := min(int(longest), MAX_TOKENS))
    return tokenizer, max_tokens


def _open_session(runtime: Any, file: Path) -> Any:
    options = runtime.SessionOptions()
    # The calling thread computes alone, so that `threads` is the limit of all callers together.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    # Patterns would be kept for every length of a text.
    options.enable_mem_pattern = False
    options.log_severity_level = 3
    try:
        return runtime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise InvalidEmbedder(f"embedder_model: {file} is no ONNX model: {type(error).__name__}") from error


def _digest(folder: Path, model: Path, config: ExportConfig) -> str:
    """Return the digest of everything that vectors depend on."""
    total = hashlib.sha256(json.dumps(asdict(config), sort_keys=True).encode())
    for file in (model, *_external_weights(model), folder / TOKENIZER_FILE):
        with file.open("rb") as content:
            total.update(hashlib.file_digest(content, "sha256").digest())
    return total.hexdigest()[:32]


def _external_weights(model: Path) -> list[Path]:
    """Return the files with the weights that the model file does not contain itself."""
    with model.open("rb") as content, mmap(content.fileno(), 0, access=ACCESS_READ) as read:
        names = {read[place.end() : place.end() + place[1][0]] for place in _EXTERNAL.finditer(read)}
    return sorted(file for name in names if (file := model.parent / name.decode(errors="replace")).is_file())


def _pooled(output: Vectors, pooling: Pooling) -> Vectors:
    """Return the vector of a text. The model may have pooled already; else there is a row for each token."""
    if output.ndim != 2:
        return output
    if pooling in (Pooling.CLS, Pooling.LAST):
        return np.asarray(output[0 if pooling is Pooling.CLS else -1])
    return np.asarray(output.max(axis=0) if pooling is Pooling.MAX else output.mean(axis=0))


class OnnxEmbedder:
    """Embedder of an export. Its variants for messages, for queries and for waiting callers share one model."""

    ready = True

    def __init__(self, model: OnnxModel, prompt: str, token_limit: int | None = None) -> None:
        """`embed` raises EmbedderUnavailable for texts with more than `token_limit` tokens in total."""
        self.identity, self.dimensions = model.identity, model.dimensions
        self.unrelated_cosine = model.unrelated_cosine
        self.batch_size = BATCH_TEXTS if token_limit is None else INTERACTIVE_BATCH_TEXTS
        self._model, self._prompt, self._token_limit = model, prompt, token_limit

    @classmethod
    def load(cls, folder: Path, dimensions: int, threads: int = 1) -> "OnnxEmbedder":
        """Return the embedder of messages. Raises InvalidEmbedder."""
        model = OnnxModel(folder, dimensions, threads)
        return cls(model, model.config.document_prompt)

    def interactive(self) -> "OnnxEmbedder":
        return OnnxEmbedder(self._model, self._prompt, max(MAX_INTERACTIVE_TOKENS, self._model.max_tokens))

    def for_queries(self) -> "OnnxEmbedder":
        return OnnxEmbedder(self._model, self._model.config.query_prompt)

    def warm(self) -> None:
        """Do nothing: the model is loaded."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for row, tokens in self._tokens(texts).items():
            vectors[row] = self._model.vector(tokens)
        return unit_rows(vectors)

    def _tokens(self, texts: Sequence[str]) -> dict[int, Any]:
        found, total = {}, 0
        for row, text in enumerate(texts):
            if has_meaning(text):
                found[row] = self._model.tokens(self._prompt + text.strip())
                total += len(found[row].ids)
            if self._token_limit is not None and total > self._token_limit:
                raise EmbedderUnavailable("too many texts for a waiting caller")
        return found
