"""Putting, listing and deleting documents, on both journals."""

from hashlib import sha256

import pytest

from memsidecar.domain.errors import NotFound, SessionOwnerMismatch, TooLarge
from memsidecar.domain.session import SessionKey
from memsidecar.layers.documents import documents
from memsidecar.layers.field_checks import MAX_RESPONSE_BYTES
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import DocumentDeleted, Journal, Owner
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.bad_input.field_values import METADATA_BYTES, metadata_of_bytes, tags
from tests.documents.components import COUNTER, KeywordChunkSearch, documents_over, put

OWNER = Owner("ns")
TEXT = "The quick brown fox jumps over the lazy dog. It does so every day.\n\n" * 60


def say(journal: Journal, user_id: str, session_id: str) -> None:
    memory = WorkingMemory(journal, CounterRegistry("chars4"), WorkingLimits())
    memory.add(SessionKey("ns", session_id), user_id, [Message(role=ROLE_USER, content="hello")])


def test_a_document_is_stored_with_its_statistics_and_all_its_chunks(journal: Journal) -> None:
    documents = documents_over(journal)
    stored = put(documents, OWNER, "d1", TEXT, title="Foxes", source="foxes.txt", metadata=tags(a="b")).document
    expected = list(documents.validator.chunker(TEXT))
    assert (stored.title, stored.source, stored.tokens) == ("Foxes", "foxes.txt", COUNTER.count(TEXT))
    assert stored.sha256 == sha256(TEXT.encode()).hexdigest()
    assert stored.chunk_count == len(expected) > 3
    found = journal.find_chunks(OWNER.namespace, [(stored.version, index) for index in range(len(expected))])
    assert [found[stored.version, index][1] for index in range(len(expected))] == [
        (one.text, one.tokens) for one in expected
    ]


def test_the_same_document_again_is_unchanged(journal: Journal) -> None:
    documents = documents_over(journal)
    metadata = tags(**{f"key {number}": "x" for number in range(50)})
    first = put(documents, OWNER, "d1", TEXT, metadata=metadata)
    again = put(documents, OWNER, "d1", TEXT, metadata=tags(**{f"key {number}": "x" for number in range(49, -1, -1)}))
    assert not first.unchanged and again.unchanged
    assert again.document == first.document


def test_a_new_title_replaces_the_title_only(journal: Journal) -> None:
    documents = documents_over(journal)
    first = put(documents, OWNER, "d1", TEXT, title="old")
    again = put(documents, OWNER, "d1", TEXT, title="new")
    assert not again.unchanged
    assert (again.document.title, again.document.version) == ("new", first.document.version)


def test_another_text_replaces_the_first(journal: Journal) -> None:
    documents = documents_over(journal)
    first = put(documents, OWNER, "d1", TEXT).document
    second = put(documents, OWNER, "d1", "Hello.").document
    assert (second.row_id, second.chunk_count) == (first.row_id, 1)
    assert journal.find_chunks(OWNER.namespace, [(first.version, 0)]) == {}


def test_the_same_text_is_chunked_again_under_other_rules(journal: Journal) -> None:
    coarse = put(documents_over(journal), OWNER, "d1", TEXT).document
    fine = put(documents_over(journal, 60, 10), OWNER, "d1", TEXT)
    assert not fine.unchanged
    assert fine.document.chunk_count > coarse.chunk_count


def test_owners_do_not_see_each_others_documents(journal: Journal) -> None:
    documents = documents_over(journal)
    owners = [Owner("ns"), Owner("ns", "u"), Owner("ns", session_id="u"), Owner("other")]
    for number, owner in enumerate(owners):
        put(documents, owner, "same", f"text {number}", title=str(number))
    for number, owner in enumerate(owners):
        found, more = documents.page(owner, "", 10)
        assert [one.title for one in found] == [str(number)] and not more


def test_pages_are_in_the_order_of_ids(journal: Journal) -> None:
    documents = documents_over(journal)
    ids = [f"d{number:02}" for number in range(7)]
    for name in reversed(ids):
        put(documents, OWNER, name, "text")
    seen, after, more = [], "", True
    while more:
        page, more = documents.page(OWNER, after, 3)
        seen += [one.id for one in page]
        after = page[-1].id
    assert seen == ids


def test_a_page_fits_into_a_response(journal: Journal) -> None:
    documents = documents_over(journal)
    count = MAX_RESPONSE_BYTES // METADATA_BYTES + 10
    for number in range(count):
        put(documents, OWNER, f"d{number:04}", "text", metadata=metadata_of_bytes(METADATA_BYTES))
    first, more = documents.page(OWNER, "", 1_000)
    assert more and sum(len(one.metadata) for one in first) <= MAX_RESPONSE_BYTES
    rest, more = documents.page(OWNER, first[-1].id, 1_000)
    assert not more and len(first) + len(rest) == count


def test_a_deleted_document_is_absent(journal: Journal) -> None:
    documents = documents_over(journal)
    count = put(documents, OWNER, "d1", TEXT).document.chunk_count
    assert documents.submit_delete(OWNER, "d1").wait() == DocumentDeleted(count)
    assert documents.page(OWNER, "", 10) == ([], False)
    with pytest.raises(NotFound):
        documents.submit_delete(OWNER, "d1").wait()


def test_documents_of_a_session_do_not_depend_on_its_user(journal: Journal) -> None:
    documents = documents_over(journal)
    say(journal, "ann", "s1")
    expected = Owner("ns", session_id="s1")
    assert documents.owner("ns", "", "s1") == documents.owner("ns", "ann", "s1") == expected
    assert documents.owner("ns", "bob", "unknown") == Owner("ns", session_id="unknown")
    assert documents.owner("ns", "bob", "") == Owner("ns", "bob")
    assert documents.owner("ns", "", "") == Owner("ns")


def test_another_users_session_is_refused(journal: Journal) -> None:
    documents = documents_over(journal)
    say(journal, "ann", "s1")
    with pytest.raises(SessionOwnerMismatch):
        documents.owner("ns", "bob", "s1")
    with pytest.raises(SessionOwnerMismatch):
        documents.visible_owners("ns", "bob", "s1")


def test_documents_of_the_namespace_the_user_and_the_session_are_visible(journal: Journal) -> None:
    documents = documents_over(journal)
    say(journal, "ann", "s1")
    everybodys, anns, sessions = Owner("ns"), Owner("ns", "ann"), Owner("ns", session_id="s1")
    assert set(documents.visible_owners("ns", "", "")) == {everybodys}
    assert set(documents.visible_owners("ns", "ann", "")) == {everybodys, anns}
    assert set(documents.visible_owners("ns", "", "s1")) == {everybodys, anns, sessions}
    assert set(documents.visible_owners("ns", "ann", "s1")) == {everybodys, anns, sessions}
    assert set(documents.visible_owners("ns", "", "new")) == {everybodys, Owner("ns", session_id="new")}


def test_chunks_are_found_by_their_words(journal: Journal) -> None:
    put(documents_over(journal), OWNER, "d1", TEXT + "\n\nA heron stands in the reeds.")
    (hit,) = KeywordChunkSearch(journal)([OWNER], "heron reeds.", 3, 0.5).hits
    assert "heron" in hit.chunk.text and (hit.document.id, hit.score) == ("d1", 1.0)


def test_too_many_chunks_are_rejected(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_CHUNKS", 3)
    store = documents_over(journal)
    with pytest.raises(TooLarge, match="3 chunks"):
        put(store, OWNER, "d1", TEXT)
    assert store.page(OWNER, "", 10) == ([], False)
