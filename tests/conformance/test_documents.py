"""Documents: atomic, one version at a time, and absent after deletion."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from memsidecar.domain.errors import NotFound
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    DeleteDocument,
    DocumentDeleted,
    DocumentQuery,
    DocumentWritten,
    Erased,
    ErasureCounts,
    Journal,
    NoOp,
    Owner,
    PendingCommand,
    PutDocument,
    RowsErased,
    StoredDocument,
)
from tests.conformance.builders import (
    KEY,
    NAMESPACE_OWNER,
    append,
    document,
    draft,
    erase,
    execute,
    follow,
    known_head,
    put,
)

ANN, SESSION = Owner("default", "ann"), Owner("default", "", "s1")


def drop(journal: Journal, name: str = "d1", owner: Owner = NAMESPACE_OWNER) -> DocumentDeleted:
    result: DocumentDeleted = execute(journal, DeleteDocument(owner, name))
    return result


def chunks_of(journal: Journal, stored: StoredDocument) -> list[str]:
    """Return the chunks, which are not found in any other namespace."""
    places = [(stored.version, place) for place in range(-1, stored.chunk_count + 1)]
    found = journal.find_chunks(stored.owner.namespace, places)
    assert journal.find_chunks("nowhere", places) == {}
    assert all(listed == stored for listed, _ in found.values())
    return [found[place][1].text for place in places if place in found]


def names(documents: Sequence[StoredDocument]) -> list[str]:
    return [found.id for found in documents]


def test_a_document_is_read_as_it_was_put(journal: Journal) -> None:
    given = document("one ", "two", title="T", source="S", metadata=b"\0\1{}", create_time_us=77)
    stored = execute(journal, PutDocument(given)).document
    assert journal.document(NAMESPACE_OWNER, "d1") == stored
    assert (stored.owner, stored.id, stored.title, stored.source, stored.metadata) == (
        NAMESPACE_OWNER,
        "d1",
        "T",
        "S",
        b"\0\1{}",
    )
    assert (stored.create_time_us, stored.sha256, stored.tokens, stored.chunk_count) == (77, given.sha256, 7, 2)
    assert stored.chunks == ()
    assert chunks_of(journal, stored) == ["one ", "two"]
    assert [
        chunk.tokens for _, chunk in journal.find_chunks("default", [(stored.version, 0), (stored.version, 1)]).values()
    ] == [
        4,
        3,
    ]


def test_the_entry_of_a_document_has_all_its_chunks(journal: Journal) -> None:
    stored = put(journal, "one", "two").document
    (entry,) = follow(journal)
    assert isinstance(entry, DocumentWritten)
    assert entry == (stored.version, replace(stored, chunks=entry.document.chunks))
    assert [chunk.text for chunk in entry.document.chunks] == ["one", "two"]


def test_the_same_document_again_writes_nothing(journal: Journal) -> None:
    first = put(journal, "one", "two", title="T")
    before = journal.log_end("default")
    again = put(journal, "one", "two", title="T", create_time_us=5)
    assert (first.unchanged, again.unchanged) == (False, True)
    assert again.document == first.document
    assert journal.log_end("default") == before


def test_a_new_title_replaces_the_title_only(journal: Journal) -> None:
    first = put(journal, "one", "two", title="T", metadata=b"m").document
    before = journal.log_end("default")
    again = put(journal, "one", "two", title="U", source="S")
    assert not again.unchanged
    assert again.document == replace(first, title="U", source="S", metadata=b"")
    assert journal.document(NAMESPACE_OWNER, "d1") == again.document
    assert chunks_of(journal, again.document) == ["one", "two"]
    assert journal.log_end("default") == before
    assert put(journal, "one", "two", title="U", source="S").unchanged


def test_new_text_replaces_all_chunks_under_the_same_row_id(journal: Journal) -> None:
    old = put(journal, "one", "two", "three").document
    new = put(journal, "four").document
    assert new.row_id == old.row_id and new.version > old.version
    assert chunks_of(journal, new) == ["four"]
    assert journal.find_chunks("default", [(old.version, 0), (old.version, 2), (new.version, 2)]) == {}
    passed, entry = follow(journal)
    assert passed == NoOp(old.version)
    assert isinstance(entry, DocumentWritten) and entry.document.version == new.version


def test_the_same_text_with_other_chunks_is_new(journal: Journal) -> None:
    old = put(journal, "one two").document
    new = put(journal, "one ", "two", chunking="smaller")
    assert not new.unchanged and new.document.version > old.version
    assert chunks_of(journal, new.document) == ["one ", "two"]


def test_an_earlier_text_is_new_again(journal: Journal) -> None:
    versions = [put(journal, text).document.version for text in ("one", "two", "one")]
    assert versions == sorted(set(versions))


def test_owners_do_not_see_each_others_documents(journal: Journal) -> None:
    owners = [NAMESPACE_OWNER, ANN, SESSION, Owner("elsewhere")]
    numbers = {put(journal, f"text {place}", owner=owner).document.row_id for place, owner in enumerate(owners)}
    assert len(numbers) == 4
    for place, owner in enumerate(owners):
        stored = journal.document(owner, "d1")
        assert stored is not None and stored.owner == owner
        assert chunks_of(journal, stored) == [f"text {place}"]
    drop(journal, owner=ANN)
    assert [journal.document(owner, "d1") is None for owner in owners] == [False, True, False, False]
    assert journal.document(NAMESPACE_OWNER, "unknown") is None


def test_documents_are_listed_by_their_ids_page_by_page(journal: Journal) -> None:
    for name in ("b", "é", "a", "B", "c"):
        put(journal, name, name=name)
    put(journal, "x", name="ann's", owner=ANN)
    listed, after = [], ""
    while page := journal.documents(DocumentQuery(NAMESPACE_OWNER, limit=2, after_id=after)):
        assert len(page) <= 2
        listed += names(page)
        after = page[-1].id
    assert listed == ["B", "a", "b", "c", "é"]
    assert list(journal.documents(DocumentQuery(ANN))) == [journal.document(ANN, "ann's")]
    assert list(journal.documents(DocumentQuery(Owner("nowhere")))) == []


def test_a_deleted_document_is_absent(journal: Journal) -> None:
    stored = put(journal, "one", "two").document
    put(journal, "kept", name="d2")
    assert drop(journal) == DocumentDeleted(2)
    assert journal.document(NAMESPACE_OWNER, "d1") is None
    assert names(journal.documents(DocumentQuery(NAMESPACE_OWNER))) == ["d2"]
    assert journal.find_chunks("default", [(stored.version, 0)]) == {}
    passed, _, gone = follow(journal)
    assert (passed, gone) == (NoOp(stored.version), RowsErased(gone.lsn, -stored.row_id))
    assert journal.last_lsns() == {"default": gone.lsn}


def test_deleting_an_unknown_document_is_rejected(journal: Journal) -> None:
    put(journal, "one", owner=ANN)
    with pytest.raises(NotFound):
        drop(journal)
    drop(journal, owner=ANN)
    with pytest.raises(NotFound):
        drop(journal, owner=ANN)


def test_the_row_id_of_a_deleted_document_is_not_reused(journal: Journal) -> None:
    first = put(journal, "one").document
    drop(journal)
    assert put(journal, "one").document.row_id > first.row_id


def test_a_document_may_be_empty(journal: Journal) -> None:
    stored = put(journal).document
    assert (stored.chunk_count, journal.document(NAMESPACE_OWNER, "d1")) == (0, stored)
    put(journal, title="T")
    assert put(journal, "text").document.chunk_count == 1
    assert drop(journal) == DocumentDeleted(1)


def test_deleting_a_session_deletes_its_documents(journal: Journal) -> None:
    mine = [put(journal, name, name=name, owner=SESSION).document for name in ("b", "a")]
    append(journal, draft("m"), user_id="ann")
    for owner in (NAMESPACE_OWNER, ANN, Owner("default", "", "s2"), Owner("elsewhere", "", "s1")):
        put(journal, "kept", owner=owner)
    number, before = known_head(journal).row_id, journal.log_end("default")
    assert erase(journal, delete_session=True) == Erased(
        None, ErasureCounts(messages=1, documents=2, chunks=2, sessions=1)
    )
    assert list(journal.documents(DocumentQuery(SESSION))) == []
    entry = follow(journal, after_lsn=before)
    assert [type(written) for written in entry] == [RowsErased] * 3
    assert [written.session for written in entry if isinstance(written, RowsErased)] == [
        number,
        -mine[1].row_id,
        -mine[0].row_id,
    ]
    assert journal.document(NAMESPACE_OWNER, "d1") and journal.document(ANN, "d1")
    assert journal.document(Owner("default", "", "s2"), "d1") and journal.document(Owner("elsewhere", "", "s1"), "d1")


def test_a_cleared_session_keeps_its_documents(journal: Journal) -> None:
    put(journal, "kept", owner=SESSION)
    append(journal, draft("m"))
    erase(journal)
    assert journal.document(SESSION, "d1") is not None


def test_documents_do_not_need_their_session(journal: Journal) -> None:
    put(journal, "early", owner=SESSION)
    assert journal.head(KEY) is None
    assert erase(journal) == Erased(None, ErasureCounts())
    assert journal.document(SESSION, "d1") is not None
    assert erase(journal, delete_session=True) == Erased(None, ErasureCounts(documents=1, chunks=1, sessions=1))
    assert journal.document(SESSION, "d1") is None
    with pytest.raises(NotFound):
        erase(journal, delete_session=True)


def test_readers_never_see_a_partial_document(journal: Journal) -> None:
    """All chunks of a version consist of one letter, and its title states their number."""
    over = threading.Event()
    put(journal, "a" * 50, title="1")

    def look() -> int:
        looks = 0
        while not over.is_set():
            stored = journal.document(NAMESPACE_OWNER, "d1")
            assert stored is not None and int(stored.title) == stored.chunk_count
            found = journal.find_chunks("default", [(stored.version, place) for place in range(stored.chunk_count)])
            assert len(found) in (0, stored.chunk_count)
            assert len({(listed.title, chunk.text) for listed, chunk in found.values()}) <= 1
            for entry in journal.read_changes("default", stored.version - 1, 1):
                document = isinstance(entry, DocumentWritten) and entry.document
                assert not document or len(document.chunks) == document.chunk_count == int(document.title)
            looks += 1
        return looks

    with ThreadPoolExecutor(2) as pool:
        looking = [pool.submit(look) for _ in range(2)]
        for number in range(40):
            count = 1 + number * 7 % 13
            put(journal, *["abcdefg"[number % 7] * 50] * count, title=str(count))
        over.set()
        assert all(future.result() for future in looking)


def test_commands_of_one_document_take_effect_in_the_order_of_submission(journal: Journal) -> None:
    """Each of many concurrent commands sees the one before it, including the deletion of the session."""
    commands = []
    for number in range(60):
        commands.append(PendingCommand(PutDocument(document(f"text {number // 2}", owner=SESSION))))
        journal.submit(commands[-1])
    results = [pending.wait() for pending in commands]
    assert [result.unchanged for result in results] == [False, True] * 30
    assert len({result.document.row_id for result in results}) == 1
    append(journal, draft("m"), key=SessionKey("default", "s1"))
    stored = journal.document(SESSION, "d1")
    assert stored is not None and chunks_of(journal, stored) == ["text 29"]
