"""The RPCs about documents, over a real socket."""

from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1 import knowledge_pb2 as pb
from tests.bad_input.field_values import METADATA_BYTES, metadata_of_bytes, tags
from tests.documents.components import COUNTER
from tests.documents.server import KnowledgeServer, serving
from tests.support.process import refusal

CALLS = {"PutDocument", "ListDocuments", "DeleteDocument", "SearchDocuments"}
TEXT = "The quick brown fox jumps over the lazy dog. It does so every day.\n\n" * 60


class BlockingCounter:
    """A real counter that blocks at its first count until it is released."""

    name, exact, adds_lines, ready = "gated", True, False, True

    def __init__(self) -> None:
        self.reached, self.go = Event(), Event()

    def warm(self) -> None:
        COUNTER.warm()

    def count(self, text: str) -> int:
        self.reached.set()
        assert self.go.wait(30)
        return COUNTER.count(text)


@pytest.fixture
def scope(request: pytest.FixtureRequest) -> str:
    """The namespace of the test."""
    return str(request.node.name[:200])


def search(served: KnowledgeServer, query: str, **fields: Any) -> list[Any]:
    request = pb.SearchDocumentsRequest(query=query, **fields)
    return list(served.call("SearchDocuments", request).hits)


def test_put_returns_all_fields_but_the_text(served: KnowledgeServer, scope: str) -> None:
    time = Timestamp(seconds=1_700_000_000, nanos=123_456_000)
    answer = served.put(
        "d1", TEXT, namespace=scope, title="Foxes", source="a.txt", metadata=tags(a="b"), create_time=time
    )
    document = answer.document
    assert not answer.unchanged
    assert (document.id, document.title, document.source, document.text) == ("d1", "Foxes", "a.txt", "")
    assert (document.metadata, document.create_time) == (tags(a="b"), time)
    assert (document.tokens, document.sha256) == (COUNTER.count(TEXT), sha256(TEXT.encode()).hexdigest())
    assert document.chunk_count > 3
    (listed,) = served.call("ListDocuments", pb.ListDocumentsRequest(namespace=scope)).documents
    assert listed == document


def test_output_only_fields_are_ignored(served: KnowledgeServer, scope: str) -> None:
    plain = served.put("d1", "Hello.", namespace=scope).document
    assert plain.create_time.seconds > 1_700_000_000 and not plain.HasField("metadata")
    again = served.put("d1", "Hello.", namespace=scope, chunk_count=9, tokens=-1, sha256="x")
    assert again.unchanged and again.document == plain


def test_a_new_text_replaces_the_old_one(served: KnowledgeServer, scope: str) -> None:
    served.put("d1", TEXT, namespace=scope)
    assert not served.put("d1", "A heron.", namespace=scope).unchanged
    assert search(served, "fox", namespace=scope) == []
    assert [hit.chunk.text for hit in search(served, "heron.", namespace=scope)] == ["A heron."]


def test_delete_returns_the_number_of_chunks_and_then_not_found(served: KnowledgeServer, scope: str) -> None:
    count = served.put("d1", TEXT, namespace=scope).document.chunk_count
    request = pb.DeleteDocumentRequest(namespace=scope, document_id="d1")
    assert served.call("DeleteDocument", request).removed_chunks == count
    assert served.ids(namespace=scope) == [] and search(served, "fox", namespace=scope) == []
    refused = refusal(lambda: served.call("DeleteDocument", request))
    assert (refused.code.name, refused.reason) == ("NOT_FOUND", "NOT_FOUND")


def test_a_document_is_deleted_only_for_its_owner(served: KnowledgeServer, scope: str) -> None:
    served.put("d1", "Hello.", namespace=scope, user_id="ann")
    for other in ({}, {"user_id": "bob"}, {"session_id": "ann"}):
        request = pb.DeleteDocumentRequest(namespace=scope, document_id="d1", **other)
        assert refusal(partial(served.call, "DeleteDocument", request)).code.name == "NOT_FOUND"
    assert served.ids(namespace=scope, user_id="ann") == ["d1"]


def test_pages_hold_every_document_once_in_the_order_of_ids(served: KnowledgeServer, scope: str) -> None:
    ids = sorted(f"{number} é" for number in range(11))
    for name in ids:
        served.put(name, "Hello.", namespace=scope)
    seen, token = [], ""
    while True:
        page = served.call("ListDocuments", pb.ListDocumentsRequest(namespace=scope, page_size=3, page_token=token))
        seen += [document.id for document in page.documents]
        token = page.next_page_token
        if not token:
            break
    assert seen == ids


def test_a_page_is_smaller_than_grpc_allows(served: KnowledgeServer, scope: str) -> None:
    for number in range(260):
        served.put(f"d{number}", "Hello.", namespace=scope, metadata=metadata_of_bytes(METADATA_BYTES))
    page = served.call("ListDocuments", pb.ListDocumentsRequest(namespace=scope, page_size=1_000))
    assert page.next_page_token and 2 << 20 < page.ByteSize() < 4 << 20


@pytest.mark.parametrize("changed", [{"namespace": "other"}, {"user_id": "u"}, {"session_id": "s"}], ids=str)
def test_a_page_token_is_valid_for_its_own_request_only(
    served: KnowledgeServer, scope: str, changed: dict[str, str]
) -> None:
    token = _token(served, scope)
    fields: dict[str, Any] = {"namespace": scope, "page_token": token} | changed
    request = pb.ListDocumentsRequest(**fields)
    assert refusal(lambda: served.call("ListDocuments", request)).field == "page_token"


def test_a_page_token_that_was_cut_or_lengthened_is_refused(served: KnowledgeServer, scope: str) -> None:
    token = _token(served, scope)
    for wrong in [*(token[:length] for length in range(1, len(token))), token + "A", token + "AAAA", token * 2]:
        request = pb.ListDocumentsRequest(namespace=scope, page_token=wrong)
        refused = refusal(partial(served.call, "ListDocuments", request))
        assert (refused.code.name, refused.field) == ("INVALID_ARGUMENT", "page_token")


def _token(served: KnowledgeServer, scope: str) -> str:
    for name in ("a document", "b", "c"):
        served.put(name, "Hello.", namespace=scope)
    token: str = served.call("ListDocuments", pb.ListDocumentsRequest(namespace=scope, page_size=1)).next_page_token
    return token


def test_search_covers_documents_of_the_namespace_the_user_and_the_session(served: KnowledgeServer, scope: str) -> None:
    served.say(scope, "ann", "s1")
    for name, owner in {
        "all": {},
        "ann": {"user_id": "ann"},
        "s1": {"session_id": "s1"},
        "bob": {"user_id": "bob"},
    }.items():
        served.put(name, "A heron stands here.", namespace=scope, **owner)

    def seen(**who: str) -> set[str]:
        return {hit.chunk.document_id for hit in search(served, "heron", namespace=scope, limit=5, **who)}

    assert seen() == {"all"}
    assert seen(user_id="ann") == {"all", "ann"}
    assert seen(session_id="s1") == seen(session_id="s1", user_id="ann") == {"all", "ann", "s1"}
    assert seen(user_id="bob") == {"all", "bob"}
    assert search(served, "heron", namespace=f"not {scope}"[:200]) == []


@pytest.mark.parametrize("name", sorted(CALLS))
def test_another_users_session_is_refused_by_every_rpc(served: KnowledgeServer, name: str) -> None:
    served.say("refused", "ann", "s1")
    scope: dict[str, Any] = {"namespace": "refused", "user_id": "bob", "session_id": "s1"}
    requests: dict[str, Any] = {
        "PutDocument": pb.PutDocumentRequest(document=pb.Document(id="d", text="Hello."), **scope),
        "ListDocuments": pb.ListDocumentsRequest(**scope),
        "DeleteDocument": pb.DeleteDocumentRequest(document_id="d", **scope),
        "SearchDocuments": pb.SearchDocumentsRequest(query="hello", **scope),
    }
    refused = refusal(lambda: served.call(name, requests[name]))
    assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "SESSION_OWNER_MISMATCH")


def test_search_returns_three_chunks_by_default_and_five_at_most(served: KnowledgeServer, scope: str) -> None:
    for number in range(8):
        served.put(f"d{number}", "A heron stands here.", namespace=scope)
    counts = {limit: len(search(served, "heron", namespace=scope, limit=limit)) for limit in (0, 1, 4, 5, 6, 2**31 - 1)}
    assert counts == {0: 3, 1: 1, 4: 4, 5: 5, 6: 5, 2**31 - 1: 5}


def test_a_hit_has_its_chunk_and_its_score_breakdown(served: KnowledgeServer, scope: str) -> None:
    served.put("d1", TEXT + "A heron stands in the reeds.", namespace=scope)
    last = served.call("ListDocuments", pb.ListDocumentsRequest(namespace=scope)).documents[0].chunk_count - 1
    (hit,) = search(served, "heron swims", namespace=scope)
    assert (hit.chunk.document_id, hit.chunk.chunk_index) == ("d1", last)
    assert "heron" in hit.chunk.text and hit.chunk.tokens == COUNTER.count(hit.chunk.text)
    assert hit.score == hit.scores.keyword == 0.5
    assert search(served, "heron swims", namespace=scope, min_score=0.6) == []


def test_other_calls_are_answered_while_a_document_is_chunked() -> None:
    gated = BlockingCounter()
    with closing(VolatileJournal()) as journal, serving(journal, gated) as served:
        request = pb.PutDocumentRequest(document=pb.Document(id="d1", text=TEXT))
        call = served.begin("PutDocument", request)
        assert gated.reached.wait(30)
        for _ in range(10):
            assert served.ids() == []
        assert not call.done()
        gated.go.set()
        assert call.result().document.id == "d1"


def test_documents_outlive_the_server(tmp_path: Path) -> None:
    for known in (False, True):
        with closing(SqliteJournal(tmp_path / "data")) as journal, serving(journal) as served:
            assert served.put("d1", TEXT).unchanged == known
            assert served.ids() == ["d1"]
