"""Which hits become memories: thresholds and deduplication."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from memsidecar.context.budgets import SectionLimit
from memsidecar.context.memories import Memories, MemoryItem, MemoryWriter, SeenTexts, best_of, content_of, id_of
from memsidecar.context.sections import UNLISTED, Item, Omission
from memsidecar.layers.episodic.query import RankedHit
from memsidecar.layers.text_analysis import has_question_mark, is_question, tokenize
from memsidecar.stores.contract import LocatedMessage
from memsidecar.v1.context_pb2 import (
    INCLUSION_BELOW_THRESHOLD,
    INCLUSION_DUPLICATE,
    INCLUSION_IN_WINDOW,
    INCLUSION_LOW_QUALITY,
    INCLUSION_OVER_SECTION,
    Inclusion,
)
from memsidecar.v1.message_pb2 import Message

_OVERSAMPLING = 1.5
"Hits are examined until they fill the section this many times."

Hit = tuple[RankedHit, LocatedMessage]


@dataclass(frozen=True, slots=True)
class RelevanceThresholds:
    """Minimum relevance and quality."""

    threshold: float = 0.25
    min_quality: float = 7.0


def same_question(query: str) -> Callable[[LocatedMessage], bool]:
    """Return a predicate for messages that ask the same question in the same words."""
    if not is_question(query):
        return lambda _: False
    words = Counter(tokenize(query))
    return lambda found: has_question_mark(content := content_of(found)) and Counter(tokenize(content)) == words


@dataclass(frozen=True)
class RelevanceFilter:
    """Filters hits. `is_shown` tells whether the working section shows a message, by session and sequence.

    Hits that cannot fit are not examined, except for a `debug` receipt.
    """

    thresholds: RelevanceThresholds
    is_shown: Callable[[int, int], bool]
    writer: MemoryWriter
    limit: SectionLimit
    debug: bool
    repeats: Callable[[LocatedMessage], bool] = lambda _: False
    "Tells whether a message asks the same question as the query: such a message answers nothing."

    def __call__(self, hits: Iterable[Hit]) -> tuple[list[MemoryItem], list[Omission]]:
        kept = Memories()
        omitted: list[Omission] = []
        seen = SeenTexts()
        tokens = 0
        most_tokens, most_items = _OVERSAMPLING * self.limit.ceiling, _OVERSAMPLING * self.limit.max_items
        for pointer, found in hits:
            enough = tokens > most_tokens or len(kept.items) > most_items
            reason = INCLUSION_OVER_SECTION if enough else self._reason(pointer, found)
            if reason is None and seen.has_similar(frozenset(tokenize(content_of(found)))):
                reason = INCLUSION_DUPLICATE
            if reason is not None:
                omitted.append(Omission(self._omitted(pointer, found), reason))
                continue
            tokens += min(found.message.tokens, self.writer.max_tokens)
            kept.add(MemoryItem(pointer, (found,)))
        return kept.items, omitted

    def _omitted(self, pointer: RankedHit, found: LocatedMessage) -> Item:
        return self.item(MemoryItem(pointer, (found,))) if self.debug else UNLISTED

    def _reason(self, pointer: RankedHit, found: LocatedMessage) -> Inclusion | None:
        if self.is_shown(found.session, found.message.sequence):
            return INCLUSION_IN_WINDOW
        if self.repeats(found):
            return INCLUSION_DUPLICATE
        if pointer.relevance < self.thresholds.threshold:
            return INCLUSION_BELOW_THRESHOLD
        if pointer.evaluation is not None and pointer.evaluation < self.thresholds.min_quality:
            return INCLUSION_LOW_QUALITY
        return None

    def item(self, memory: MemoryItem) -> Item:
        messages = [Message.FromString(found.message.body) for found in memory.messages]
        lines = self.writer.lines(memory.messages, outdated=memory.outdated)
        return Item(
            id=id_of(best_of(memory)),
            text="\n".join(line.text for line in lines),
            lines=lines,
            shortened=any(map(self.writer.is_cut, memory.messages)),
            message_ids=tuple(message.id for message in messages),
            session_id=memory.messages[0].key.session_id,
            score=memory.pointer.score,
            parts=memory.pointer.parts,
            relevance=memory.pointer.relevance,
            display_order=memory.messages[0].message.time_us,
        )
