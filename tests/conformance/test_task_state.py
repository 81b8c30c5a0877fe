"""Claims, policies, calibrations, watermarks and dead letters."""

import pytest

from memsidecar.domain.errors import SessionOwnerMismatch
from memsidecar.domain.session import Policy, SessionKey, Strategy
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Calibrate,
    Calibration,
    Claim,
    Journal,
    SetPolicy,
)
from tests.conformance.builders import KEY, append, draft, erase, execute, known_head

POLICY = Policy(4_000, Strategy.TURNS, "gpt-4o")


def test_a_claim_makes_a_session(journal: Journal) -> None:
    head = execute(journal, Claim(KEY, "ann"))
    assert head == known_head(journal)
    assert (head.user_id, head.last_sequence) == ("ann", 0)


def test_a_session_is_claimed_once(journal: Journal) -> None:
    append(journal, draft("a"))
    before = execute(journal, Claim(KEY, "ann"))
    assert before.user_id == "ann" and before == known_head(journal)
    assert execute(journal, Claim(KEY, "ann")) == before
    with pytest.raises(SessionOwnerMismatch):
        execute(journal, Claim(KEY, "bob"))
    assert known_head(journal) == before


def test_a_session_keeps_its_policy(journal: Journal) -> None:
    append(journal, draft("a"))
    head = execute(journal, SetPolicy(KEY, "", POLICY)).head
    assert head == known_head(journal)
    assert append(journal, draft("b")).head.policy == POLICY


def test_a_policy_makes_a_session(journal: Journal) -> None:
    execute(journal, SetPolicy(KEY, "ann", POLICY))
    assert (known_head(journal).policy, known_head(journal).user_id) == (POLICY, "ann")


def test_a_policy_replaces_the_one_before(journal: Journal) -> None:
    execute(journal, SetPolicy(KEY, "", POLICY))
    execute(journal, SetPolicy(KEY, "", Policy()))
    assert known_head(journal).policy == Policy()


def test_a_policy_can_be_removed(journal: Journal) -> None:
    for key in (KEY, SessionKey("default", "")):
        execute(journal, SetPolicy(key, "", POLICY))
        execute(journal, SetPolicy(key, "", None))
    assert known_head(journal).policy is None
    assert journal.default_policies().get("default") is None


def test_a_policy_survives_a_clear_and_not_a_delete(journal: Journal) -> None:
    append(journal, draft("a"))
    execute(journal, SetPolicy(KEY, "", POLICY))
    erase(journal)
    assert known_head(journal).policy == POLICY
    erase(journal, delete_session=True)
    assert append(journal, draft("a")).head.policy is None


def test_another_user_cannot_set_a_policy(journal: Journal) -> None:
    append(journal, draft("a"), user_id="ann")
    with pytest.raises(SessionOwnerMismatch):
        execute(journal, SetPolicy(KEY, "bob", POLICY))
    assert known_head(journal).policy is None


def test_a_namespace_has_a_default_of_its_own(journal: Journal) -> None:
    assert journal.default_policies().get("a") is None
    assert execute(journal, SetPolicy(SessionKey("a", ""), "", POLICY)).head is None
    assert (journal.default_policies().get("a"), journal.default_policies().get("b")) == (POLICY, None)
    assert append(journal, draft("m"), key=SessionKey("a", "s")).head.policy is None


def test_calibration_begins_at_one_and_follows_its_steps(journal: Journal) -> None:
    assert journal.calibration("n", "m") == Calibration(1.0, 0)
    for _ in range(3):
        execute(journal, Calibrate("n", "m", lambda now: Calibration(now.factor * 1.5, now.reports + 1)))
    assert journal.calibration("n", "m") == Calibration(3.375, 3)
    assert journal.calibration("n", "other") == journal.calibration("other", "m") == Calibration()


def test_a_watermark_never_moves_back(journal: Journal) -> None:
    assert journal.watermark("index", "n") == 0
    for lsn in (5, 3, 9, 8):
        execute(journal, AdvanceWatermark("index", "n", lsn))
    assert (journal.watermark("index", "n"), journal.watermark("facts", "n")) == (9, 0)
    assert journal.watermark("index", "other") == 0


def test_dead_letters_are_read_in_the_order_of_the_log(journal: Journal) -> None:
    assert list(journal.dead_letters("index")) == []
    for lsn, namespace in ((9, "n"), (4, "o"), (4, "n")):
        execute(journal, AddDeadLetter("index", namespace, lsn, f"reason {lsn}"))
    execute(journal, AddDeadLetter("facts", "n", 5, "other"))
    found = journal.dead_letters("index")
    assert [(letter.lsn, letter.namespace, letter.reason) for letter in found] == [
        (4, "n", "reason 4"),
        (4, "o", "reason 4"),
        (9, "n", "reason 9"),
    ]
    assert all(letter.task == "index" and letter.time_us > 0 for letter in found)


def test_adding_the_same_dead_letter_again_does_nothing(journal: Journal) -> None:
    execute(journal, AddDeadLetter("index", "n", 4, "first"))
    before = journal.dead_letters("index")
    execute(journal, AddDeadLetter("index", "n", 4, "second"))
    assert journal.dead_letters("index") == before
