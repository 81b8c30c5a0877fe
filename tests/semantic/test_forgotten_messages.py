"""Facts of forgotten messages: which of them rest on a message alone, and what the task does meanwhile."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import pytest

from memsidecar.assembly.derived_memory import DERIVATIONS
from memsidecar.language.contract import Finding, Utterance
from memsidecar.language.rules.extractor import RuleExtractor
from memsidecar.layers.semantic.fact import CLIENT, KnownFact, fact_of
from memsidecar.stores.contract import ErasedSources, ForgetMessages, MessageQuery, submit_and_wait
from memsidecar.v1.message_pb2 import Message
from tests.semantic.builders import fact, merged
from tests.semantic.test_fact_task import KEY, FactTaskRun

MESSAGES = {"s1": ["m1", "m5", "m9"], "s2": ["m1", "m7"]}
"The ids of all messages, by session. The number is the time of the message."


def forgotten(known: KnownFact, *names: str) -> KnownFact | None:
    """Forget messages, given as session/id, one after the other; return the fact that is left."""
    gone: list[str] = []
    left: KnownFact | None = known
    for name in names:
        gone.append(name)
        session, message_id = name.split("/")
        if left is not None and left.erased_with == session:
            left = revised(left, session, message_id, gone)
    return left


def revised(known: KnownFact, session: str, message_id: str, gone: Collection[str]) -> KnownFact | None:
    def exists(session_id: str, other_id: str) -> bool:
        return other_id in MESSAGES.get(session_id, ()) and f"{session_id}/{other_id}" not in gone

    erased = ErasedSources(session, frozenset({message_id}), frozenset({int(message_id[1:])}), exists)
    record = known.to_record()
    revised = DERIVATIONS.revise_fact(record, erased)
    assert revised == record or DERIVATIONS.concerns(record.body, record.time_us, erased)
    return fact_of(revised) if revised else None


def mentioned(*mentions: tuple[str, int]) -> KnownFact:
    """Return a fact that messages of these sessions and times mention."""
    (known,) = merged(
        [fact("Oslo", when, session_id=session, erased_with=session) for session, when in mentions]
    ).facts.values()
    return known


def test_a_fact_of_one_message_goes_with_it() -> None:
    assert forgotten(mentioned(("s1", 1)), "s1/m1") is None
    known = mentioned(("s1", 1))
    assert forgotten(known, "s1/m5", "s2/m1") == known


def test_a_fact_of_several_messages_goes_with_the_last_of_them() -> None:
    known = replace(mentioned(("s1", 5)), source_message_ids=("m1", "m5"))
    left = forgotten(known, "s1/m5")
    assert left is not None and left.source_message_ids == ("m1",)
    assert forgotten(known, "s1/m5", "s1/m1") is forgotten(known, "s1/m1", "s1/m5") is None


@pytest.mark.parametrize("later", ["s1/m9", "s2/m7"])
def test_a_fact_that_was_mentioned_again_goes_with_both_mentions(later: str) -> None:
    session, message_id = later.split("/")
    known = mentioned(("s1", 1), (session, int(message_id[1:])))
    assert known.erased_with == session
    for only in ("s1/m1", later):
        assert forgotten(known, only) is not None
    assert forgotten(known, "s1/m1", later) is None
    assert forgotten(known, later, "s1/m1") is None


def test_a_mention_between_the_first_and_the_last_does_not_count() -> None:
    known = mentioned(("s1", 1), ("s1", 5), ("s1", 9))
    assert forgotten(known, "s1/m5") == known
    assert forgotten(known, "s1/m9", "s1/m1") is None


def test_a_superseded_fact_goes_too() -> None:
    assert forgotten(replace(mentioned(("s1", 1)), until_us=7), "s1/m1") is None


def test_a_fact_that_a_client_put_rests_on_its_messages_whatever_its_times_are() -> None:
    known = replace(mentioned(("s1", 1)), origin=CLIENT, seen_us=9)
    assert forgotten(known, "s1/m9") == known
    assert forgotten(known, "s1/m1") is None


def test_an_erasure_does_not_concern_facts_of_other_messages() -> None:
    record = mentioned(("s1", 1), ("s1", 9)).to_record()

    def is_concerned(*times_us: int) -> bool:
        ids = frozenset(f"m{time_us}" for time_us in times_us)
        erased = ErasedSources("s1", ids, frozenset(times_us), lambda *_: True)
        return DERIVATIONS.concerns(record.body, record.time_us, erased)

    assert [is_concerned(5), is_concerned(1), is_concerned(9), is_concerned(5, 1)] == [False, True, True, True]


class ForgettingExtractor:
    """Forgets the first message of the session while it extracts, as a call during a slow model does."""

    origin = "rules"

    def __init__(self) -> None:
        self.run: FactTaskRun | None = None
        self.seen: list[int] = []
        self.rules = RuleExtractor()

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        self.seen.append(len(utterances))
        findings = self.rules.extract(utterances)
        if len(self.seen) == 1 and self.run is not None:
            forget_first(self.run)
        return findings


def forget_first(run: FactTaskRun) -> None:
    first = run.journal.messages(KEY, MessageQuery(limit=1)).messages[0]
    name = Message.FromString(first.body).id
    submit_and_wait(run.journal, ForgetMessages(KEY, "", [name], DERIVATIONS))


def test_a_fact_of_a_message_that_is_forgotten_meanwhile_is_not_stored() -> None:
    extractor = ForgettingExtractor()
    run = extractor.run = FactTaskRun(extractor)
    run.add_and_process("My name is Ada.", "I live in Oslo.")
    assert run.known() == {"location": "Oslo"}
    assert extractor.seen == [2, 1]


def test_a_forgotten_message_does_not_wait_for_extraction() -> None:
    run = FactTaskRun(quiet_seconds=3_600)
    run.add_and_process("My name is Ada.", "I live in Oslo.")
    forget_first(run)
    run.add_and_process(*["And then?"] * 5)
    assert run.known() == {"location": "Oslo"}


def test_a_session_of_which_all_waiting_messages_are_forgotten_has_no_work_left() -> None:
    run = FactTaskRun(quiet_seconds=3_600)
    run.add_and_process("My name is Ada.")
    forget_first(run)
    run.process_log()
    assert run.task.completed_lsn("default") == run.journal.last_lsns()["default"]
