"""A flood of hostile texts does not delay what is learned from others, in another namespace or in the same one."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from threading import Event

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.language.contract import Finding, Utterance
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.language.rules.extractor import RuleExtractor
from memsidecar.layers.background import Task
from memsidecar.layers.background.runner import BATCH_BYTES
from memsidecar.layers.learned_until import LARGE_MESSAGE_BYTES
from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.fact_task import FactTask
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.summaries.store import SummaryStore
from memsidecar.layers.summaries.task import SummaryTask
from memsidecar.layers.summaries.update import SummaryPolicy, SummarySchedule, SummaryUpdater
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import LogEntries, MessageWritten, Owner
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.message_pb2 import Message
from tests.background.recording_task import running
from tests.hostile.texts import HostileText
from tests.support.waiting import HANG_SECONDS, until

LARGE_BYTES, MESSAGES = 128 << 10, 12
SLICE = BATCH_BYTES // LARGE_BYTES
QUIET = SessionKey("quiet", "s")


@dataclass
class RecordedTask:
    """A task, and the namespaces and messages of its batches in the order of all tasks."""

    task: Task
    batches: list[tuple[str, int]]
    name: str

    def position(self, namespace: str) -> int:
        return self.task.position(namespace)

    def process(self, namespace: str, entries: LogEntries) -> None:
        self.batches.append((namespace, sum(isinstance(entry, MessageWritten) for entry in entries)))
        self.task.process(namespace, entries)

    def maintain(self, idle: bool) -> bool:
        return self.task.maintain(idle)


@pytest.fixture
def journal() -> Iterator[VolatileJournal]:
    with closing(VolatileJournal()) as opened:
        yield opened


def new_tasks(journal: VolatileJournal, facts: Facts) -> list[Task]:
    count = CounterRegistry("chars4").default.count
    summarizer = ExtractiveSummarizer(count)
    updater = SummaryUpdater(journal, SummaryStore(journal), summarizer, summarizer, count, 400)
    return [
        SummaryTask(journal, SummarySchedule(updater, SummaryPolicy()), lambda: None),
        FactTask(journal, facts, RuleExtractor(), EchoFilter(), 1, 0.0, lambda: None),
        FactTask(journal, facts, RuleExtractor(), EchoFilter(), 1, 0.0, lambda: None, reads_large=True),
        ProceduralMemory(journal, 5, lambda: None),
    ]


def test_another_namespace_waits_for_one_slice_of_each_task(journal: VolatileJournal) -> None:
    memory = WorkingMemory(journal, CounterRegistry("chars4"), WorkingLimits())
    facts = Facts(journal, 10)
    batches: list[tuple[str, int]] = []
    tasks = [RecordedTask(task, batches, task.name) for task in new_tasks(journal, facts)]
    with running(journal, *tasks):
        for number, unit in enumerate((".\n", "key: value\n", "W{} is now 5. ") * (MESSAGES // 3)):
            hostile = HostileText(f"{number} ", unit, "").of_size(LARGE_BYTES - 64)
            memory.add(SessionKey("flood", "s"), "eve", [Message(role="ROLE_USER", content=hostile)])
        seen = len(batches)
        memory.add(QUIET, "ann", [Message(role="ROLE_USER", content="My name is Ada.")])
        until(lambda: bool(facts.current(Owner("quiet", "ann"))))
        learned = len(batches)
        until(lambda: sum(size for _, size in batches) >= len(tasks) * (MESSAGES + 1))
    flooded = [size for namespace, size in batches if namespace == "flood"]
    assert max(flooded) <= SLICE
    between = [size for namespace, size in batches[seen:learned] if namespace == "flood"]
    assert sum(between) <= 2 * len(tasks) * SLICE, "the slice under way, and one more of each task"


class WaitingExtractor(RuleExtractor):
    """Takes a large message, and then does nothing until it may."""

    def __init__(self) -> None:
        self.has_begun, self.may_continue = Event(), Event()

    def extract(self, utterances: Sequence[Utterance]) -> Sequence[Finding]:
        if any(len(utterance.text) > LARGE_MESSAGE_BYTES for utterance in utterances):
            self.has_begun.set()
            assert self.may_continue.wait(HANG_SECONDS)
        return super().extract(utterances)


def test_a_fact_of_another_user_does_not_wait_for_large_messages(journal: VolatileJournal) -> None:
    memory = WorkingMemory(journal, CounterRegistry("chars4"), WorkingLimits())
    facts, extractor, echoes = Facts(journal, 10), WaitingExtractor(), EchoFilter()
    others, large = (
        FactTask(journal, facts, extractor, echoes, 1, 0.0, lambda: None, reads_large) for reads_large in (False, True)
    )
    with running(journal, large), running(journal, others, max_message_bytes=LARGE_MESSAGE_BYTES):
        hostile = Message(role="ROLE_USER", content="My name is Eve. " + "\n" * LARGE_BYTES)
        memory.add(SessionKey("shared", "e"), "eve", [hostile])
        assert extractor.has_begun.wait(HANG_SECONDS)
        memory.add(SessionKey("shared", "a"), "ann", [Message(role="ROLE_USER", content="My name is Ada.")])
        until(lambda: bool(facts.current(Owner("shared", "ann"))))
        assert not facts.current(Owner("shared", "eve"))
        extractor.may_continue.set()
        until(lambda: bool(facts.current(Owner("shared", "eve"))))


def test_a_summary_of_a_backlog_is_made_in_slices(journal: VolatileJournal) -> None:
    memory, store = WorkingMemory(journal, CounterRegistry("chars4"), WorkingLimits()), SummaryStore(journal)
    count = CounterRegistry("chars4").default.count
    summarizer = ExtractiveSummarizer(count)
    updater = SummaryUpdater(journal, store, summarizer, summarizer, count, 400)
    task = SummaryTask(journal, SummarySchedule(updater, SummaryPolicy(4, 3_000, 2)), lambda: None)
    memory.add(QUIET, "", [Message(role="ROLE_USER", content=f"We chose plan {at}.") for at in range(40)])
    covered = []
    while entries := journal.read_changes("quiet", task.position("quiet"), 10):
        task.process("quiet", entries)
        summary = store.get(QUIET)
        covered.append(summary.last_sequence if summary else 0)
    assert covered == sorted(covered)
    assert all(last <= 10 * number for number, last in enumerate(covered, 1))
    assert covered[-1] >= 30
