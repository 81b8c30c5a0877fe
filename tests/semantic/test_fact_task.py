"""The fact task extracts facts from the log; replaying the log changes nothing."""

from collections.abc import Sequence

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import FactExtractor, Finding, MalformedAnswer, ModelUnavailable, Utterance
from memsidecar.language.rules.extractor import RuleExtractor
from memsidecar.layers.background import RetryLater
from memsidecar.layers.learned_until import LARGE_MESSAGE_BYTES
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.fact_task import TASK, FactTask
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import Journal, MessageWritten, Owner
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.message_pb2 import Message
from tests.semantic.builders import client_fact, put

KEY, ANN = SessionKey("default", "s1"), Owner("default", "ann")
OF_SESSION = Owner("default", session_id="s1")


class FactTaskRun:
    """A journal with messages, and the task as the runner calls it."""

    def __init__(self, extractor: FactExtractor | None = None, quiet_seconds: float = 0.0) -> None:
        self.journal: Journal = VolatileJournal()
        self.memory = WorkingMemory(self.journal, CounterRegistry("chars4"), WorkingLimits())
        self.facts = Facts(self.journal, 10)
        self.echoes = EchoFilter()
        self.extractor = extractor or RuleExtractor()
        self.quiet_seconds = quiet_seconds
        self.task = self.new_task()

    def new_task(self, *, reads_large: bool = False) -> FactTask:
        """Return a new task, as after a restart."""
        return FactTask(
            self.journal, self.facts, self.extractor, self.echoes, 5, self.quiet_seconds, lambda: None, reads_large
        )

    def add(self, *texts: str, user_id: str = "ann", role: str = "ROLE_USER") -> None:
        self.memory.add(KEY, user_id, [Message(role=role, content=text) for text in texts])

    def process_log(self) -> None:
        while batch := self.journal.read_changes("default", self.task.position("default"), 100):
            self.task.process("default", batch)
        self.task.maintain(idle=True)

    def add_and_process(self, *texts: str, **rest: str) -> None:
        self.add(*texts, **rest)
        self.process_log()

    def known(self, owner: Owner = ANN) -> dict[str, str]:
        return {fact.key: fact.value for fact in self.facts.current(owner)}


def test_facts_come_from_the_user_and_not_from_the_assistant() -> None:
    run = FactTaskRun()
    run.add_and_process("My name is Ada and I work at Acme.")
    run.add_and_process("So your name is Eve and you live in Rome.", role="ROLE_ASSISTANT")
    assert run.known() == {"name": "Ada", "company": "Acme"}
    (fact,) = [one for one in run.facts.current(ANN) if one.key == "name"]
    assert (fact.origin, fact.session_id, len(fact.source_message_ids)) == ("rules", "s1", 1)


def test_large_messages_are_left_to_a_task_of_their_own() -> None:
    run = FactTaskRun()
    large = "My name is Ada. " + "\n" * LARGE_MESSAGE_BYTES
    run.add_and_process(large, "I work at Acme.")
    assert run.known() == {"company": "Acme"}
    run.task = run.new_task(reads_large=True)
    run.process_log()
    assert run.known() == {"company": "Acme", "name": "Ada"}
    assert {fact.origin for fact in run.facts.current(ANN)} == {"rules"}
    (name,) = [fact for fact in run.facts.current(ANN) if fact.key == "name"]
    assert run.facts.submit_delete(ANN, name.id, lambda _: None).done
    for reads_large in (False, True):
        run.task = run.new_task(reads_large=reads_large)
        run.process_log()
    assert run.known() == {"company": "Acme"}, "each task continues after what it has read"


def test_a_claimed_session_moves_its_facts_once() -> None:
    run = FactTaskRun()
    run.add_and_process("I work at Acme.", user_id="")
    run.add("And then?")
    run.task = run.new_task(reads_large=True)
    run.process_log()
    assert run.known() == {}, "the other task moves them"
    run.task = run.new_task()
    run.process_log()
    assert run.known() == {"company": "Acme"}


def test_a_session_is_processed_after_some_turns_or_a_quiet_period() -> None:
    run = FactTaskRun(quiet_seconds=3_600)
    run.add_and_process("My name is Ada.", *["And then?"] * 3)
    assert run.known() == {}
    run.add_and_process("And then?")
    assert run.known() == {"name": "Ada"}


def test_a_dislike_ends_the_opposite_fact() -> None:
    run = FactTaskRun()
    run.add_and_process("I like sushi.")
    run.add_and_process("I hate sushi.")
    assert run.known() == {"dislikes:sushi": "sushi"}
    run.add_and_process("I like sushi.")
    assert run.known() == {"likes": "sushi"}


def test_orders_of_different_kinds_hold_beside_each_other_and_a_later_one_of_a_kind_supersedes() -> None:
    run = FactTaskRun()
    run.add_and_process("Always answer in German.", "no emojis", "keep answers short")
    assert run.known() == {
        "answer language": "Always answer in German",
        "emojis": "no emojis",
        "answer length": "short",
    }
    run.add_and_process("Please answer in English.", "Give me detailed answers.")
    assert run.known() == {"answer language": "in English", "emojis": "no emojis", "answer length": "detailed answers"}


def test_a_city_that_a_client_put_and_a_learned_location_are_one_fact() -> None:
    run = FactTaskRun()
    put(run.facts, client_fact("Berlin", 1, key="city"))
    run.add_and_process("I moved to Hamburg last month.")
    assert run.known() == {"location": "Hamburg"}


def test_the_items_of_a_list_hold_beside_each_other() -> None:
    run = FactTaskRun()
    run.add_and_process("I'm allergic to peanuts and cats.")
    run.add_and_process("I'm also allergic to latex.")
    assert sorted(run.known().values()) == ["cats", "latex", "peanuts"]


def test_another_version_of_a_tool_supersedes_the_first() -> None:
    run = FactTaskRun()
    run.add_and_process("We use Postgres 16 and Redis at work.")
    run.add_and_process("We upgraded to Postgres 17.")
    assert run.known() == {"uses:postgres": "Postgres 17", "uses:redis": "Redis"}


def test_a_move_ends_the_old_location() -> None:
    run = FactTaskRun()
    run.add_and_process("I live in Berlin.")
    run.add_and_process("I don't live in Berlin anymore, I'm in Hamburg now.")
    assert run.known() == {"location": "Hamburg"}


def test_replaying_the_log_changes_nothing() -> None:
    run = FactTaskRun()
    run.add_and_process("I live in Paris.")
    run.add_and_process("I moved to Rome.", "I work at Acme.")
    run.add_and_process("I left Acme.", "I like sushi.", "I hate sushi.")
    before = sorted(run.facts.all(ANN, history=True), key=lambda fact: fact.id)
    run.task = run.new_task()
    run.task._cursor("default").position = 0
    run.process_log()
    assert sorted(run.facts.all(ANN, history=True), key=lambda fact: fact.id) == before


def test_facts_of_a_session_belong_to_its_user_after_a_claim() -> None:
    run = FactTaskRun()
    run.add_and_process("My name is Ada.", user_id="")
    assert run.known(OF_SESSION) == {"name": "Ada"}
    run.add_and_process("hello", user_id="ann")
    assert (run.known(), run.known(OF_SESSION)) == ({"name": "Ada"}, {})


def test_echoed_contexts_are_not_extracted_again() -> None:
    run = FactTaskRun()
    run.echoes.add_injected(KEY, 0, "I live in Paris and love it there.", "My name is Eve, by the way.")
    run.add_and_process("I live in Paris and love it there.\nMy name is Eve, by the way.\nI work at Acme.")
    run.add_and_process("<memsidecar>\nMy name is Bob.\n</memsidecar>\nThanks!")
    assert run.known() == {"company": "Acme"}


class FailingExtractor:
    """An extractor that is unavailable, or fails on its input."""

    origin = "model"

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        if self.failures:
            raise self.failures.pop(0)
        return RuleExtractor().extract(utterances)


def test_with_an_unavailable_model_messages_wait() -> None:
    run = FactTaskRun(FailingExtractor(ModelUnavailable("down")))
    run.add("My name is Ada.")
    with pytest.raises(RetryLater):
        run.process_log()
    assert (run.task.is_waiting_for_model("default"), run.known()) == (True, {})
    run.task.maintain(idle=False)
    assert (run.task.is_waiting_for_model("default"), run.known()) == (False, {"name": "Ada"})


def test_a_malformed_answer_is_an_error_and_not_an_empty_result() -> None:
    run = FactTaskRun(FailingExtractor(MalformedAnswer("nonsense")))
    run.add_and_process("My name is Ada.")
    run.add_and_process("I work at Acme.")
    assert run.known() == {"company": "Acme"}
    assert [(letter.lsn, letter.reason) for letter in run.journal.dead_letters(TASK)] == [(1, "MalformedAnswer")]


def test_messages_that_were_given_up_are_all_dead_letters() -> None:
    run = FactTaskRun(FailingExtractor(MalformedAnswer("as the test wants it")), quiet_seconds=3_600)
    run.add_and_process("My name is Ada.", "I live in Rome.", *["And then?"] * 3)
    written = [entry.lsn for entry in run.journal.read_changes("default", 0, 100) if isinstance(entry, MessageWritten)]
    assert [letter.lsn for letter in run.journal.dead_letters(TASK)] == written


def test_a_large_message_does_not_wait_for_other_turns() -> None:
    run = FactTaskRun(quiet_seconds=3_600)
    run.task = run.new_task(reads_large=True)
    run.add_and_process("My name is Ada. " + "I saw it. " * 2_000)
    assert run.known() == {"name": "Ada"}
