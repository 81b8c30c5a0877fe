"""Relevance needs an embedder and an index: it is not computed during an Add, and only if messages are removed."""

from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from memsidecar.domain.errors import SessionOwnerMismatch
from memsidecar.domain.session import Policy, SessionHead, SessionKey, Strategy
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.layers.working.window_update import PruneRequest
from tests.working.components import COUNTERS, HookedJournal, messages_of

KEY = SessionKey("default", "s")
MODEL = "mistral-large"
WORDS = [f"message {at} of some length" for at in range(20)]
each_model = pytest.mark.parametrize("model", ["", MODEL])


@dataclass
class RecordingRelevance:
    """Records its queries; the oldest message is the most relevant."""

    texts: list[str] = field(default_factory=list)

    def __call__(self, _head: SessionHead, text: str) -> Mapping[int, float]:
        self.texts.append(text)
        return {1: 1.0}


@pytest.fixture
def relevance() -> RecordingRelevance:
    return RecordingRelevance()


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[HookedJournal]:
    with closing(HookedJournal(tmp_path)) as opened:
        yield opened


@pytest.fixture
def memory(journal: HookedJournal, relevance: RecordingRelevance) -> WorkingMemory:
    """A memory with a calibration factor of 2 for a model, and only the end of the session in RAM."""
    made = WorkingMemory(journal, COUNTERS, WorkingLimits(tail_messages=4), relevance)
    made.add(KEY, "u", messages_of(*WORDS))
    made.token_counts.report("default", MODEL, 100, 200)
    return WorkingMemory(journal, COUNTERS, WorkingLimits(tail_messages=4), relevance)


def by_importance(max_tokens: int, model: str = "") -> PruneRequest:
    return PruneRequest(max_tokens, Strategy.IMPORTANCE, window=5, min_messages=2, model=model)


def tokens(memory: WorkingMemory, model: str) -> int:
    """Return the tokens of the session, by a prune that removes nothing."""
    request = PruneRequest(1 << 30, Strategy.RECENCY, window=5, min_messages=2, model=model)
    return memory.prune(KEY, "u", request).tokens_before


@each_model
def test_a_policy_prunes_without_relevance(memory: WorkingMemory, relevance: RecordingRelevance, model: str) -> None:
    memory.policies.set(KEY, "u", Policy(tokens(memory, model) // 2, Strategy.IMPORTANCE, model))
    head = memory.sessions.get(KEY, "u")
    assert head is not None and memory.auto_prune.due(head)
    assert memory.auto_prune.run(head).message_count < len(WORDS)
    assert not relevance.texts


@each_model
def test_a_prune_within_the_budget_computes_no_relevance(
    memory: WorkingMemory, relevance: RecordingRelevance, model: str
) -> None:
    assert not memory.prune(KEY, "u", by_importance(tokens(memory, model), model)).removed_count
    assert not relevance.texts


@each_model
def test_a_prune_beyond_the_budget_computes_relevance_once_and_uses_it(
    memory: WorkingMemory, relevance: RecordingRelevance, model: str
) -> None:
    pruned = memory.prune(KEY, "u", by_importance(tokens(memory, model) - 1, model))
    oldest = next(iter(memory.read.window(pruned_head(memory), bodies=False)))
    assert pruned.removed_count and oldest.sequence == 1
    assert relevance.texts == [WORDS[-1]]


def pruned_head(memory: WorkingMemory) -> SessionHead:
    head = memory.sessions.get(KEY, "u")
    assert head is not None
    return head


@each_model
def test_a_session_that_changes_meanwhile_is_pruned(
    journal: HookedJournal, memory: WorkingMemory, relevance: RecordingRelevance, model: str
) -> None:
    budget = tokens(memory, model) - 1
    more = [messages_of("one more")]
    journal.before_each_read(lambda: more and memory.add(KEY, "u", more.pop()))
    assert memory.prune(KEY, "u", by_importance(budget, model)).removed_count
    assert len(relevance.texts) == 1


def test_another_user_is_rejected_without_computing_relevance(
    memory: WorkingMemory, relevance: RecordingRelevance
) -> None:
    with pytest.raises(SessionOwnerMismatch):
        memory.prune(KEY, "another user", by_importance(1))
    assert not relevance.texts
    memory.prune(SessionKey("default", "none"), "u", by_importance(1))
    assert not relevance.texts
