"""A real sentence-transformers export of a few hundred bytes: one vector for each word, looked up by an ONNX graph.

The graph is written in the wire format of `onnx.proto`, so that the tests need no package to make it.
"""

import json
import struct
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

DIMENSIONS = 3
MATRIX: Mapping[str, Sequence[float]] = {
    "[CLS]": (0.5, 0.5, 1.0),
    "[UNK]": (0.1, 0.1, 0.1),
    "[SEP]": (0.0, 0.0, 1.0),
    "cats": (1.0, 0.0, 0.0),
    "purr": (0.9, 0.1, 0.0),
    "ships": (0.0, 1.0, 0.0),
    "sail": (0.1, 0.9, 0.0),
    "ask:": (0.0, 0.0, 3.0),
    "text:": (0.0, 0.0, 1.0),
    "the": (0.2, 0.2, 0.2),
}
WORDS = tuple(MATRIX)
_INT64, _FLOAT = 7, 1


def write_export(
    folder: Path,
    *,
    matrix: Mapping[str, Sequence[float]] = MATRIX,
    inputs: Sequence[str] = ("input_ids", "attention_mask"),
    output: str = "last_hidden_state",
    files: Mapping[str, object] | None = None,
    weights_file: str = "",
) -> Path:
    """Write an export and its configuration files; return its folder. The weights are in `weights_file`, if given."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(model_bytes(matrix, inputs, output, weights_file))
    if weights_file:
        (folder / weights_file).write_bytes(_raw(matrix))
    _tokenizer().save(str(folder / "tokenizer.json"))
    for name, content in (files or {}).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    return folder


def _tokenizer() -> Tokenizer:
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.add_special_tokens(["[CLS]", "[SEP]"])
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    special = [(word, WORDS.index(word)) for word in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=special)
    return tokenizer


def _raw(matrix: Mapping[str, Sequence[float]]) -> bytes:
    numbers = [number for word in WORDS for number in matrix[word]]
    return struct.pack(f"<{len(numbers)}f", *numbers)


def model_bytes(
    matrix: Mapping[str, Sequence[float]], inputs: Sequence[str], output: str, weights_file: str = ""
) -> bytes:
    """Return a ModelProto whose only node gathers the rows of the matrix by `input_ids`."""
    shape = (len(WORDS), len(matrix[WORDS[0]]))
    external = (13, [(1, b"location"), (2, weights_file.encode())]), (14, 1)
    weights = external if weights_file else ((9, _raw(matrix)),)
    tensor = [*((1, size) for size in shape), (2, _FLOAT), (8, b"matrix"), *weights]
    node = [(1, b"matrix"), (1, b"input_ids"), (2, output.encode()), (4, b"Gather")]
    graph = [
        (1, node),
        (2, b"tiny"),
        (5, tensor),
        *((11, _value(name, _INT64, ("batch", "tokens"))) for name in inputs),
        (12, _value(output, _FLOAT, ("batch", "tokens", shape[1]))),
    ]
    return b"".join(_encoded([(1, 8), (7, graph), (8, [(2, 17)])]))


def _value(name: str, kind: int, shape: Sequence[str | int]) -> list[tuple[int, object]]:
    dimensions = [(1, [(2, size.encode()) if isinstance(size, str) else (1, size)]) for size in shape]
    return [(1, name.encode()), (2, [(1, [(1, kind), (2, dimensions)])])]


def _encoded(fields: Sequence[tuple[int, object]]) -> Iterator[bytes]:
    """Yield the fields of a message: numbers as varints, bytes and messages with their length."""
    for number, value in fields:
        if isinstance(value, int):
            yield _varint(number << 3) + _varint(value)
        else:
            content = value if isinstance(value, bytes) else b"".join(_encoded(value))  # type: ignore[arg-type]
            yield _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _varint(value >> 7)
