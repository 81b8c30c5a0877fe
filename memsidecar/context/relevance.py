"""Which hits become memories: thresholds and deduplication."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from memsidecar.context.budgets import SectionLimit
from memsidecar.context.memories import Memories, MemoryItem, SeenTexts, content_of, message_of, speaker
from memsidecar.context.sections import UNLISTED, Item, Line, Omission, format_date
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

_BETWEEN = " / "
_OVERSAMPLING = 1.5
"Hits are examined until they fill the section this many times."

Hit = tuple[RankedHit, LocatedMessage]
Neighbour = Callable[[LocatedMessage], LocatedMessage | None]


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
    now_us: int
    limit: SectionLimit
    debug: bool
    repeats: Callable[[LocatedMessage], bool] = lambda _: False
    "Tells whether a message asks the same question as the query: such a message answers nothing."

    def __call__(self, hits: Iterable[Hit]) -> tuple[list[MemoryItem], list[Omission]]:
        kept = Memories()
        omitted: list[Omission] = []
        seen = SeenTexts()
        tokens = 0
        for pointer, found in hits:
            most = _OVERSAMPLING * self.limit.ceiling, _OVERSAMPLING * self.limit.max_items
            enough = tokens > most[0] or len(kept.items) > most[1]
            reason = INCLUSION_OVER_SECTION if enough else self._reason(pointer, found)
            if reason is None and seen.has_similar(frozenset(tokenize(content_of(found)))):
                reason = INCLUSION_DUPLICATE
            if reason is not None:
                omitted.append(Omission(self._omitted(pointer, found), reason))
                continue
            tokens += found.message.tokens
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
        line = self._line(memory.messages, messages)
        return Item(
            id=message_of(memory.pointer, memory.messages).id,
            text=line.text,
            lines=(line,),
            message_ids=tuple(message.id for message in messages),
            session_id=memory.messages[0].key.session_id,
            score=memory.pointer.score,
            parts=memory.pointer.parts,
            relevance=memory.pointer.relevance,
            display_order=memory.messages[0].message.time_us,
        )

    def _line(self, located: Sequence[LocatedMessage], messages: Sequence[Message]) -> Line:
        spoken = (f"{speaker(message)}: {message.content.strip()}" for message in messages)
        first = located[0].message
        heading = format_date(first.time_us, self.now_us)
        return Line(_BETWEEN.join(spoken), located[0].session, first.time_us, first.sequence, heading)

    def with_neighbour(self, memory: MemoryItem, neighbour: Neighbour, shorten: Callable[[str], str]) -> Item:
        """Return the item with an expanded form that has the question before it or the answer after it."""
        item = self.item(memory)
        if len(memory.messages) > 1:
            return item
        (found,) = memory.messages
        other = neighbour(found)
        if other is None or self.is_shown(other.session, other.message.sequence):
            return item
        message = Message.FromString(other.message.body)
        message.content = shorten(message.content)
        if not message.content:
            return item
        pair = (other, found) if other.message.sequence < found.message.sequence else (found, other)
        messages = [message if part is other else Message.FromString(part.message.body) for part in pair]
        line = self._line(pair, messages)
        ids = tuple(part.id for part in messages)
        return item._replace(expanded=line.text, expanded_lines=(line,), expanded_ids=ids)
