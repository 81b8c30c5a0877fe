"""EraseUser: everything of a user is erased at once, and nothing of anybody else."""

import pytest

from memsidecar.domain.session import Policy, SessionKey
from memsidecar.stores.contract import (
    Append,
    Command,
    CommitEvent,
    DocumentQuery,
    Erased,
    EraseUser,
    ErasureCounts,
    Journal,
    Owner,
    PendingCommand,
    RecordKind,
    RowsErased,
    SessionQuery,
    SetPolicy,
)
from tests.conformance.builders import (
    ANN,
    append,
    draft,
    execute,
    known_head,
    new_record,
    put,
    record_ids,
    upsert,
    upsert_command,
)

KEYS = [SessionKey("default", f"s{at}") for at in range(3)]
BOBS, ELSEWHERE = SessionKey("default", "bobs"), SessionKey("elsewhere", "s0")
BOB = Owner("default", "bob")
KINDS = (RecordKind.FACT, RecordKind.ARTIFACT, RecordKind.SUMMARY, RecordKind.PATTERNS)
FORGET_ANN = EraseUser("default", "ann")


def fill(journal: Journal) -> None:
    """Give each of two users, and a namesake elsewhere, sessions, documents and records of every kind."""
    for key, user_id in (*((key, "ann") for key in KEYS), (BOBS, "bob"), (ELSEWHERE, "ann")):
        append(journal, draft("m1"), draft("m2"), key=key, user_id=user_id)
        for owner in (Owner(key.namespace, user_id), Owner(key.namespace, "", key.session_id)):
            put(journal, "a text", owner=owner, name=f"of {key.session_id}")
            for kind in KINDS:
                upsert(journal, new_record(name=f"n-{key.session_id}", source=key.session_id), owner=owner, kind=kind)


def test_a_user_is_erased_as_the_dry_run_counted(journal: Journal) -> None:
    fill(journal)
    would = journal.erasure_counts(FORGET_ANN)
    assert would == ErasureCounts(
        messages=6, facts=6, summaries=6, artifacts=6, patterns=6, documents=6, chunks=6, sessions=3
    )
    assert execute(journal, FORGET_ANN) == Erased(None, would)
    assert [head.key for head in journal.sessions(SessionQuery("default"))] == [BOBS]
    assert list(journal.documents(DocumentQuery(ANN))) == []
    for owner in (ANN, *(Owner("default", "", key.session_id) for key in KEYS)):
        assert [record_ids(journal, owner, kind, history=True) for kind in KINDS] == [[]] * len(KINDS)
    assert execute(journal, FORGET_ANN) == Erased(None, ErasureCounts())


def test_other_users_and_namespaces_keep_everything(journal: Journal) -> None:
    fill(journal)
    execute(journal, FORGET_ANN)
    for key, owner in ((BOBS, BOB), (ELSEWHERE, Owner("elsewhere", "ann"))):
        assert known_head(journal, key).message_count == 2
        for each in (owner, Owner(key.namespace, "", key.session_id)):
            assert [document.id for document in journal.documents(DocumentQuery(each))] == [f"of {key.session_id}"]
            assert [record_ids(journal, each, kind) for kind in KINDS] == [[f"n-{key.session_id}"]] * len(KINDS)


def test_a_record_that_a_session_of_the_user_is_the_source_of_is_erased_for_every_owner(journal: Journal) -> None:
    append(journal, draft("m"), key=KEYS[0], user_id="ann")
    upsert(journal, new_record(source="s0"), new_record(name="own"), owner=BOB)
    assert execute(journal, FORGET_ANN).counts.artifacts == 1
    assert record_ids(journal, BOB) == ["own"]


def test_a_user_without_sessions_is_erased(journal: Journal) -> None:
    upsert(journal, new_record(), kind=RecordKind.FACT)
    put(journal, "a text", owner=ANN)
    assert execute(journal, FORGET_ANN).counts == ErasureCounts(facts=1, documents=1, chunks=1)
    assert record_ids(journal, ANN, RecordKind.FACT) == []


def test_nobody_is_not_a_user(journal: Journal) -> None:
    append(journal, draft("m"), key=KEYS[0])
    upsert(journal, new_record(), owner=Owner("default"))
    assert execute(journal, EraseUser("default", "")).counts == ErasureCounts()
    assert known_head(journal, KEYS[0]).message_count == 1


def test_policies_go_with_their_sessions(journal: Journal) -> None:
    for key, user_id in ((KEYS[0], "ann"), (BOBS, "bob")):
        execute(journal, SetPolicy(key, user_id, Policy(auto_prune_tokens=7)))
    execute(journal, SetPolicy(SessionKey("default", ""), "", Policy(auto_prune_tokens=9)))
    execute(journal, FORGET_ANN)
    append(journal, draft("m"), key=KEYS[0], user_id="ann")
    policies = [known_head(journal, key).policy for key in (KEYS[0], BOBS)]
    assert policies == [None, Policy(auto_prune_tokens=7)]
    assert journal.default_policies() == {"default": Policy(auto_prune_tokens=9)}


def test_the_change_feed_names_every_erased_session_and_document(journal: Journal) -> None:
    fill(journal)
    before, rows = journal.log_end("default"), {known_head(journal, key).row_id for key in KEYS}
    documents = [
        document.row_id
        for owner in (ANN, *(Owner("default", "", key.session_id) for key in KEYS))
        for document in journal.documents(DocumentQuery(owner))
    ]
    execute(journal, FORGET_ANN)
    entries = journal.read_changes("default", before, 100)
    assert {entry.session for entry in entries if isinstance(entry, RowsErased)} == rows | {-row for row in documents}
    assert journal.last_lsns()["default"] == entries[-1].lsn


def test_listeners_learn_of_the_sessions_and_of_the_user(journal: Journal) -> None:
    append(journal, draft("m"), key=KEYS[0], user_id="ann")
    seen: list[CommitEvent] = []
    journal.subscribe(seen.extend, only_invalidations=True)
    execute(journal, FORGET_ANN)
    assert [(event.key, event.head, event.erases) for event in seen] == [
        (KEYS[0], None, True),
        (SessionKey("default", ""), None, True),
    ]


@pytest.mark.parametrize("first", [True, False])
def test_an_erasure_is_ordered_with_the_commands_around_it(journal: Journal, first: bool) -> None:
    """All of them are submitted at once, so that they may share a commit."""
    append(journal, draft("old"), key=KEYS[0], user_id="ann")
    others: list[Command] = [Append(KEYS[1], "ann", [draft("new")]), upsert_command(new_record(), kind=RecordKind.FACT)]
    commands: list[Command] = [FORGET_ANN, *others] if first else [*others, FORGET_ANN]
    pending = [PendingCommand(command) for command in commands]
    for each in pending:
        journal.submit(each)
    for each in pending:
        each.wait()
    assert [head.key for head in journal.sessions(SessionQuery("default"))] == ([KEYS[1]] if first else [])
    assert record_ids(journal, ANN, RecordKind.FACT) == (["n1"] if first else [])


def test_quotas_count_an_erased_user_no_more(journal: Journal) -> None:
    append(journal, draft("m"), key=BOBS, user_id="bob")
    before = journal.usage("default")
    for key in KEYS:
        append(journal, draft("m1"), key=key, user_id="ann")
    put(journal, "a text", owner=ANN)
    upsert(journal, new_record(), owner=Owner("default", "", "s0"))
    execute(journal, FORGET_ANN)
    assert journal.usage("default") == before
