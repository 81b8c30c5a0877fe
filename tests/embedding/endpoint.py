"""The server of tests/endpoint with valid and invalid responses of /v1/embeddings."""

import hashlib
import json
import struct
from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from memsidecar.embedding.contract import Vectors
from tests.endpoint.server import Behaviour, Handler, Request, Server, status

DIMENSIONS = 4


def vector_of(text: str) -> list[float]:
    """Return a vector that depends on the text; not of length 1."""
    digest = hashlib.sha256(text.encode()).digest()
    return [byte / 16 - 8.03 for byte in digest[:DIMENSIONS]]


def expected(*texts: str) -> Vectors:
    """Return the vectors that an embedder should return for these texts."""
    vectors = [vector_of(text) for text in texts]
    return np.array([np.array(vector) / np.linalg.norm(vector) for vector in vectors], dtype=np.float32)


Item = dict[str, object]


def items(texts: Sequence[str]) -> list[Item]:
    return [{"object": "embedding", "index": i, "embedding": vector_of(text)} for i, text in enumerate(texts)]


def rows(request: Request) -> bytes:
    return json.dumps({"object": "list", "data": items(request.texts)}).encode()


def well(handler: Handler, request: Request) -> None:
    handler.answer(200, rows(request))


def changed(change: Callable[[list[Item]], list[Item]]) -> Behaviour:
    """Return a valid answer with changed rows."""
    return lambda handler, request: handler.answer(200, json.dumps({"data": change(items(request.texts))}).encode())


def with_first(**change: object) -> Behaviour:
    def apply(rows: list[Item]) -> list[Item]:
        return [rows[0] | change, *rows[1:]]

    return changed(apply)


def base64_rows(handler: Handler, request: Request) -> None:
    packed = [struct.pack(f"<{DIMENSIONS}f", *vector_of(text)) for text in request.texts]
    rows = [{"index": i, "embedding": b64encode(row).decode()} for i, row in enumerate(packed)]
    handler.answer(200, json.dumps({"data": rows}).encode())


def chunked(handler: Handler, request: Request) -> None:
    handler.answer_in_chunks(rows(request))


def cut_short(handler: Handler, request: Request) -> None:
    handler.answer_half(rows(request))


def limited_to(characters: int, code: int = 400, body: bytes = b"{}") -> Behaviour:
    """Reject longer texts, as a model with a limit does."""

    def behave(handler: Handler, request: Request) -> None:
        too_long = any(len(text) > characters for text in request.texts)
        (status(code, body) if too_long else well)(handler, request)

    return behave


@dataclass
class Endpoint(Server):
    always: Behaviour = well
