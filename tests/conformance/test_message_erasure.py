"""ForgetMessages and ExpireMessages: messages and what rests on them alone are erased, and nothing else."""

import pytest

from memsidecar.domain.errors import NotFound, SessionOwnerMismatch
from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    Append,
    Command,
    CommitEvent,
    EndOfLog,
    ErasureCounts,
    ExpireMessages,
    ForgetMessages,
    Journal,
    LogFilter,
    MessageErased,
    MessageWritten,
    NoOp,
    Owner,
    PendingCommand,
    RecordKind,
    Scope,
    SessionQuery,
)
from tests.conformance.builders import (
    ANN,
    DERIVATIONS,
    KEY,
    answer,
    append,
    artifact_key,
    call,
    contents,
    draft,
    erase,
    execute,
    expire,
    follow,
    forget,
    known_head,
    new_record,
    read,
    record_ids,
    recount,
    scored,
    shortened,
    update_message,
    update_window,
    upsert,
)

OTHER = SessionKey("default", "s2")


def test_a_forgotten_message_is_gone_from_every_read(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"))
    (lsn,) = [located.lsn for located in journal.scan(Scope("default"), None, 9) if located.message.sequence == 2]
    erased = forget(journal, "b")
    assert erased.counts == ErasureCounts(messages=1)
    assert contents(journal) == contents(journal, include_pruned=True) == ["a", "c"]
    assert journal.message(KEY, "b") is None and journal.get_by_lsn("default", [lsn]) == {}
    assert [located.message.sequence for located in journal.scan(Scope("default"), None, 9)] == [3, 1]
    assert [entry.message.sequence for entry in journal.read_session(known_head(journal).row_id, 0, 9)] == [1, 3]
    assert erased.head == known_head(journal)


def test_the_sums_of_the_session_and_of_the_quota_are_those_of_the_rest(journal: Journal) -> None:
    append(journal, draft("a", tokens=3), draft("b", tokens=5, role=Role.SYSTEM), draft("c", tokens=7))
    update_window(journal, 1)
    forget(journal, "a", "b")
    head = known_head(journal)
    assert (head.message_count, head.pruned_count, head.total_tokens, head.counts) == (1, 0, 7, [0, 1, 0, 0])
    assert journal.usage("default") == recount(journal)
    forget(journal, "c")
    assert (known_head(journal).message_count, journal.usage("default").bytes) == (0, 0)


def test_every_version_of_a_message_goes(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    update_window(journal, shortened=[shortened(read(journal)[0], "short", 1)])
    update_message(journal, "a", scored(3, "mark"))
    forget(journal, "a")
    head = known_head(journal)
    assert (contents(journal), head.total_tokens, head.message_count) == (["b"], 10, 1)
    assert journal.usage("default") == recount(journal)


def test_sequences_are_not_used_again_and_ids_are(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    forget(journal, "b")
    (added,) = append(journal, draft("another text", message_id="b")).results
    assert (added.sequence, added.duplicate) == (3, False)
    assert contents(journal) == ["a", "another text"]


def test_an_unknown_message_session_or_user_is_refused_also_by_the_dry_run(journal: Journal) -> None:
    append(journal, draft("a"), user_id="ann")
    for key, user_id, name, error in (
        (KEY, "", "b", NotFound),
        (OTHER, "", "a", NotFound),
        (KEY, "bob", "a", SessionOwnerMismatch),
    ):
        command = ForgetMessages(key, user_id, [name], DERIVATIONS)
        for attempt in (journal.erasure_counts, lambda command: execute(journal, command)):
            with pytest.raises(error):
                attempt(command)
    forget(journal, "a")
    with pytest.raises(NotFound):
        forget(journal, "a")


def test_several_messages_go_together_or_not_at_all(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"))
    with pytest.raises(NotFound):
        forget(journal, "a", "x")
    assert contents(journal) == ["a", "b", "c"]
    assert forget(journal, "c", "a", "a").counts.messages == 2
    assert contents(journal) == ["b"]


def test_the_rest_of_an_exchange_is_pruned_and_never_comes_back(journal: Journal) -> None:
    append(journal, draft("u"), call("c", "x", "y"), answer("ax", "x"), draft("v"))
    forget(journal, "ax")
    assert contents(journal) == ["u", "v"]
    assert contents(journal, include_pruned=True) == ["u", "c", "v"]
    head = known_head(journal)
    assert (head.open_calls, head.pruned_count, head.total_tokens) == ({}, 1, 20)
    append(journal, answer("ay", "y"))
    assert contents(journal) == ["u", "v", "ay"]
    assert read(journal)[-1].exchange == 0


def test_a_result_of_a_forgotten_call_belongs_to_an_older_open_call_of_the_same_id(journal: Journal) -> None:
    append(journal, call("c1", "x"), call("c2", "x"))
    forget(journal, "c2")
    append(journal, answer("a", "x"))
    assert [stored.exchange for stored in read(journal)] == [1, 1]


def test_the_feed_has_the_erasure_and_no_longer_the_message(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    update_message(journal, "b", scored(3))
    before, row_id = journal.log_end("default"), known_head(journal).row_id
    forget(journal, "b")
    kinds = [type(entry) for entry in follow(journal) if not isinstance(entry, NoOp)]
    assert kinds == [MessageWritten, MessageErased]
    assert follow(journal, after_lsn=before) == [MessageErased(before + 1, row_id, 2, KEY)]
    assert known_head(journal).version == journal.last_lsns()["default"] == before + 1
    filtered = journal.read_changes("default", before, 9, LogFilter("nobody"))
    assert list(filtered) == [MessageErased(before + 1, row_id, 2, KEY), EndOfLog(before + 1)]
    erase(journal, delete_session=True)
    assert journal.read_changes("default", before, 1) == [MessageErased(before + 1, row_id, 2, None)]


def test_a_claim_is_made_and_is_not_made_by_the_dry_run(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    journal.erasure_counts(ForgetMessages(KEY, "ann", ["a"], DERIVATIONS))
    assert known_head(journal).user_id == ""
    forget(journal, "a", user_id="ann")
    assert known_head(journal).user_id == "ann"


def test_listeners_reload_the_session(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    seen: list[CommitEvent] = []
    journal.subscribe(seen.extend, only_invalidations=True)
    forget(journal, "a")
    assert [(event.key, event.head, event.erases) for event in seen] == [(KEY, known_head(journal), True)]


def test_records_that_rest_on_the_message_alone_go_as_the_dry_run_counted(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"), user_id="ann")
    append(journal, draft("a"), key=OTHER, user_id="ann")
    facts = {
        "alone": "s1/a",
        "superseded": "s1/a",
        "with another": "s1/a s1/b",
        "with another session": "s1/a s2/a",
        "of another": "s1/b",
    }
    for name, sources in facts.items():
        until_us = 5 if name == "superseded" else 0
        upsert(journal, new_record(sources, name=name, source="s1", until_us=until_us), kind=RecordKind.FACT)
    upsert(journal, new_record("s1/a", name="elsewhere", source="s2"), kind=RecordKind.FACT)
    owner = Owner("default", "", "s1")
    for name in "ab":
        of_message = new_record(name=f"message {name}", source="s1", conflict_key=artifact_key(name))
        upsert(journal, of_message, owner=owner)
    upsert(journal, new_record(name="own", conflict_key=artifact_key("a")), owner=owner)
    upsert(journal, new_record("2", name="sum", source="s1"), owner=owner, kind=RecordKind.SUMMARY)
    for each in (ANN, Owner("default", "bob")):
        upsert(journal, new_record(name="patterns"), owner=each, kind=RecordKind.PATTERNS)
    would = journal.erasure_counts(ForgetMessages(KEY, "", ["a"], DERIVATIONS))
    assert would == ErasureCounts(messages=1, facts=2, summaries=1, artifacts=1, patterns=1)
    assert forget(journal, "a").counts == would
    kept = {record_id: record(journal, record_id) for record_id in record_ids(journal, kind=RecordKind.FACT)}
    assert kept == {
        "with another": "s1/b",
        "with another session": "s2/a",
        "of another": "s1/b",
        "elsewhere": "s1/a",
    }
    assert sorted(record_ids(journal, owner)) == ["message b", "own"]
    assert record_ids(journal, owner, RecordKind.SUMMARY) == record_ids(journal, ANN, RecordKind.PATTERNS) == []
    assert record_ids(journal, Owner("default", "bob"), RecordKind.PATTERNS) == ["patterns"]


def record(journal: Journal, record_id: str) -> str:
    found = journal.record(ANN, RecordKind.FACT, record_id)
    assert found is not None
    return found.body.decode()


def test_a_summary_that_ends_before_the_message_stays(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    owner = Owner("default", "", "s1")
    upsert(journal, new_record("1", name="sum", source="s1"), owner=owner, kind=RecordKind.SUMMARY)
    assert forget(journal, "b").counts.summaries == 0
    assert record_ids(journal, owner, RecordKind.SUMMARY) == ["sum"]


def test_quotas_count_changed_records(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), user_id="ann")
    upsert(journal, new_record("s1/a s1/b", name="both", source="s1"), kind=RecordKind.FACT)
    forget(journal, "a")
    assert journal.usage("default") == recount(journal)


def test_a_record_cannot_be_derived_from_an_erased_message(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"))
    row_id = known_head(journal).row_id
    upsert(journal, new_record(name="before"), derived_from=row_id, derived_sequences=[1, 2, 2])
    forget(journal, "a")
    upsert(journal, new_record(name="of the rest"), derived_from=row_id, derived_sequences=[2])
    with pytest.raises(NotFound):
        upsert(journal, new_record(name="of both"), derived_from=row_id, derived_sequences=[1, 2])
    assert sorted(record_ids(journal)) == ["before", "of the rest"]


def test_expired_messages_go_and_missing_ones_are_ignored(journal: Journal) -> None:
    append(journal, draft("a"), draft("b"), draft("c"))
    assert expire(journal, 1, 2, 9).counts == ErasureCounts(messages=2)
    version = known_head(journal).version
    assert expire(journal, 1, 2).counts == ErasureCounts()
    assert (contents(journal), known_head(journal).version) == (["c"], version)


def test_an_exchange_expires_whole_or_not_at_all(journal: Journal) -> None:
    append(journal, draft("u"), call("c", "x", "y"), answer("ax", "x"))
    append(journal, answer("ay", "y"))
    assert expire(journal, 1, 2, 3).counts.messages == 1
    assert contents(journal) == ["c", "ax", "ay"]
    assert expire(journal, 2, 3, 4).counts.messages == 3


def test_a_held_message_stays_with_its_exchange(journal: Journal) -> None:
    append(journal, draft("held"), call("c", "x"), answer("held too", "x"), draft("free"))
    expire(journal, 1, 2, 3, 4, is_held=lambda body: b"held" in body)
    assert contents(journal) == ["held", "c", "held too"]


def test_messages_of_another_session_of_the_same_name_do_not_expire(journal: Journal) -> None:
    append(journal, draft("a"))
    row_id = known_head(journal).row_id
    erase(journal, delete_session=True)
    command = ExpireMessages(KEY, row_id, [1], DERIVATIONS)
    append(journal, draft("b"))
    for attempt in (journal.erasure_counts, lambda command: execute(journal, command)):
        with pytest.raises(NotFound):
            attempt(command)
    assert contents(journal) == ["b"]


def test_an_erasure_is_no_activity_of_the_session(journal: Journal) -> None:
    append(journal, draft("a"), call("b", "x"), answer("c", "x"), draft("d"), draft("e"))
    active_us = known_head(journal).last_active_us
    append(journal, draft("a"), key=OTHER)
    erased = [forget(journal, "a"), forget(journal, "b"), expire(journal, 4), forget(journal, "e", user_id="ann")]
    assert [each.head and each.head.last_active_us for each in erased] == [active_us] * 4
    assert known_head(journal).last_active_us == active_us
    assert [head.key for head in journal.sessions(SessionQuery("default"))] == [OTHER, KEY]


@pytest.mark.parametrize("first", [True, False])
def test_an_erasure_is_ordered_with_the_commands_around_it(journal: Journal, first: bool) -> None:
    """All of them are submitted at once, so that they may share a commit."""
    append(journal, draft("a"))
    again: list[Command] = [Append(KEY, "", [draft("a")]), Append(OTHER, "", [draft("x")])]
    command: Command = ForgetMessages(KEY, "", ["a"], DERIVATIONS)
    pending = [PendingCommand(each) for each in ([command, *again] if first else [*again, command])]
    for each in pending:
        journal.submit(each)
    for each in pending:
        each.wait()
    assert contents(journal) == (["a"] if first else [])
    assert contents(journal, OTHER) == ["x"]
