"""WorkingMemory facade; append."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.annotate import Annotating
from memsidecar.layers.working.conversation import Conversing
from memsidecar.layers.working.prune import Pruning
from memsidecar.layers.working.reads import Reading
from memsidecar.layers.working.session_cache import Views
from memsidecar.layers.working.sessions import AutoPruning, Budgets, Policies, Sessions
from memsidecar.layers.working.substring_search import Searching
from memsidecar.layers.working.token_counts import CountingByModel, Gauge
from memsidecar.layers.working.validation import Drafting
from memsidecar.layers.working.window_update import Relevance, SummarizeUpTo, Trimming, irrelevant, never_summarized
from memsidecar.stores.contract import Append, Appended, Journal, Ticket
from memsidecar.tokens.contract import Counters
from memsidecar.v1.message_pb2 import Message


@dataclass(frozen=True)
class Adding:
    """`begin` hands the messages to the journal and returns at once; `settled` is called when they are durable."""

    journal: Journal
    draft: Drafting

    def begin(self, command: Append, settled: Callable[[Ticket], None] | None = None) -> Ticket:
        ticket = Ticket(command, settled)
        self.journal.submit(ticket)
        return ticket

    def __call__(self, key: SessionKey, user_id: str, messages: Sequence[Message]) -> Appended:
        """Add and wait until it is durable."""
        drafts = [self.draft(message, f"messages[{at}]") for at, message in enumerate(messages)]
        result: Appended = self.begin(Append(key, user_id, drafts)).wait()
        return result


@dataclass(frozen=True, slots=True)
class WorkingLimits:
    """What the settings say about working memory; units are in the names."""

    max_message_bytes: int = 1 << 20
    vector_dimensions: int = 256
    memory_bytes: int = 64 << 20
    tail_messages: int = 512
    prune_min_messages: int = 2
    prune_window: int = 5
    auto_prune_target: float = 0.8
    overflow_keep_tokens: int = 128


class WorkingMemory:
    """One verb, one part; they share the journal and the hot views."""

    def __init__(
        self,
        journal: Journal,
        counters: Counters,
        limits: WorkingLimits,
        relevance: Relevance = irrelevant,
        summarize: SummarizeUpTo = never_summarized,
    ) -> None:
        self.limits = limits
        self.views = Views(journal, limits.memory_bytes, limits.tail_messages)
        self.add = Adding(journal, Drafting(counters.default, limits.max_message_bytes, limits.vector_dimensions))
        self.annotate = Annotating(journal)
        self.read = Reading(journal, self.views)
        self.gauge = Gauge(journal, counters)
        self.trim = Trimming(journal)
        self.prune = Pruning(
            journal, self.read, self.gauge, self.trim, limits.overflow_keep_tokens, relevance, summarize
        )
        self.count_by_model = CountingByModel(self.read, self.gauge)
        self.converse = Conversing(self.read)
        self.search = Searching(journal)
        self.sessions = Sessions(journal, self.read)
        self.policies = Policies.load(journal)
        self.budgets = Budgets(self.policies, self.gauge, self.count_by_model)
        self.auto_prune = AutoPruning(
            self.policies,
            self.prune,
            self.gauge,
            self.read,
            limits.prune_min_messages,
            limits.prune_window,
            limits.auto_prune_target,
        )
