"""What is relevant is asked of an embedder and an index: never before an Add is answered, and never in vain."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memsidecar.domain.errors import SessionOwnerMismatch
from memsidecar.domain.session import Policy, SessionHead, SessionKey, Strategy
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.layers.working.window_update import PruneRequest
from memsidecar.tokens.registry import Counters
from tests.working.components import InterruptedJournal, said

KEY = SessionKey("default", "s")
MODEL = "mistral-large"
WORDS = [f"message {at} of some length" for at in range(20)]
each_model = pytest.mark.parametrize("model", ["", MODEL])


@dataclass
class Asked:
    """A relevance that remembers what it was asked, and finds the oldest message the most relevant."""

    texts: list[str] = field(default_factory=list)

    def __call__(self, _head: SessionHead, text: str) -> Mapping[int, float]:
        self.texts.append(text)
        return {1: 1.0}


@pytest.fixture
def asked() -> Asked:
    return Asked()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[InterruptedJournal]:
    with closing(InterruptedJournal(tmp_path)) as opened:
        yield opened


@pytest.fixture
def memory(journal: InterruptedJournal, asked: Asked) -> WorkingMemory:
    """One that charges twice the default for a model, and keeps only the end of the session in RAM."""
    made = WorkingMemory(journal, Counters("chars4"), WorkingLimits(tail_messages=4), asked)
    made.add(KEY, "u", said(*WORDS))
    made.token_counts.report("default", MODEL, 100, 200)
    return WorkingMemory(journal, Counters("chars4"), WorkingLimits(tail_messages=4), asked)


def by_importance(max_tokens: int, model: str = "") -> PruneRequest:
    return PruneRequest(max_tokens, Strategy.IMPORTANCE, window=5, min_messages=2, model=model)


def tokens(memory: WorkingMemory, model: str) -> int:
    """What the session weighs, by an order that removes nothing."""
    order = PruneRequest(1 << 30, Strategy.RECENCY, window=5, min_messages=2, model=model)
    return memory.prune(KEY, "u", order).tokens_before


@each_model
def test_a_policy_prunes_without_asking(memory: WorkingMemory, asked: Asked, model: str) -> None:
    memory.policies.set(KEY, "u", Policy(tokens(memory, model) // 2, Strategy.IMPORTANCE, model))
    head = memory.sessions.get(KEY, "u")
    assert head is not None and memory.auto_prune.due(head)
    assert memory.auto_prune.run(head).message_count < len(WORDS)
    assert not asked.texts


@each_model
def test_an_order_within_the_budget_asks_nothing(memory: WorkingMemory, asked: Asked, model: str) -> None:
    assert not memory.prune(KEY, "u", by_importance(tokens(memory, model), model)).removed_count
    assert not asked.texts


@each_model
def test_an_order_beyond_the_budget_asks_once_and_heeds_the_answer(
    memory: WorkingMemory, asked: Asked, model: str
) -> None:
    pruned = memory.prune(KEY, "u", by_importance(tokens(memory, model) - 1, model))
    oldest = next(iter(memory.read.window(pruned_head(memory), bodies=False)))
    assert pruned.removed_count and oldest.sequence == 1
    assert asked.texts == [WORDS[-1]]


def pruned_head(memory: WorkingMemory) -> SessionHead:
    head = memory.sessions.get(KEY, "u")
    assert head is not None
    return head


@each_model
def test_a_session_that_moves_meanwhile_is_pruned_all_the_same(
    journal: InterruptedJournal, memory: WorkingMemory, asked: Asked, model: str
) -> None:
    budget = tokens(memory, model) - 1
    more = [said("one more")]
    journal.before_each_read(lambda: more and memory.add(KEY, "u", more.pop()))
    assert memory.prune(KEY, "u", by_importance(budget, model)).removed_count
    assert len(asked.texts) == 1


def test_somebody_else_is_told_nothing_and_nothing_is_asked(memory: WorkingMemory, asked: Asked) -> None:
    with pytest.raises(SessionOwnerMismatch):
        memory.prune(KEY, "somebody else", by_importance(1))
    assert not asked.texts
    memory.prune(SessionKey("default", "none"), "u", by_importance(1))
    assert not asked.texts
