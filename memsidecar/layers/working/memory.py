"""WorkingMemory: facade of the layer. It composes the operations on the messages of a session."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from google.protobuf.struct_pb2 import Struct

from memsidecar.domain.errors import InvalidField
from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.retention import KEEP_ALL, Retention
from memsidecar.domain.session import SessionKey
from memsidecar.layers.field_checks import check_metadata, check_score, merge_metadata
from memsidecar.layers.working.conversation import ConversationReader
from memsidecar.layers.working.prune import Pruner
from memsidecar.layers.working.reads import WorkingMemoryReader
from memsidecar.layers.working.session_cache import SessionCache
from memsidecar.layers.working.sessions import AutoPruner, SessionPolicies, Sessions, TokenBudgets
from memsidecar.layers.working.substring_search import SubstringSearch
from memsidecar.layers.working.token_counts import ModelTokenCounts, WindowCounter
from memsidecar.layers.working.validation import MessageValidator, flags_of
from memsidecar.layers.working.window_update import Relevance, SummarizeTo, WindowUpdater, no_relevance, no_summary
from memsidecar.stores.contract import (
    Append,
    Appended,
    Derivations,
    Journal,
    JournalWriter,
    MessageUpdated,
    PendingCommand,
    Revision,
    UpdateMessage,
    submit_and_wait,
)
from memsidecar.tokens.contract import Counters
from memsidecar.v1.message_pb2 import Message

NO_DERIVATIONS = Derivations(lambda *_: False, lambda fact, _: fact, lambda _, __: False, lambda _: 0)
"Without the layers that derive records from messages."

_PRESERVED_FLAGS = Flag.PRUNED | Flag.SHORTENED | Flag.LEARNED


@dataclass(frozen=True)
class MessageAnnotator:
    journal: JournalWriter

    def __call__(
        self, key: SessionKey, user_id: str, message_id: str, score: float | None, metadata: Struct | None
    ) -> StoredMessage:
        if score is None and metadata is None:
            raise InvalidField("evaluation_score", "give a score, metadata, or both")
        if score is not None:
            check_score("evaluation_score", score)
        if metadata is not None:
            metadata.DiscardUnknownFields()
            check_metadata("metadata", metadata)
        command = UpdateMessage(key, user_id, message_id, lambda stored: _annotate(stored, score, metadata))
        updated: MessageUpdated = submit_and_wait(self.journal, command)
        return updated.message


def _annotate(stored: StoredMessage, score: float | None, metadata: Struct | None) -> Revision:
    message = Message.FromString(stored.body)
    if score is not None:
        message.evaluation_score = score
    if metadata is not None:
        merge_metadata(message.metadata, metadata)
        check_metadata("metadata", message.metadata)
    flags = flags_of(message) | stored.flags & _PRESERVED_FLAGS
    return Revision(
        message.SerializeToString(),
        int(flags),
        message.evaluation_score if message.HasField("evaluation_score") else None,
    )


@dataclass(frozen=True, slots=True)
class WorkingLimits:
    """Limits from the settings."""

    max_message_bytes: int = 1 << 20
    vector_dimensions: int = 256
    memory_bytes: int = 64 << 20
    tail_messages: int = 512
    prune_min_messages: int = 2
    prune_window: int = 5
    auto_prune_target: float = 0.8
    overflow_keep_tokens: int = 128
    retention: Retention = KEEP_ALL


@dataclass(frozen=True)
class MessageAppender:
    journal: Journal
    validator: MessageValidator

    def submit(self, command: Append, on_done: Callable[[PendingCommand], None] | None = None) -> PendingCommand:
        """Submit an append and return at once. `on_done` is called when it is durable or has failed."""
        pending = PendingCommand(command, on_done)
        self.journal.submit(pending)
        return pending

    def __call__(self, key: SessionKey, user_id: str, messages: Sequence[Message]) -> Appended:
        """Validate and append messages; return when they are durable."""
        drafts = [self.validator(message, f"messages[{at}]") for at, message in enumerate(messages)]
        result: Appended = self.submit(Append(key, user_id, drafts)).wait()
        return result


class WorkingMemory:
    """One attribute for each operation. They share the journal and the session cache."""

    def __init__(
        self,
        journal: Journal,
        counters: Counters,
        limits: WorkingLimits,
        relevance: Relevance = no_relevance,
        summarize: SummarizeTo = no_summary,
        *,
        derivations: Derivations = NO_DERIVATIONS,
    ) -> None:
        self.limits = limits
        self.session_cache = SessionCache(journal, limits.memory_bytes, limits.tail_messages)
        self.add = MessageAppender(
            journal, MessageValidator(counters.default, limits.max_message_bytes, limits.vector_dimensions)
        )
        self.annotate = MessageAnnotator(journal)
        self.read = WorkingMemoryReader(journal, self.session_cache)
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
        self.sessions = Sessions(journal, self.read, derivations)
        self.policies = SessionPolicies.load(journal, limits.retention)
        self.budgets = TokenBudgets(self.policies, self.token_counts, self.count_by_model)
        self.auto_prune = AutoPruner(
            self.policies,
            self.prune,
            self.read,
            min_messages=limits.prune_min_messages,
            window=limits.prune_window,
            target_share=limits.auto_prune_target,
        )
