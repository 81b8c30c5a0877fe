"""docs/errors.md matches the error table, and its code runs."""

import re
from pathlib import Path
from typing import Any

import grpc
import pytest

from memsidecar.api.status import TABLE, reason_name
from memsidecar.v1 import memory_pb2 as memory
from tests.support.process import Client

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/errors.md").read_text()


def test_the_page_has_a_row_for_every_code_and_reason_that_can_be_sent() -> None:
    written = set(re.findall(r"^\| `([A-Z_]+)` \| `([A-Z_]+)` \|", PAGE, re.MULTILINE))
    sent = {(row.code.name, reason_name(row.reason)) for row in TABLE.values()}
    assert written == {pair for pair in sent if pair[0] != "DEADLINE_EXCEEDED"}


def test_the_page_names_every_reason_of_the_contract() -> None:
    contract = (ROOT / "protos/memsidecar/v1/errors.proto").read_text()
    reasons = set(re.findall(r"ERROR_REASON_(\w+) = [1-9]", contract))
    assert {reason for reason in reasons if f"`{reason}`" not in PAGE} == set()


def test_the_python_of_the_page_reads_the_reason(client: Client) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    with pytest.raises(grpc.RpcError) as refused:
        client.memory.Count(memory.CountRequest())
    assert names["reason_of"](refused.value) == "INVALID_FIELD"
