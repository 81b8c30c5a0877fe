"""An owner's version grows with each change of what the owner owns. In a journal that is not shared it is always 0."""

from collections.abc import Callable

import pytest

from memsidecar.stores.contract import DeleteDocument, DeleteRecord, EraseUser, Journal, Owner, RecordKind
from tests.conformance.builders import (
    ANN,
    KEY,
    NAMESPACE_OWNER,
    append,
    draft,
    erase,
    execute,
    forget,
    new_record,
    put,
    upsert,
)

SESSION = Owner(KEY.namespace, session_id=KEY.session_id)

Change = Callable[[Journal], object]


def put_again(journal: Journal) -> object:
    return put(journal, "text", name="d", owner=ANN, title="another")


CHANGES: dict[str, tuple[Owner, Change]] = {
    "a new record": (ANN, lambda journal: upsert(journal, new_record(name="new"), owner=ANN)),
    "a record of a session": (SESSION, lambda journal: upsert(journal, new_record(name="new"), owner=SESSION)),
    "a deleted record": (ANN, lambda journal: execute(journal, DeleteRecord(ANN, RecordKind.ARTIFACT, "r"))),
    "a new document": (ANN, lambda journal: put(journal, "text", name="new", owner=ANN)),
    "a document of the namespace": (NAMESPACE_OWNER, lambda journal: put(journal, "text", name="new")),
    "a new title": (ANN, put_again),
    "a deleted document": (ANN, lambda journal: execute(journal, DeleteDocument(ANN, "d"))),
    "an erased message": (SESSION, lambda journal: forget(journal, "a")),
    "a cleared session": (SESSION, erase),
    "a deleted session": (SESSION, lambda journal: erase(journal, delete_session=True)),
    "a source of a user's record that is deleted": (ANN, lambda journal: erase(journal, delete_session=True)),
    "an erased user": (ANN, lambda journal: execute(journal, EraseUser(ANN.namespace, ANN.user_id))),
    "an erased user's session": (SESSION, lambda journal: execute(journal, EraseUser(ANN.namespace, ANN.user_id))),
}


@pytest.fixture
def filled(journal: Journal) -> Journal:
    append(journal, draft("a"), draft("b"), user_id=ANN.user_id)
    for owner in (ANN, SESSION):
        upsert(journal, new_record(name="r", source=KEY.session_id), owner=owner)
        put(journal, "text", name="d", owner=owner)
    return journal


@pytest.mark.parametrize("name", CHANGES)
def test_a_version_grows_with_each_change(filled: Journal, name: str) -> None:
    owner, change = CHANGES[name]
    before = filled.owner_versions([owner])[owner]
    change(filled)
    after = filled.owner_versions([owner])[owner]
    assert after > before if filled.is_shared else after == before == 0


def test_a_version_does_not_return_after_an_erasure(filled: Journal) -> None:
    versions = []
    for _ in range(3):
        execute(filled, EraseUser(ANN.namespace, ANN.user_id))
        versions.append(filled.owner_versions([ANN])[ANN])
        upsert(filled, new_record(name="again"), owner=ANN)
        versions.append(filled.owner_versions([ANN])[ANN])
    assert versions == sorted(versions)
    assert len(set(versions)) == (6 if filled.is_shared else 1)


def test_a_version_stays_while_nothing_changes(filled: Journal) -> None:
    before = filled.owner_versions([ANN, SESSION])
    append(filled, draft("c"))
    upsert(filled, new_record(name="r"), owner=Owner("default", "bob"))
    assert filled.owner_versions([ANN, SESSION]) == before


def test_unknown_owners_have_a_version(journal: Journal) -> None:
    unknown = [Owner("none", "bob"), Owner("none")]
    assert journal.owner_versions(unknown) == dict.fromkeys(unknown, 0)
    assert journal.owner_versions([]) == {}
