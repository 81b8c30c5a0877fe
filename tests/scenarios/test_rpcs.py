"""docs/rpcs.md names every RPC, and the server implements each of them."""

import re
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message_factory import GetMessageClass

from memsidecar.v1 import knowledge_pb2, memory_pb2, session_pb2
from memsidecar.v1.errors_pb2 import ErrorReason
from tests.support.process import CALL_SECONDS, Client, Refusal

PAGE = Path(__file__).parents[2] / "docs" / "rpcs.md"
SERVICES = (
    memory_pb2.DESCRIPTOR.services_by_name["MemoryService"],
    session_pb2.DESCRIPTOR.services_by_name["SessionService"],
    knowledge_pb2.DESCRIPTOR.services_by_name["KnowledgeService"],
)
METHODS: dict[str, MethodDescriptor] = {
    f"{service.name}/{method.name}": method for service in SERVICES for method in service.methods
}


class Row(NamedTuple):
    service: str
    rpc: str
    does: str
    reasons: str

    @property
    def name(self) -> str:
        return f"{self.service}/{self.rpc}"


def rows() -> list[Row]:
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    return [Row(*(cell.strip() for cell in line.strip("|").split("|"))) for line in lines[2:]]


def error_of_empty_call(client: Client, method: MethodDescriptor) -> Refusal | None:
    """Return the error of a call with an empty request, None for a response."""
    path = f"/{method.containing_service.full_name}/{method.name}"
    kind = f"{'stream' if method.client_streaming else 'unary'}_{'stream' if method.server_streaming else 'unary'}"
    response = GetMessageClass(method.output_type)
    call = getattr(client.channel, kind)(path, response_deserializer=response.FromString)
    try:
        answer = call(iter([b""]) if method.client_streaming else b"", timeout=CALL_SECONDS)
        if method.name == "Watch":  # never ends by itself
            next(answer)
            answer.cancel()
        elif method.server_streaming:
            list(answer)
    except grpc.RpcError as error:
        return Refusal(error)
    return None


def test_the_table_names_exactly_the_rpcs_of_the_contract_in_its_order() -> None:
    assert [row.name for row in rows()] == list(METHODS)


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_every_rpc_is_implemented(client: Client, row: Row) -> None:
    end = error_of_empty_call(client, METHODS[row.name])
    assert end is None or (end.code, end.reason) == (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD")


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.name)
def test_a_row_describes_its_rpc_in_a_sentence_and_names_known_reasons(row: Row) -> None:
    assert row.does.endswith(".") and len(row.does) <= 100
    known = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()}  # noqa: SIM118  (no mapping)
    assert set(re.findall(r"`(\w+)`", row.reasons)) <= known
