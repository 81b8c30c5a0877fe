"""Archives: an export holds everything as of one position, and an import stores it once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from memsidecar.domain.errors import IdConflict, QuotaExceeded, SessionOwnerMismatch
from memsidecar.domain.message import Flag
from memsidecar.domain.quota import Quota
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import (
    ArchivedMessage,
    ArchivedRecord,
    ArchivePage,
    ArchivePosition,
    Calibrate,
    Calibration,
    DeleteRecord,
    DocumentQuery,
    EraseUser,
    ImportDocument,
    Imported,
    ImportMessages,
    ImportRecords,
    ImportSession,
    Journal,
    MessageImport,
    Origin,
    Outcome,
    Owner,
    Record,
    RecordChanges,
    RecordImport,
    RecordKind,
    Scope,
    SessionImport,
    StoredDocument,
)
from tests.conformance.builders import (
    ANN,
    KEY,
    Replica,
    answer,
    append,
    call,
    content,
    contents,
    document,
    draft,
    erase,
    execute,
    follow,
    forget,
    known_head,
    new_record,
    put,
    read,
    record_ids,
    recount,
    shortened,
    update_window,
    upsert,
)

OTHER = SessionKey("default", "s2")
EVERYTHING = Scope("default")
STORED, DUPLICATE, FORGOTTEN = Outcome.STORED, Outcome.DUPLICATE, Outcome.FORGOTTEN
LATER_US = 9_999_999_999_999_999
"A time after all erasures of these tests."


def pages(read_page: Any) -> list[Any]:
    """Return the items of all pages."""
    items: list[Any] = []
    after: int | None = 0
    while after is not None:
        page: ArchivePage = read_page(after)
        items += page.items
        assert page.next_after is None or page.next_after > after
        after = page.next_after
    return items


def archived_messages(journal: Journal, position: ArchivePosition, scope: Scope = EVERYTHING) -> list[ArchivedMessage]:
    return pages(lambda after: journal.archived_messages(scope, position, after))


def archived_records(journal: Journal, position: ArchivePosition, scope: Scope = EVERYTHING) -> list[ArchivedRecord]:
    return pages(lambda after: journal.archived_records(scope, position, after))


def archived_documents(journal: Journal, position: ArchivePosition, scope: Scope = EVERYTHING) -> list[StoredDocument]:
    return pages(lambda after: journal.archived_documents(scope, position, after))


def session_ids(journal: Journal, position: ArchivePosition, scope: Scope = EVERYTHING) -> list[str]:
    return [head.key.session_id for head in journal.archived_sessions(scope, position, "", 100)]


def import_messages(journal: Journal, *messages: MessageImport, override: bool = False) -> Sequence[Outcome]:
    imported: Imported = execute(journal, ImportMessages(messages, override))
    return list(imported.outcomes)


def message(text: str, sequence: int = 0, *, key: SessionKey = KEY, user_id: str = "", **rest: Any) -> MessageImport:
    return MessageImport(key, user_id, draft(text, message_id=rest.pop("message_id", "")), sequence, **rest)


def import_records(
    journal: Journal,
    *records: Record,
    owner: Owner = ANN,
    user_id: str = "",
    origin: Origin | None = None,
    override: bool = False,
) -> Sequence[Outcome]:
    given = [RecordImport(record, origin or Origin(owner.namespace, owner.user_id or user_id)) for record in records]
    imported: Imported = execute(
        journal, ImportRecords(owner, user_id, RecordKind.FACT, given, store_all, override_erasures=override)
    )
    return list(imported.outcomes)


def store_all(_stored: Sequence[Record], new: Sequence[Record]) -> RecordChanges:
    return RecordChanges(new)


def comparable(head: SessionHead) -> SessionHead:
    return replace(head, row_id=0, version=0)


# Exports.


def test_an_export_has_messages_in_commit_order_with_both_versions_and_vectors(journal: Journal) -> None:
    append(journal, draft("one", vector=b"1234"), call("two", "c"), key=KEY, user_id="ann")
    append(journal, draft("other"), key=OTHER)
    append(journal, answer("long result", "c"), key=KEY)
    update_window(journal, shortened=[shortened(read(journal)[2], "cut", 1)])
    update_window(journal, 1)
    found = archived_messages(journal, journal.archive_position("default"))
    assert [(each.key, each.user_id, content(each.original), each.vector) for each in found] == [
        (KEY, "ann", "one", b"1234"),
        (KEY, "ann", "two", None),
        (OTHER, "", "other", None),
        (KEY, "ann", "long result", None),
    ]
    assert [each.original.pruned for each in found] == [True, False, False, False]
    assert [content(each.displayed) if each.displayed else None for each in found] == [None, None, None, "cut"]
    assert found[3].displayed and found[3].displayed.tokens == 1 and found[3].original.tokens == 10


def test_what_is_added_after_the_position_is_not_exported(journal: Journal) -> None:
    append(journal, draft("before"))
    upsert(journal, new_record("old"), kind=RecordKind.FACT)
    put(journal, "old text", owner=ANN)
    position = journal.archive_position("default")
    append(journal, draft("after"))
    append(journal, draft("elsewhere"), key=OTHER)
    upsert(journal, new_record("new", name="n2"), kind=RecordKind.FACT)
    put(journal, "new text", owner=ANN, name="d2")
    for scope in (EVERYTHING, Scope("default", "", "s1")):
        assert [content(each.original) for each in archived_messages(journal, position, scope)] == ["before"]
    assert [each.record.id for each in archived_records(journal, position)] == ["n1"]
    assert [each.id for each in archived_documents(journal, position)] == ["d1"]
    assert session_ids(journal, position) == ["s1"]


def test_what_is_erased_after_the_position_is_not_exported_and_a_cleared_session_is_empty(journal: Journal) -> None:
    append(journal, draft("one"))
    append(journal, draft("two"), key=OTHER)
    position = journal.archive_position("default")
    erase(journal)
    erase(journal, delete_session=True, key=OTHER)
    assert archived_messages(journal, position) == []
    assert session_ids(journal, position) == ["s1"]


@pytest.mark.parametrize("kind", [RecordKind.FACT, RecordKind.ARTIFACT])
def test_a_record_in_the_place_of_an_erased_one_is_not_exported(journal: Journal, kind: RecordKind) -> None:
    upsert(journal, new_record(name="kept", conflict_key=1), kind=kind)
    upsert(journal, new_record(name="erased", conflict_key=2), kind=kind)
    position = journal.archive_position("default")
    execute(journal, DeleteRecord(ANN, kind, "erased"))
    upsert(journal, new_record(name="later", conflict_key=3), kind=kind)
    upsert(journal, new_record("changed", name="kept", conflict_key=1), kind=kind)
    found = [(each.record.id, each.record.body) for each in archived_records(journal, position)]
    assert found == [("kept", b"changed")]
    assert [each.record.id for each in archived_records(journal, journal.archive_position("default"))] == [
        "kept",
        "later",
    ]


@pytest.mark.parametrize(
    ("scope", "messages", "records", "documents"),
    [
        (
            Scope("default"),
            ["a1", "b1", "a2"],
            ["of ann", "of s1", "of bob", "of ns"],
            ["d-ann", "d-s1", "d-bob", "d-ns"],
        ),
        (Scope("default", "ann"), ["a1", "a2"], ["of ann", "of s1"], ["d-ann", "d-s1"]),
        (Scope("default", "", "s1"), ["a1", "a2"], ["of ann", "of s1"], ["d-s1"]),
        (Scope("default", "bob", "s1"), [], [], []),
        (Scope("elsewhere"), ["e1"], [], []),
    ],
)
def test_an_export_is_narrowed_to_a_user_or_a_session(
    journal: Journal, scope: Scope, messages: list[str], records: list[str], documents: list[str]
) -> None:
    append(journal, draft("a1"), key=KEY, user_id="ann")
    append(journal, draft("b1"), key=OTHER, user_id="bob")
    append(journal, draft("a2"), key=KEY)
    append(journal, draft("e1"), key=SessionKey("elsewhere", "s1"), user_id="ann")
    owners = {"ann": ANN, "s1": Owner("default", "", "s1"), "bob": Owner("default", "bob"), "ns": Owner("default")}
    for name, owner in owners.items():
        source = "s1" if name == "ann" else ""
        upsert(journal, new_record(name=f"of {name}", source=source), owner=owner, kind=RecordKind.FACT)
        put(journal, "text", owner=owner, name=f"d-{name}")
    upsert(journal, new_record(), kind=RecordKind.PATTERNS)
    position = journal.archive_position("default")
    assert [content(each.original) for each in archived_messages(journal, position, scope)] == messages
    assert [each.record.id for each in archived_records(journal, position, scope)] == records
    assert [each.id for each in archived_documents(journal, position, scope)] == documents


def test_an_export_of_many_messages_comes_in_pages(journal: Journal) -> None:
    append(journal, *(draft(f"m{at}") for at in range(600)))
    position = journal.archive_position("default")
    for scope in (Scope("default"), Scope("default", "", "s1")):
        assert [each.original.sequence for each in archived_messages(journal, position, scope)] == list(range(1, 601))


def test_documents_are_exported_with_chunks_and_layout(journal: Journal) -> None:
    put(journal, "one", "two", owner=ANN, layout=b"as it was")
    (found,) = archived_documents(journal, journal.archive_position("default"))
    assert ([chunk.text for chunk in found.chunks], found.layout) == (["one", "two"], b"as it was")
    put(journal, "three", owner=ANN, layout=b"new")
    (found,) = archived_documents(journal, journal.archive_position("default"))
    assert ([chunk.text for chunk in found.chunks], found.layout) == (["three"], b"new")


def test_calibrated_models_are_listed(journal: Journal) -> None:
    for model in ("zeta", "alpha"):
        execute(journal, Calibrate("default", model, lambda _: Calibration(2.0, 1)))
    assert list(journal.calibrated_models("default")) == ["alpha", "zeta"]
    assert list(journal.calibrated_models("elsewhere")) == []


# Imports of messages.


def test_an_imported_session_is_as_it_was(journal: Journal) -> None:
    execute(journal, ImportSession(SessionImport(KEY, "ann", 5, 7, 0, Policy(9))))
    outcomes = import_messages(
        journal,
        message("a", 3, user_id="ann", pruned=True),
        MessageImport(KEY, "ann", call("b", "c"), 5),
        MessageImport(KEY, "ann", answer("long", "c"), 6, displayed=(draft("cut").body, 2)),
    )
    execute(journal, ImportSession(SessionImport(KEY, "ann", 5, 7, 11)))
    assert outcomes == [STORED] * 3
    head = known_head(journal)
    assert (head.user_id, head.create_time_us, head.last_active_us, head.policy) == ("ann", 5, 7, Policy(9))
    assert (head.last_sequence, head.pruned_count, head.message_count, head.total_tokens) == (11, 1, 2, 12)
    assert head.window_start == 5 and head.open_calls == {}
    assert [each.sequence for each in read(journal, include_pruned=True)] == [3, 5, 6]
    assert contents(journal) == ["b", "cut"]
    versions = journal.message(KEY, "long")
    assert versions and content(versions.original) == "long" and versions.displayed.exchange == 5
    assert versions.displayed.flags & Flag.SHORTENED
    assert journal.usage("default") == recount(journal)
    append(journal, draft("next"))
    assert read(journal)[-1].sequence == 12


def test_an_import_twice_changes_nothing(journal: Journal) -> None:
    session = ImportSession(SessionImport(KEY, "ann", 5, 7, 4, Policy(9)))
    given = [message("a", 5, user_id="ann"), message("b", 6, user_id="ann", pruned=True)]
    assert execute(journal, session).outcomes == [STORED]
    import_messages(journal, *given)
    assert import_records(journal, new_record()) == [STORED]
    assert execute(journal, ImportDocument(document("text", owner=ANN), "")).outcomes == [STORED]
    before = (known_head(journal), read(journal, include_pruned=True), journal.usage("default"), follow(journal))
    assert execute(journal, session).outcomes == [DUPLICATE]
    assert import_messages(journal, *given) == [DUPLICATE, DUPLICATE]
    assert import_records(journal, new_record("another body")) == [DUPLICATE]
    assert execute(journal, ImportDocument(document("another", owner=ANN), "")).outcomes == [DUPLICATE]
    after = (known_head(journal), read(journal, include_pruned=True), journal.usage("default"), follow(journal))
    assert after == before


def test_into_a_used_session_messages_come_at_the_end(journal: Journal) -> None:
    append(journal, draft("mine"), draft("mine too"))
    active_us = known_head(journal).last_active_us
    assert import_messages(journal, message("a", 1), message("b", 7), message("c", 0)) == [STORED] * 3
    assert [each.sequence for each in read(journal)] == [1, 2, 3, 7, 8]
    assert known_head(journal).last_active_us > active_us


def test_a_known_id_with_another_body_refuses_all_of_the_command(journal: Journal) -> None:
    append(journal, draft("known", message_id="m"))
    with pytest.raises(IdConflict):
        import_messages(journal, message("new"), message("other", message_id="m"))
    with pytest.raises(IdConflict):
        import_messages(journal, message("x", message_id="n"), message("y", message_id="n"))
    assert contents(journal) == ["known"]
    assert journal.usage("default") == recount(journal)


def test_an_id_that_was_imported_is_known_to_an_append(journal: Journal) -> None:
    import_messages(journal, message("a", 1))
    assert append(journal, draft("a")).results[0].duplicate
    with pytest.raises(IdConflict):
        append(journal, draft("other", message_id="a"))


def test_a_session_of_another_user_is_refused(journal: Journal) -> None:
    append(journal, draft("m"), user_id="bob")
    for command in (
        ImportMessages([message("a", user_id="ann")]),
        ImportSession(SessionImport(KEY, "ann", 1, 1)),
        ImportDocument(document("text", owner=Owner("default", "", "s1")), "ann"),
        ImportRecords(
            Owner("default", "", "s1"),
            "ann",
            RecordKind.FACT,
            [RecordImport(new_record(), Origin("default"))],
            store_all,
        ),
    ):
        with pytest.raises(SessionOwnerMismatch):
            execute(journal, command)
    with pytest.raises(SessionOwnerMismatch):
        import_messages(journal, message("a", key=OTHER, user_id="ann"), message("b", key=OTHER, user_id="bob"))
    assert journal.head(OTHER) is None and contents(journal) == ["m"]


def test_an_import_claims_a_session_without_a_user(journal: Journal) -> None:
    append(journal, draft("m"))
    import_messages(journal, message("a", user_id="ann"))
    assert known_head(journal).user_id == "ann"
    assert [type(entry).__name__ for entry in follow(journal)] == ["MessageWritten", "SessionClaimed", "MessageWritten"]


def test_a_result_is_pruned_if_and_only_if_its_call_is(journal: Journal) -> None:
    import_messages(journal, MessageImport(KEY, "", call("gone", "c1"), 1, pruned=True))
    import_messages(
        journal,
        MessageImport(KEY, "", answer("r1", "c1"), 2),
        MessageImport(KEY, "", call("there", "c2"), 3),
        MessageImport(KEY, "", answer("r2", "c2"), 4, pruned=True),
    )
    assert contents(journal) == ["there", "r2"]
    assert known_head(journal).pruned_count == 2


def test_commit_events_describe_the_window_of_an_import(journal: Journal) -> None:
    replica = Replica(journal)
    import_messages(journal, message("a", 1), message("b", 2, pruned=True), message("c", 3, key=OTHER))
    import_messages(journal, MessageImport(KEY, "", draft("d"), 4, displayed=(draft("cut").body, 1)))
    for key in (KEY, OTHER):
        assert replica.window(journal, key) == read(journal, key)
        assert comparable(replica.heads[key]) == comparable(known_head(journal, key))
    assert not replica.to_reload


def test_quotas_hold_for_imports(journal: Journal, quotas: dict[str, Quota]) -> None:
    quotas["default"] = Quota(sessions=1, messages=2, bytes=200)
    import_messages(journal, message("a"), message("b"))
    in_other = Owner("default", "", "s2")
    for command in (
        ImportMessages([message("c")]),
        ImportSession(SessionImport(OTHER, "", 1, 1)),
        ImportDocument(document("x" * 300, owner=ANN), ""),
        ImportDocument(document("x", owner=in_other), ""),
        ImportRecords(ANN, "", RecordKind.FACT, [RecordImport(new_record("x" * 300), Origin("default"))], store_all),
        ImportRecords(in_other, "", RecordKind.FACT, [RecordImport(new_record(), Origin("default"))], store_all),
    ):
        with pytest.raises(QuotaExceeded):
            execute(journal, command)
    assert import_messages(journal, message("a")) == [DUPLICATE]
    assert journal.usage("default") == recount(journal)


# Imports of records and documents.


def test_records_and_documents_of_a_session_create_it(journal: Journal) -> None:
    owner = Owner("default", "", "s1")
    assert import_records(journal, new_record(), new_record(name="n2"), owner=owner, user_id="ann") == [STORED, STORED]
    assert known_head(journal).user_id == "ann"
    assert execute(journal, ImportDocument(document("text", owner=Owner("default", "", "s2")), "")).outcomes == [STORED]
    assert known_head(journal, OTHER).user_id == ""
    assert journal.usage("default") == recount(journal, owners=(ANN, owner))


def test_a_merge_sees_the_stored_records_of_the_same_subject(journal: Journal) -> None:
    upsert(journal, new_record("old", name="o", conflict_key=7), kind=RecordKind.FACT)
    seen: list[Record] = []

    def merge(stored: Sequence[Record], new: Sequence[Record]) -> RecordChanges:
        seen.extend(stored)
        return RecordChanges(new[:1])

    given = [RecordImport(new_record(name=name, conflict_key=7), Origin("default")) for name in ("o", "n", "n", "left")]
    imported = execute(journal, ImportRecords(ANN, "", RecordKind.FACT, given, merge))
    assert imported.outcomes == [DUPLICATE, STORED, DUPLICATE, DUPLICATE]
    assert [record.id for record in seen] == ["o"]
    assert sorted(record_ids(journal, ANN, RecordKind.FACT)) == ["n", "o"]


# Tombstones.


def everything(journal: Journal, *, override: bool = False) -> list[Outcome]:
    """Import one item of each kind of session s1 and of ann, whose times are before every erasure."""
    owner = Owner("default", "", "s1")
    session = ImportSession(SessionImport(KEY, "ann", 5, 5), override)
    return [
        *execute(journal, session).outcomes,
        *import_messages(journal, message("a", 1, user_id="ann"), override=override),
        *import_records(
            journal, new_record(), owner=owner, origin=Origin("default", "ann", "s1", time_us=5), override=override
        ),
        *import_records(journal, new_record(), origin=Origin("default", "ann", time_us=5), override=override),
        *execute(journal, ImportDocument(document("text", owner=owner), "ann", override)).outcomes,
        *execute(journal, ImportDocument(document("text", owner=ANN), "", override)).outcomes,
    ]


def test_nothing_of_a_forgotten_user_comes_back_unless_it_is_overridden(journal: Journal) -> None:
    assert everything(journal) == [STORED] * 6
    execute(journal, EraseUser("default", "ann"))
    assert everything(journal) == [FORGOTTEN] * 6
    assert journal.head(KEY) is None and record_ids(journal, ANN, RecordKind.FACT) == []
    assert import_messages(journal, message("a", 1)) == [FORGOTTEN], "the session is forgotten without its user, too"
    assert everything(journal, override=True) == [STORED] * 6
    assert contents(journal) == ["a"]


def test_nothing_of_a_deleted_session_comes_back(journal: Journal) -> None:
    everything(journal)
    erase(journal, delete_session=True)
    assert everything(journal) == [FORGOTTEN, FORGOTTEN, FORGOTTEN, DUPLICATE, FORGOTTEN, DUPLICATE]


def test_a_cleared_session_and_a_dry_run_leave_no_tombstone(journal: Journal) -> None:
    everything(journal)
    erase(journal)
    journal.erasure_counts(EraseUser("default", "ann"))
    assert import_messages(journal, message("a", 1, user_id="ann")) == [STORED]


def test_an_unknown_user_can_be_forgotten(journal: Journal) -> None:
    execute(journal, EraseUser("default", "ann"))
    assert import_messages(journal, message("a", 1, user_id="ann")) == [FORGOTTEN]
    assert import_messages(journal, message("a", 1, user_id="bob")) == [STORED]
    elsewhere = message("a", 1, key=SessionKey("elsewhere", "s1"), user_id="ann")
    assert import_messages(journal, elsewhere) == [STORED]


def test_what_came_after_an_erasure_is_stored(journal: Journal) -> None:
    append(journal, draft("old"), user_id="ann")
    execute(journal, EraseUser("default", "ann"))
    late = MessageImport(KEY, "ann", replace(draft("late"), time_us=LATER_US), 1)
    assert import_messages(journal, message("old", 1, user_id="ann"), late) == [FORGOTTEN, STORED]
    origin = Origin("default", "ann", time_us=LATER_US)
    assert import_records(journal, new_record(), origin=origin) == [STORED]


def test_what_has_no_time_is_forgotten_by_any_erasure(journal: Journal) -> None:
    execute(journal, EraseUser("default", "ann"))
    late = MessageImport(KEY, "ann", replace(draft("late"), time_us=LATER_US), 1)
    assert import_messages(journal, late._replace(undated=True), late) == [FORGOTTEN, STORED]
    text = document("text", owner=ANN, create_time_us=LATER_US)
    assert execute(journal, ImportDocument(text, "", undated=True)).outcomes == [FORGOTTEN]
    assert execute(journal, ImportDocument(text, "")).outcomes == [STORED]


def test_a_message_that_was_written_in_the_future_stays_forgotten(journal: Journal) -> None:
    future = replace(draft("future"), time_us=LATER_US)
    append(journal, future)
    upsert(journal, new_record(time_us=LATER_US + 5), kind=RecordKind.FACT)
    erase(journal, delete_session=True)
    execute(journal, EraseUser("default", "ann"))
    assert import_messages(journal, MessageImport(KEY, "", future, 1)) == [FORGOTTEN]
    origin = Origin("default", "ann", time_us=LATER_US + 5)
    assert import_records(journal, new_record(time_us=LATER_US + 5), origin=origin) == [FORGOTTEN]


def test_adds_to_a_forgotten_session_are_allowed(journal: Journal) -> None:
    append(journal, draft("old"))
    erase(journal, delete_session=True)
    append(journal, draft("new"))
    assert import_messages(journal, message("old", 1)) == [FORGOTTEN]
    assert contents(journal) == ["new"]


def test_documents_of_an_import_are_read(journal: Journal) -> None:
    execute(journal, ImportDocument(document("one", "two", owner=ANN, layout=b"l"), ""))
    (stored,) = journal.documents(DocumentQuery(ANN))
    assert (stored.chunk_count, stored.create_time_us) == (2, 1_000)


def test_a_forgotten_message_does_not_come_back_with_what_rests_on_it(journal: Journal) -> None:
    append(journal, draft("kept"), draft("secret"), user_id="ann")
    forget(journal, "secret")
    assert import_messages(journal, message("kept", 1), message("secret", 2)) == [DUPLICATE, FORGOTTEN]

    def fact_of(*message_ids: str) -> Sequence[Outcome]:
        origin = Origin("default", "ann", KEY.session_id, KEY.session_id, message_ids, time_us=5)
        return import_records(journal, new_record(name=" ".join(message_ids)), origin=origin)

    assert fact_of("secret") == [FORGOTTEN]
    assert fact_of("kept", "secret") == [STORED]
    summary = Origin("default", "ann", KEY.session_id, time_us=5, is_summary=True)
    assert import_records(journal, new_record(name="summary"), origin=summary) == [FORGOTTEN]
    later = summary._replace(time_us=LATER_US)
    assert import_records(journal, new_record(name="summary"), origin=later) == [STORED]
    assert import_messages(journal, message("secret", 2), override=True) == [STORED]
