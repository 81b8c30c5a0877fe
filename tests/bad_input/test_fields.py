"""Every field of every built RPC: a wrong value is refused by name and changes nothing, one at the border is taken."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message as Proto
from google.protobuf.message_factory import GetMessageClass

from memsidecar.v1.knowledge_pb2 import (
    FACT_TYPE_DOMAIN,
    Artifact,
    Document,
    Fact,
    PutArtifactRequest,
    PutDocumentRequest,
    PutFactsRequest,
)
from memsidecar.v1.message_pb2 import ROLE_USER
from tests.bad_input.conftest import Watch
from tests.bad_input.rpcs import BUILT, METHODS, NOT_IMPLEMENTED, good, put, send
from tests.bad_input.table import TABLE
from tests.bad_input.values import Right, Wrong
from tests.support.process import Client, Refusal, refusal

OF_EACH_MESSAGE_LIST = {"messages": "messages[1]", "tool_calls": "tool_calls[0]", "facts": "facts[1]"}
OF_EACH_MESSAGE_LIST |= {"sections": "sections[1]"}
_numbers = itertools.count()


def paths_of(descriptor: Descriptor, prefix: str = "") -> Iterator[str]:
    """The path of every field, down into the contract's own messages, as the table spells it."""
    for field in descriptor.fields:
        yield prefix + field.name
        if field.message_type is not None and field.message_type.full_name.startswith("memsidecar."):
            yield from paths_of(field.message_type, f"{prefix}{OF_EACH_MESSAGE_LIST.get(field.name, field.name)}.")


def request_with(name: str, path: str, row: Wrong | Right, session_id: str | None = None) -> Proto:
    request = good(name) if session_id is None else good(name, session_id)
    for where, value in row.given.items():
        put(request, where, value)
    put(request, path, row.value)
    return request


def test_the_table_has_every_field_of_every_built_rpc() -> None:
    assert sorted(TABLE) == BUILT
    for name, fields in TABLE.items():
        assert set(fields) == set(paths_of(METHODS[name].input_type)), name


def test_every_field_has_a_value_that_is_taken() -> None:
    assert [(name, path) for name, fields in TABLE.items() for path, field in fields.items() if not field.right] == []


@pytest.mark.parametrize("name", sorted(NOT_IMPLEMENTED))
def test_what_is_not_built_says_so(connected: Client, name: str) -> None:
    from_nothing = refusal(lambda: _send_empty(connected, name))
    assert (from_nothing.code.name, from_nothing.reason) == ("UNIMPLEMENTED", "NOT_IMPLEMENTED")


def _send_empty(client: Client, name: str) -> Any:
    return send(client, name, GetMessageClass(METHODS[name].input_type)())


@pytest.mark.parametrize("name", BUILT)
def test_a_wrong_value_is_refused_by_name_and_changes_nothing(connected: Client, watch: Watch, name: str) -> None:
    watch.look_again()
    rows = [(path, row) for path, field in TABLE[name].items() for row in field.wrong]
    assert [wrong for path, row in rows if (wrong := difference_in_refusal(connected, name, path, row))] == []
    assert watch.saw_no_change(), rows_that_change(connected, watch, name, rows)


def difference_in_refusal(client: Client, name: str, path: str, row: Wrong) -> str:
    """The row and what was answered, unless the call was refused with the code, reason and field of the row."""
    expected = (row.code, row.reason, path + row.at if row.field is None else row.field)
    try:
        answer = send(client, name, request_with(name, path, row))
    except grpc.RpcError as error:
        refused = Refusal(error)
        seen = (refused.code, refused.reason, refused.field)
        return "" if seen == expected else f"{path}, {row.label}: {seen} instead of {expected}"
    return f"{path}, {row.label}: answered with {str(answer)[:100]}"


def rows_that_change(client: Client, watch: Watch, name: str, rows: Sequence[tuple[str, Wrong]]) -> list[str]:
    """Send the rows again and look after each: one look for all of them tells that there is a change, not whose."""
    found = []
    for path, row in rows:
        difference_in_refusal(client, name, path, row)
        if not watch.saw_no_change():
            found.append(f"{path}, {row.label}: the refused call changed something")
    return found


@pytest.mark.parametrize("name", BUILT)
def test_a_value_at_the_border_is_taken(connected: Client, name: str) -> None:
    rows = [(path, row) for path, field in TABLE[name].items() for row in field.right]
    assert [refused for path, row in rows if (refused := refusal_of(connected, name, path, row))] == []


def refusal_of(client: Client, name: str, path: str, row: Right) -> str:
    """The row and what was refused; nothing when the call was answered."""
    request = request_with(name, path, row, f"session-{next(_numbers)}")
    try:
        prepare(client, name, request)
        send(client, name, request)
    except grpc.RpcError as error:
        refused = Refusal(error)
        return f"{path}, {row.label}: {refused.code} {refused.reason} {refused.field}: {refused.message}"
    return ""


def prepare(client: Client, name: str, request: Any) -> None:
    """Make what the request acts on."""
    scope = {"namespace": request.namespace, "user_id": request.user_id}
    if name == "Annotate":
        client.add(request.session_id, "hello", ROLE_USER, id=request.message_id, **scope)
    if name == "DeleteSession":
        client.add(request.session_id, "hello", **scope)
    if name == "DeleteDocument":
        document = Document(id=request.document_id, text="Hello.")
        send(client, "PutDocument", PutDocumentRequest(**scope, session_id=request.session_id, document=document))
    if name == "DeleteFact":
        told = PutFactsRequest(
            **scope, session_id=request.session_id, facts=[Fact(type=FACT_TYPE_DOMAIN, key="k", value="v")]
        )
        request.fact_id = send(client, "PutFacts", told).facts[0].id
    if name == "DeleteArtifact":
        artifact = Artifact(id=request.artifact_id, content="Hello.")
        send(client, "PutArtifact", PutArtifactRequest(**scope, session_id=request.session_id, artifact=artifact))
