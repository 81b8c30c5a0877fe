"""WorkingMemory facade; append."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.annotate import MessageAnnotator
from memsidecar.layers.working.conversation import ConversationReader
from memsidecar.layers.working.prune import Pruner
from memsidecar.layers.working.reads import SessionReader
from memsidecar.layers.working.session_cache import SessionCache
from memsidecar.layers.working.sessions import AutoPruner, SessionPolicies, Sessions, TokenBudgets
from memsidecar.layers.working.substring_search import SubstringSearch
from memsidecar.layers.working.token_counts import ModelTokenCounts, WindowCounter
from memsidecar.layers.working.validation import MessageValidator
from memsidecar.layers.working.window_update import Relevance, SummarizeUpTo, WindowUpdater, no_relevance, no_summary
from memsidecar.stores.contract import Append, Appended, Journal, PendingCommand
from memsidecar.tokens.contract import Counters
from memsidecar.v1.message_pb2 import Message


@dataclass(frozen=True)
class MessageAppender:
    """`begin` hands the messages to the journal and returns at once; `settled` is called when they are durable."""

    journal: Journal
    validator: MessageValidator

    def begin(self, command: Append, settled: Callable[[PendingCommand], None] | None = None) -> PendingCommand:
        ticket = PendingCommand(command, settled)
        self.journal.submit(ticket)
        return ticket

    def __call__(self, key: SessionKey, user_id: str, messages: Sequence[Message]) -> Appended:
        """Add and wait until it is durable."""
        drafts = [self.validator(message, f"messages[{at}]") for at, message in enumerate(messages)]
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
        relevance: Relevance = no_relevance,
        summarize: SummarizeUpTo = no_summary,
    ) -> None:
        self.limits = limits
        self.session_cache = SessionCache(journal, limits.memory_bytes, limits.tail_messages)
        self.add = MessageAppender(
            journal, MessageValidator(counters.default, limits.max_message_bytes, limits.vector_dimensions)
        )
        self.annotate = MessageAnnotator(journal)
        self.read = SessionReader(journal, self.session_cache)
        self.token_counts = ModelTokenCounts(journal, counters)
        self.window_updater = WindowUpdater(journal)
        self.prune = Pruner(
            journal,
            self.read,
            self.token_counts,
            self.window_updater,
            limits.overflow_keep_tokens,
            relevance,
            summarize,
        )
        self.count_by_model = WindowCounter(self.read, self.token_counts)
        self.conversation = ConversationReader(self.read)
        self.search = SubstringSearch(journal)
        self.sessions = Sessions(journal, self.read)
        self.policies = SessionPolicies.load(journal)
        self.budgets = TokenBudgets(self.policies, self.token_counts, self.count_by_model)
        self.auto_prune = AutoPruner(
            self.policies,
            self.prune,
            self.token_counts,
            self.read,
            limits.prune_min_messages,
            limits.prune_window,
            limits.auto_prune_target,
        )
