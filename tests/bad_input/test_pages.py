"""A page token is good for the request that it was given to, and for nothing else."""

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
from tests.bad_input.rpcs import good, put, send
from tests.bad_input.values import DIMENSIONS, tags
from tests.support.process import Client, Refusal, SidecarProcess

GET_ALL: dict[str, Any] = {"session_id": "paged", "page_size": 2}
SEARCH: dict[str, Any] = {"session_id": "paged", "query": "hello", "limit": 2}
KINDS: dict[str, Any] = {
    "GetAll": memory.GetAllRequest,
    "Search": memory.SearchRequest,
    "Search by substring": memory.SearchRequest,
    "ListSessions": session.ListSessionsRequest,
    "ListDocuments": knowledge.ListDocumentsRequest,
    "ListFacts": knowledge.ListFactsRequest,
    "ListArtifacts": knowledge.ListArtifactsRequest,
}
FIRST: dict[str, dict[str, Any]] = {
    "GetAll": GET_ALL,
    "Search": SEARCH,
    "Search by substring": SEARCH | {"mode": memory.SEARCH_MODE_SUBSTRING},
    "ListSessions": {"page_size": 2},
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
            request = good("PutDocument", "paged")
            put(request, "document.id", f"document {number}")
            send(client, "PutDocument", request)
            request = good("PutArtifact", "paged")
            put(request, "artifact.id", f"artifact {number}")
            send(client, "PutArtifact", request)
        facts = [knowledge.Fact(type=knowledge.FACT_TYPE_DOMAIN, key=f"key {number}", value="x") for number in range(5)]
        send(client, "PutFacts", knowledge.PutFactsRequest(session_id="paged", facts=facts))
        yield client


def call(client: Client, kind: str, request: Proto) -> Any:
    return send(client, kind.partition(" ")[0], request)


def token_of(client: Client, name: str) -> str:
    token: str = call(client, name, KINDS[name](**FIRST[name])).next_page_token
    assert token
    return token


def taken(client: Client, name: str, token: str, **changed: Any) -> list[str]:
    """The token and the change, unless the call was refused because of its page token."""
    request = KINDS[name](**FIRST[name] | changed, page_token=token)
    try:
        call(client, name, request)
    except grpc.RpcError as error:
        refused = Refusal(error)
        if (refused.code.name, refused.reason, refused.field) == ("INVALID_ARGUMENT", "INVALID_FIELD", "page_token"):
            return []
        return [f"{name}, {token[:60]!r}, {changed}: {refused.code} {refused.reason} {refused.field}"]
    return [f"{name}, {token[:60]!r}, {changed}: answered"]


@pytest.mark.parametrize("name", KINDS)
def test_a_token_that_was_cut_is_refused(paged: Client, name: str) -> None:
    token = token_of(paged, name)
    assert [row for length in range(1, len(token)) for row in taken(paged, name, token[:length])] == []


@pytest.mark.parametrize("name", KINDS)
def test_a_token_with_something_appended_is_refused(paged: Client, name: str) -> None:
    token = token_of(paged, name)
    appended = ("A", "AA", "x" * 5, " ", "\n", "\0", token)
    assert [row for more in appended for row in taken(paged, name, token + more)] == []


def test_a_token_of_another_rpc_is_refused(paged: Client) -> None:
    tokens = {name: token_of(paged, name) for name in KINDS}
    pairs = [(name, other) for name in KINDS for other in KINDS.keys() - {name}]
    assert [row for name, other in pairs for row in taken(paged, name, tokens[other])] == []


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
    "ListDocuments": _OTHER_SESSION,
    "ListFacts": [*_OTHER_SESSION, {"types": [1]}, {"include_history": True}],
    "ListArtifacts": _OTHER_SESSION,
}
"Each row changes a request so that the token of the unchanged one is no longer good for it."


@pytest.mark.parametrize("name", KINDS)
def test_a_token_of_another_request_of_the_same_rpc_is_refused(paged: Client, name: str) -> None:
    token = token_of(paged, name)
    assert [row for changed in CHANGED[name] for row in taken(paged, name, token, **changed)] == []


ANYTHING = (b"[" * 100_000, b"{}", b"null", b"", b"[]", b'["1"]', b"[1.5]", b"[true]", b"[NaN]", b"\xff", b"[1,2,3]")


@pytest.mark.parametrize("name", KINDS)
def test_a_token_made_up_of_anything_is_refused(paged: Client, name: str) -> None:
    assert [row for position in ANYTHING for row in taken(paged, name, encoded(b"sealed" + position))] == []


def encoded(token: bytes) -> str:
    return base64.urlsafe_b64encode(token).decode().rstrip("=")


def test_a_forged_position_beyond_every_number_is_not_a_bug(paged: Client) -> None:
    """The seal of a token is no secret: a reader of the source can make one."""
    of_request = memory.GetAllRequest(namespace="default", session_id="paged").SerializeToString(deterministic=True)
    seal = blake2b(of_request, digest_size=6).digest()
    positions = (b"[1" + b"0" * 30 + b"]", b"[-1" + b"0" * 30 + b"]", b"[9223372036854775808]")
    assert [row for position in positions for row in taken(paged, "GetAll", encoded(seal + position))] == []


def test_a_position_in_the_log_of_all_sessions_cannot_be_forged(paged: Client) -> None:
    same = memory.SearchRequest(**{name: value for name, value in SEARCH.items() if name != "limit"})
    seal = blake2b(same.SerializeToString(deterministic=True), digest_size=6).digest()
    positions = ((2**63 - 1, 0), (0, 2**30 + 1), (1, 1), (0, 0))
    forged = [encoded(seal + struct.pack(">2q", *position)) for position in positions]
    assert [row for token in forged for row in taken(paged, "Search", token)] == []


@pytest.mark.parametrize("name", KINDS)
def test_the_size_of_a_page_may_change_from_page_to_page(paged: Client, name: str) -> None:
    size = "limit" if name.startswith("Search") else "page_size"
    request = KINDS[name](**FIRST[name] | {size: 1}, page_token=token_of(paged, name))
    assert call(paged, name, request).ByteSize() > 0
