"""Malformed answers are retried once, and never cause a wrong vector."""

import base64

import numpy as np
import pytest

from memsidecar.embedding.contract import Embedder, EmbedderUnavailable
from tests.embedding import endpoint as behave
from tests.embedding.endpoint import DIMENSIONS, Endpoint, expected, with_first
from tests.endpoint import server as serve
from tests.endpoint.clock import Waits
from tests.endpoint.server import KEY, Behaviour

MALFORMED_ANSWERS = {
    "500": serve.status(500),
    "503 without a body": serve.status(503, b""),
    "429": serve.status(429),
    "408": serve.status(408),
    "garbage": serve.content(b"<html>it works</html>"),
    "not UTF-8": serve.content(b'{"data": "\xff\xfe"}'),
    "half a JSON": serve.content(b'{"data": [{"index": 0, "embed'),
    "an abyss of brackets": serve.content(b"[" * 200_000),
    "a list": serve.content(b"[]"),
    "no data": serve.content(b'{"error": "oops"}'),
    "data of another kind": serve.content(b'{"data": {"0": 1}}'),
    "no rows": behave.changed(lambda _: []),
    "a missing row": behave.changed(lambda rows: rows[1:]),
    "a row too many": behave.changed(lambda rows: [*rows, rows[0] | {"index": 2}]),
    "one row twice": behave.changed(lambda rows: [rows[0], rows[0]]),
    "no index": with_first(index=None),
    "an index of another kind": with_first(index=[0]),
    "no embedding": with_first(embedding=None),
    "NaN": with_first(embedding=[float("nan")] * DIMENSIONS),
    "infinity": with_first(embedding=[float("inf")] * DIMENSIONS),
    "a number beyond float32": with_first(embedding=[1e300] * DIMENSIONS),
    "an integer beyond float64": with_first(embedding=[10**400] * DIMENSIONS),
    "words": with_first(embedding=["0.5"] * DIMENSIONS),
    "nested": with_first(embedding=[[0.5] * DIMENSIONS]),
    "base64 of half a number": with_first(embedding=base64.b64encode(b"abcde").decode()),
    "no base64": with_first(embedding="§§§"),
    "NaN in base64": with_first(embedding=base64.b64encode(np.full(4, np.nan, dtype="<f4").tobytes()).decode()),
    "cut short": behave.cut_short,
    "hung up": serve.hung_up,
    "endless": serve.endless,
}


@pytest.mark.parametrize("malformed", MALFORMED_ANSWERS.values(), ids=MALFORMED_ANSWERS.keys())
def test_one_malformed_answer_is_retried(
    endpoint: Endpoint, embedder: Embedder, waits: Waits, malformed: Behaviour
) -> None:
    endpoint.script = [malformed]
    assert embedder.embed(["one", "two"]) == pytest.approx(expected("one", "two"), abs=1e-6)
    assert waits.seconds == [0.25]


@pytest.mark.parametrize("malformed", MALFORMED_ANSWERS.values(), ids=MALFORMED_ANSWERS.keys())
def test_repeated_malformed_answers_mean_unavailable(
    endpoint: Endpoint, embedder: Embedder, malformed: Behaviour
) -> None:
    endpoint.always = malformed
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder.embed(["one", "two"])
    assert len(endpoint.requests) == 3 and KEY not in repr(caught.value)
