"""Reading what an embeddings API answered, strictly: a wrong vector that is stored is wrong for ever."""

from array import array
from base64 import b64decode
from typing import TypeGuard

import numpy as np

from memsidecar.embedding.contract import Vectors
from memsidecar.endpoint.client import json_object
from memsidecar.endpoint.errors import EndpointMismatch, Unanswered

# Digits, sign, exponent, comma and the white space of a pretty printer.
_LARGEST_NUMBER_BYTES = 64
_LARGEST_FRAME_BYTES = 1 << 20


def largest_answer_bytes(rows: int, dimensions: int) -> int:
    """More than any honest answer needs."""
    return rows * dimensions * _LARGEST_NUMBER_BYTES + _LARGEST_FRAME_BYTES


def read_vectors(body: bytes, rows: int, dimensions: int) -> Vectors:
    """One row for each text sent, in their order, not yet normalised.

    Raises EndpointMismatch for other dimensions, and Unanswered for anything else that is not as it should be.
    """
    embeddings = _in_order(_items(body), rows)
    vectors = [_numbers(embedding) for embedding in embeddings]
    found = {len(vector) for vector in vectors} - {dimensions}
    if found:
        raise EndpointMismatch(f"the embedding model has {found.pop()} dimensions, but {dimensions} are configured")
    stacked = np.stack(vectors)
    if not np.isfinite(stacked).all():
        raise Unanswered("the answer has numbers that are not finite")
    return stacked


def _items(body: bytes) -> list[object]:
    items = json_object(body).get("data")
    if not isinstance(items, list):
        raise Unanswered("the answer has no list of data")
    return items


def _in_order(items: list[object], rows: int) -> list[object]:
    """The embeddings by their own index: servers answer in any order."""
    by_index = {item["index"]: item.get("embedding") for item in items if _has_index(item)}
    if len(items) != rows or by_index.keys() != set(range(rows)):
        raise Unanswered(f"the answer has not one row for each of {rows} texts")
    return [by_index[index] for index in range(rows)]


def _has_index(item: object) -> TypeGuard[dict[str, object]]:
    return isinstance(item, dict) and type(item.get("index")) is int


def _numbers(embedding: object) -> Vectors:
    try:
        if isinstance(embedding, str):
            return np.frombuffer(b64decode(embedding, validate=True), dtype="<f4").astype(np.float32)
        if isinstance(embedding, list):
            return _single(array("d", embedding))
    except (ValueError, TypeError, OverflowError) as garbled:
        raise Unanswered("the answer has an embedding that is not made of numbers") from garbled
    raise Unanswered("the answer has an item without an embedding")


def _single(numbers: "array[float]") -> Vectors:
    with np.errstate(over="ignore"):
        return np.array(numbers).astype(np.float32)
