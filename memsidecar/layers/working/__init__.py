"""Working memory: the conversation of each session, in RAM where it is hot, in the journal always."""

from dataclasses import dataclass

from memsidecar.layers.working.adding import Adding
from memsidecar.layers.working.annotating import Annotating
from memsidecar.layers.working.budgets import Budgets
from memsidecar.layers.working.conversing import Conversing
from memsidecar.layers.working.counting import CountingByModel
from memsidecar.layers.working.drafting import Drafting
from memsidecar.layers.working.gauge import Gauge
from memsidecar.layers.working.prune_order import Relevance, SummarizeUpTo, irrelevant, never_summarized
from memsidecar.layers.working.pruning import Pruning
from memsidecar.layers.working.reading import Reading
from memsidecar.layers.working.searching import Searching
from memsidecar.layers.working.sessions import AutoPruning, Policies, Sessions
from memsidecar.layers.working.trimming import Trimming
from memsidecar.layers.working.views import Views
from memsidecar.stores.contract import Journal
from memsidecar.tokens.contract import Counters


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
