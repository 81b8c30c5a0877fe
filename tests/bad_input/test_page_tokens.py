"""A page token is valid only for the request that returned it."""

import base64
import struct
from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message as Proto

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from tests.bad_input.field_values import DIMENSIONS, tags
from tests.bad_input.rpcs import send, set_field, valid_request
from tests.support.process import Client, Refusal, SidecarProcess

GET_ALL: dict[str, Any] = {"session_id": "paged", "page_size": 2}
SEARCH: dict[str, Any] = {"session_id": "paged", "query": "hello", "limit": 2}
REQUEST_TYPES: dict[str, Any] = {
    "GetAll": memory.GetAllRequest,
    "Search": memory.SearchRequest,
    "Search by substring": memory.SearchRequest,
    "ListSessions": session.ListSessionsRequest,
    "ListUsers": session.ListUsersRequest,
    "ListDocuments": knowledge.ListDocumentsRequest,
    "ListFacts": knowledge.ListFactsRequest,
    "ListArtifacts": knowledge.ListArtifactsRequest,
}
FIRST_PAGES: dict[str, dict[str, Any]] = {
    "GetAll": GET_ALL,
    "Search": SEARCH,
    "Search by substring": SEARCH | {"mode": memory.SEARCH_MODE_SUBSTRING},
    "ListSessions": {"page_size": 2},
    "ListUsers": {"page_size": 2},
    "ListDocuments": {"session_id": "paged", "page_size": 2},
    "ListFacts": {"session_id": "paged", "page_size": 2},
    "ListArtifacts": {"session_id": "paged", "page_size": 2},
}


@pytest.fixture(scope="module")
def paged(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as client:
        for session_id in ("paged", "other", "third"):
            for number in range(5):
                client.add(session_id, f"hello {number}", user_id="owner")
        for number in range(5):
            client.add(f"of user {number}", "hello", user_id=f"owner {number}")
            request = valid_request("PutDocument", "paged")
            set_field(request, "document.id", f"document {number}")
            send(client, "PutDocument", request)
            request = valid_request("PutArtifact", "paged")
            set_field(request, "artifact.id", f"artifact {number}")
            send(client, "PutArtifact", request)
        facts = [knowledge.Fact(type=knowledge.FACT_TYPE_DOMAIN, key=f"key {number}", value="x") for number in range(5)]
        send(client, "PutFacts", knowledge.PutFactsRequest(session_id="paged", facts=facts))
        yield client


def call(client: Client, kind: str, request: Proto) -> Any:
    return send(client, kind.partition(" ")[0], request)


def token_of(client: Client, name: str) -> str:
    token: str = call(client, name, REQUEST_TYPES[name](**FIRST_PAGES[name])).next_page_token
    assert token
    return token


def accepted(client: Client, name: str, token: str, **changed: Any) -> list[str]:
    """Return the token and the change, or nothing if the call was refused because of its page token."""
    request = REQUEST_TYPES[name](**FIRST_PAGES[name] | changed, page_token=token)
    try:
        call(client, name, request)
    except grpc.RpcError as error:
        refused = Refusal(error)
        if (refused.code.name, refused.reason, refused.field) == ("INVALID_ARGUMENT", "INVALID_FIELD", "page_token"):
            return []
        return [f"{name}, {token[:60]!r}, {changed}: {refused.code} {refused.reason} {refused.field}"]
    return [f"{name}, {token[:60]!r}, {changed}: answered"]


@pytest.mark.parametrize("name", REQUEST_TYPES)
def test_a_truncated_token_is_refused(paged: Client, name: str) -> None:
    token = token_of(paged, name)
    assert [row for length in range(1, len(token)) for row in accepted(paged, name, token[:length])] == []


@pytest.mark.parametrize("name", REQUEST_TYPES)
def test_a_token_with_appended_text_is_refused(paged: Client, name: str) -> None:
    token = token_of(paged, name)
    appended = ("A", "AA", "x" * 5, " ", "\n", "\0", token)
    assert [row for more in appended for row in accepted(paged, name, token + more)] == []


def test_a_token_of_another_rpc_is_refused(paged: Client) -> None:
    tokens = {name: token_of(paged, name) for name in REQUEST_TYPES}
    pairs = [(name, other) for name in REQUEST_TYPES for other in REQUEST_TYPES.keys() - {name}]
    assert [row for name, other in pairs for row in accepted(paged, name, tokens[other])] == []


_OTHER_SESSION: list[dict[str, Any]] = [{"session_id": "other"}, {"namespace": "other"}, {"user_id": "owner"}]
_OTHER_SEARCH: list[dict[str, Any]] = [
    *_OTHER_SESSION,
    {"query": "hell"},
    {"scope": 1},
    {"mode": memory.SEARCH_MODE_KEYWORD},
    {"min_score": 0.5},
    {"roles": [2]},
    {"metadata_filter": tags(a="x")},
    {"query_vector": [0.5] * DIMENSIONS},
]
CHANGED: dict[str, list[dict[str, Any]]] = {
    "GetAll": [*_OTHER_SESSION, {"include_pruned": True}, {"metadata_filter": tags(a="x")}],
    "Search": _OTHER_SEARCH,
    "Search by substring": _OTHER_SEARCH,
    "ListSessions": [{"namespace": "other"}, {"user_id": "owner"}],
    "ListUsers": [{"namespace": "other"}, {"user_id_prefix": "owner"}],
    "ListDocuments": _OTHER_SESSION,
    "ListFacts": [*_OTHER_SESSION, {"types": [1]}, {"include_history": True}],
    "ListArtifacts": _OTHER_SESSION,
}
"Each row changes a request so that the token of the unchanged request is invalid for it."


@pytest.mark.parametrize("name", REQUEST_TYPES)
def test_a_token_of_another_request_of_the_same_rpc_is_refused(paged: Client, name: str) -> None:
    token = token_of(paged, name)
    assert [row for changed in CHANGED[name] for row in accepted(paged, name, token, **changed)] == []


INVALID_POSITIONS = (
    b"[" * 100_000,
    b"{}",
    b"null",
    b"",
    b"[]",
    b'["1"]',
    b"[1.5]",
    b"[true]",
    b"[NaN]",
    b"\xff",
    b"[1,2,3]",
)


@pytest.mark.parametrize("name", REQUEST_TYPES)
def test_a_token_of_arbitrary_bytes_is_refused(paged: Client, name: str) -> None:
    assert [row for position in INVALID_POSITIONS for row in accepted(paged, name, encoded(b"sealed" + position))] == []


def encoded(token: bytes) -> str:
    return base64.urlsafe_b64encode(token).decode().rstrip("=")


def test_a_forged_position_out_of_range_is_refused(paged: Client) -> None:
    """The checksum of a token is no secret: it can be computed from the source."""
    of_request = memory.GetAllRequest(namespace="default", session_id="paged").SerializeToString(deterministic=True)
    checksum = blake2b(of_request, digest_size=6).digest()
    positions = (b"[1" + b"0" * 30 + b"]", b"[-1" + b"0" * 30 + b"]", b"[9223372036854775808]")
    assert [row for position in positions for row in accepted(paged, "GetAll", encoded(checksum + position))] == []


def test_a_position_in_the_log_of_all_sessions_cannot_be_forged(paged: Client) -> None:
    same = memory.SearchRequest(**{name: value for name, value in SEARCH.items() if name != "limit"})
    checksum = blake2b(same.SerializeToString(deterministic=True), digest_size=6).digest()
    positions = ((2**63 - 1, 0), (0, 2**30 + 1), (1, 1), (0, 0))
    forged = [encoded(checksum + struct.pack(">2q", *position)) for position in positions]
    assert [row for token in forged for row in accepted(paged, "Search", token)] == []


@pytest.mark.parametrize("name", REQUEST_TYPES)
def test_the_size_of_a_page_may_change_from_page_to_page(paged: Client, name: str) -> None:
    size = "limit" if name.startswith("Search") else "page_size"
    request = REQUEST_TYPES[name](**FIRST_PAGES[name] | {size: 1}, page_token=token_of(paged, name))
    assert call(paged, name, request).ByteSize() > 0
