"""Which hits become memories: thresholds and deduplication."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from math import ceil

from memsidecar.context.budgets import SectionLimit
from memsidecar.context.memories import DecodedMessage, Memories, MemoryItem, MemoryWriter, best_of
from memsidecar.context.sections import ROLE_ORIGINS, UNLISTED, Item, Omission
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

_OVERSAMPLING = 1.5
"Hits are examined until they fill the section this many times."

NEAR_DUPLICATE_OVERLAP = 0.85
_MAX_COMPARED = 64
"An index of more texts takes less time than comparing a text with all of them."

Hit = tuple[RankedHit, LocatedMessage]
DecodedHit = tuple[RankedHit, DecodedMessage]
RejectedHit = tuple[DecodedHit, Inclusion]


@dataclass(frozen=True, slots=True)
class RelevanceThresholds:
    """Minimum relevance and quality."""

    threshold: float = 0.25
    min_quality: float = 7.0


def same_question(query: str) -> Callable[[str], bool]:
    """Return a predicate for texts that ask the same question in the same words."""
    if not is_question(query):
        return lambda _: False
    words = Counter(tokenize(query))
    return lambda content: has_question_mark(content) and Counter(tokenize(content)) == words


class SeenTexts:
    """Finds near-duplicates without comparing all texts with each other.

    Most texts have too many terms that no other text has. The few others are compared with all texts, as long as these
    are few, and else with those that the index names: two sets of n terms that share all but k also share one of their
    first k + 1 terms, in whatever order. Long terms come first here: they are rare, so few sets have one in common.
    """

    def __init__(self) -> None:
        self._terms: set[str] = set()
        self._sets: list[frozenset[str]] = []
        self._index: dict[str, list[frozenset[str]]] = defaultdict(list)
        self._indexed = 0

    def has_similar(self, terms: frozenset[str]) -> bool:
        """Tell whether a text with nearly the same terms was seen; if not, remember this one."""
        size = len(terms)
        required = ceil(NEAR_DUPLICATE_OVERLAP * size)
        known = len(self._terms)
        self._terms |= terms
        if size and len(self._terms) - known <= size - required:
            for other in self._sets if len(self._sets) <= _MAX_COMPARED else self._candidates(terms):
                is_like_size = len(other) >= required and size >= NEAR_DUPLICATE_OVERLAP * len(other)
                if is_like_size and _is_near_duplicate(terms, other):
                    return True
        self._sets.append(terms)
        return False

    def _candidates(self, terms: frozenset[str]) -> Iterator[frozenset[str]]:
        for other in self._sets[self._indexed :]:
            for term in _first_terms(other):
                self._index[term].append(other)
        self._indexed = len(self._sets)
        return chain.from_iterable(self._index.get(term, ()) for term in _first_terms(terms))


def _first_terms(terms: frozenset[str]) -> list[str]:
    required = ceil(NEAR_DUPLICATE_OVERLAP * len(terms))
    return sorted(sorted(terms), key=len, reverse=True)[: len(terms) - required + 1]


def _is_near_duplicate(terms: frozenset[str], other: frozenset[str]) -> bool:
    shared = len(terms & other)
    return shared >= NEAR_DUPLICATE_OVERLAP * (len(terms) + len(other) - shared)


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
    repeats: Callable[[str], bool] = lambda _: False
    "Tells whether a text asks the same question as the query: such a text answers nothing."

    def __call__(self, hits: Iterable[DecodedHit]) -> tuple[list[MemoryItem], list[RejectedHit]]:
        kept = Memories()
        rejected: list[RejectedHit] = []
        seen = SeenTexts()
        tokens = 0
        most_tokens, most_items = _OVERSAMPLING * self.limit.ceiling, _OVERSAMPLING * self.limit.max_items
        remaining = iter(hits)
        for pointer, found in remaining:
            reason = self._reason(pointer, found)
            if reason is None and seen.has_similar(frozenset(tokenize(found.content))):
                reason = INCLUSION_DUPLICATE
            if reason is not None:
                rejected.append(((pointer, found), reason))
                continue
            tokens += min(found.located.message.tokens, self.writer.max_tokens)
            kept.add(MemoryItem(pointer, (found,)))
            if tokens > most_tokens or len(kept.items) > most_items:
                break
        rejected += [(hit, self._reason(*hit) or INCLUSION_OVER_SECTION) for hit in remaining]
        return kept.items, rejected

    def omissions(self, rejected: Iterable[RejectedHit], memories: Iterable[MemoryItem]) -> list[Omission]:
        """Return the rejected hits for the receipt, without those that a memory shows as its correction."""
        shown = {found.place for memory in memories for found in (*memory.superseded, *memory.messages)}
        return [
            Omission(self.item(MemoryItem(pointer, (found,))) if self.debug else UNLISTED, reason)
            for (pointer, found), reason in rejected
            if found.place not in shown
        ]

    def _reason(self, pointer: RankedHit, found: DecodedMessage) -> Inclusion | None:
        if self.is_shown(*found.place):
            return INCLUSION_IN_WINDOW
        if self.repeats(found.content):
            return INCLUSION_DUPLICATE
        if pointer.relevance < self.thresholds.threshold:
            return INCLUSION_BELOW_THRESHOLD
        if pointer.evaluation is not None and pointer.evaluation < self.thresholds.min_quality:
            return INCLUSION_LOW_QUALITY
        return None

    def item(self, memory: MemoryItem) -> Item:
        lines = self.writer.lines(memory.messages, outdated=memory.outdated)
        best = best_of(memory)
        return Item(
            id=best.wire.id,
            text="\n".join([line.text for line in lines]),
            lines=lines,
            shortened=any(map(self.writer.is_cut, memory.messages)),
            message_ids=tuple([found.wire.id for found in memory.messages]),
            session_id=memory.messages[0].located.key.session_id,
            score=memory.pointer.score,
            parts=memory.pointer.parts,
            relevance=memory.pointer.relevance,
            display_order=memory.messages[0].time_us,
            origin=ROLE_ORIGINS[best.role],
        )
