"""Facts are learned behind everybody's back, from the log, and reading it again changes nothing."""

from collections.abc import Sequence

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import FactExtractor, Finding, MalformedAnswer, ModelUnavailable, Utterance
from memsidecar.language.rules.extractor import RuleExtractor
from memsidecar.layers.background import RetryLater
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.fact_task import TASK, FactTask
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import Journal, Owner
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.tokens.registry import Counters
from memsidecar.v1.message_pb2 import Message

KEY, ANN = SessionKey("default", "s1"), Owner("default", "ann")
OF_SESSION = Owner("default", session_id="s1")


class Learner:
    """A journal, those who talk, and the task as the runner drives it."""

    def __init__(self, extractor: FactExtractor | None = None, quiet_seconds: float = 0.0) -> None:
        self.journal: Journal = VolatileJournal()
        self.memory = WorkingMemory(self.journal, Counters("chars4"), WorkingLimits())
        self.facts = Facts(self.journal, 10)
        self.echoes = EchoFilter()
        self.extractor = extractor or RuleExtractor()
        self.quiet_seconds = quiet_seconds
        self.task = self.anew()

    def anew(self) -> FactTask:
        """As after a restart."""
        return FactTask(self.journal, self.facts, self.extractor, self.echoes, 5, self.quiet_seconds, lambda: None)

    def say(self, *texts: str, user_id: str = "ann", role: str = "ROLE_USER") -> None:
        self.memory.add(KEY, user_id, [Message(role=role, content=text) for text in texts])

    def read(self) -> None:
        while chapter := self.journal.read_changes("default", self.task.position("default"), 100):
            self.task.process("default", chapter)
        self.task.maintain(idle=True)

    def learned(self, *texts: str, **rest: str) -> None:
        self.say(*texts, **rest)
        self.read()

    def known(self, owner: Owner = ANN) -> dict[str, str]:
        return {fact.key: fact.value for fact in self.facts.current(owner)}


def test_what_the_user_says_becomes_known_and_what_the_assistant_guesses_does_not() -> None:
    learner = Learner()
    learner.learned("My name is Ada and I work at Acme.")
    learner.learned("So your name is Eve and you live in Rome.", role="ROLE_ASSISTANT")
    assert learner.known() == {"name": "Ada", "company": "Acme"}
    (fact,) = [one for one in learner.facts.current(ANN) if one.key == "name"]
    assert (fact.origin, fact.session_id, len(fact.source_message_ids)) == ("rules", "s1", 1)


def test_a_session_is_read_after_some_turns_or_when_it_falls_quiet() -> None:
    learner = Learner(quiet_seconds=3_600)
    learner.learned("My name is Ada.", *["And then?"] * 3)
    assert learner.known() == {}
    learner.learned("And then?")
    assert learner.known() == {"name": "Ada"}


def test_who_begins_to_dislike_something_does_not_like_it_any_more() -> None:
    learner = Learner()
    learner.learned("I like sushi.")
    learner.learned("I hate sushi.")
    assert learner.known() == {"dislikes:sushi": "sushi"}
    learner.learned("I like sushi.")
    assert learner.known() == {"likes": "sushi"}


def test_reading_the_log_again_changes_nothing() -> None:
    learner = Learner()
    learner.learned("I live in Paris.")
    learner.learned("I moved to Rome.", "I work at Acme.")
    learner.learned("I left Acme.", "I like sushi.", "I hate sushi.")
    before = sorted(learner.facts.all(ANN, history=True), key=lambda fact: fact.id)
    learner.task = learner.anew()
    learner.task._cursor("default").position = 0
    learner.read()
    assert sorted(learner.facts.all(ANN, history=True), key=lambda fact: fact.id) == before


def test_what_was_learned_of_a_session_is_known_of_its_user_once_there_is_one() -> None:
    learner = Learner()
    learner.learned("My name is Ada.", user_id="")
    assert learner.known(OF_SESSION) == {"name": "Ada"}
    learner.learned("hello", user_id="ann")
    assert (learner.known(), learner.known(OF_SESSION)) == ({"name": "Ada"}, {})


def test_what_was_served_and_comes_back_is_not_learned_again() -> None:
    learner = Learner()
    learner.echoes.add_injected(KEY, 0, "I live in Paris and love it there.", "My name is Eve, by the way.")
    learner.learned("I live in Paris and love it there.\nMy name is Eve, by the way.\nI work at Acme.")
    learner.learned("<memsidecar>\nMy name is Bob.\n</memsidecar>\nThanks!")
    assert learner.known() == {"company": "Acme"}


class Failing:
    """Stands for a model that is away, or answers nonsense."""

    origin = "model"

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        if self.failures:
            raise self.failures.pop(0)
        return RuleExtractor().extract(utterances)


def test_a_model_that_is_away_keeps_what_was_said_waiting() -> None:
    learner = Learner(Failing(ModelUnavailable("down")))
    learner.say("My name is Ada.")
    with pytest.raises(RetryLater):
        learner.read()
    assert (learner.task.is_waiting_for_model("default"), learner.known()) == (True, {})
    learner.task.maintain(idle=False)
    assert (learner.task.is_waiting_for_model("default"), learner.known()) == (False, {"name": "Ada"})


def test_an_answer_that_makes_no_sense_is_set_aside_and_not_taken_for_no_facts() -> None:
    learner = Learner(Failing(MalformedAnswer("nonsense")))
    learner.learned("My name is Ada.")
    learner.learned("I work at Acme.")
    assert learner.known() == {"company": "Acme"}
    assert [(letter.lsn, letter.reason) for letter in learner.journal.dead_letters(TASK)] == [(1, "MalformedAnswer")]
