"""Each field of each built RPC: an invalid value is refused with its name, a value at the limit is accepted."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import grpc
import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message as Proto

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
from tests.bad_input.field_table import TABLE
from tests.bad_input.field_values import Invalid, Valid
from tests.bad_input.rpcs import METHODS, send, set_field, valid_request
from tests.support.process import Client, Refusal

REPEATED_FIELD_PATHS = {"messages": "messages[1]", "tool_calls": "tool_calls[0]", "facts": "facts[1]"}
REPEATED_FIELD_PATHS |= {"sections": "sections[1]"}
_numbers = itertools.count()


def paths_of(descriptor: Descriptor, prefix: str = "") -> Iterator[str]:
    """Return the path of each field, including fields of nested messages, as in the table."""
    for field in descriptor.fields:
        yield prefix + field.name
        if field.message_type is not None and field.message_type.full_name.startswith("memsidecar."):
            name = REPEATED_FIELD_PATHS.get(field.name, field.name) if field.is_repeated else field.name
            yield from paths_of(field.message_type, f"{prefix}{name}.")


def request_with(name: str, path: str, row: Invalid | Valid, session_id: str | None = None) -> Proto:
    request = valid_request(name) if session_id is None else valid_request(name, session_id)
    for where, value in row.given.items():
        set_field(request, where, value)
    set_field(request, path, row.value)
    return request


def test_the_table_has_all_fields_of_all_rpcs() -> None:
    assert TABLE.keys() == METHODS.keys()
    for name, fields in TABLE.items():
        assert set(fields) == set(paths_of(METHODS[name].input_type)), name


def test_each_field_has_a_valid_value() -> None:
    assert [(name, path) for name, fields in TABLE.items() for path, field in fields.items() if not field.valid] == []


@pytest.mark.parametrize("name", sorted(METHODS))
def test_an_invalid_value_is_refused_by_name_and_changes_nothing(connected: Client, watch: Watch, name: str) -> None:
    watch.accept_changes()
    rows = [(path, row) for path, field in TABLE[name].items() for row in field.invalid]
    assert [wrong for path, row in rows if (wrong := difference_in_refusal(connected, name, path, row))] == []
    assert watch.is_unchanged(), rows_that_change(connected, watch, name, rows)


def difference_in_refusal(client: Client, name: str, path: str, row: Invalid) -> str:
    """Return the row and the result, or nothing if the error has the code, reason and field of the row."""
    expected = (row.code, row.reason, path + row.at if row.field is None else row.field)
    try:
        answer = send(client, name, request_with(name, path, row))
    except grpc.RpcError as error:
        refused = Refusal(error)
        seen = (refused.code, refused.reason, refused.field)
        return "" if seen == expected else f"{path}, {row.label}: {seen} instead of {expected}"
    return f"{path}, {row.label}: answered with {str(answer)[:100]}"


def rows_that_change(client: Client, watch: Watch, name: str, rows: Sequence[tuple[str, Invalid]]) -> list[str]:
    """Send the rows again, with a check after each, to find the row that changes something."""
    found = []
    for path, row in rows:
        difference_in_refusal(client, name, path, row)
        if not watch.is_unchanged():
            found.append(f"{path}, {row.label}: the refused call changed something")
    return found


@pytest.mark.parametrize("name", sorted(METHODS))
def test_a_value_at_the_limit_is_accepted(connected: Client, name: str) -> None:
    rows = [(path, row) for path, field in TABLE[name].items() for row in field.valid]
    assert [refused for path, row in rows if (refused := refusal_of(connected, name, path, row))] == []


def refusal_of(client: Client, name: str, path: str, row: Valid) -> str:
    """Return the row and the error, or nothing if the call succeeded."""
    request = request_with(name, path, row, f"session-{next(_numbers)}")
    try:
        prepare(client, name, request)
        send(client, name, request)
    except grpc.RpcError as error:
        refused = Refusal(error)
        return f"{path}, {row.label}: {refused.code} {refused.reason} {refused.field}: {refused.message}"
    return ""


def prepare(client: Client, name: str, request: Any) -> None:
    """Create the object that the request acts on."""
    scope = {"namespace": request.namespace, "user_id": getattr(request, "user_id", "")}
    if name in ("Annotate", "ForgetMessage"):
        client.add(request.session_id, "hello", ROLE_USER, id=request.message_id, **scope)
    if name == "DeleteSession":
        client.add(request.session_id, "hello", **scope)
    if name == "DeleteDocument":
        document = Document(id=request.document_id, text="Hello.")
        send(client, "PutDocument", PutDocumentRequest(**scope, session_id=request.session_id, document=document))
    if name == "DeleteFact":
        put_facts = PutFactsRequest(
            **scope, session_id=request.session_id, facts=[Fact(type=FACT_TYPE_DOMAIN, key="k", value="v")]
        )
        request.fact_id = send(client, "PutFacts", put_facts).facts[0].id
    if name == "DeleteArtifact":
        artifact = Artifact(id=request.artifact_id, content="Hello.")
        send(client, "PutArtifact", PutArtifactRequest(**scope, session_id=request.session_id, artifact=artifact))
