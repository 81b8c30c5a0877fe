"""Thresholds, deduplication, pairing of hits."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memsidecar.context.budgets import SectionLimit
from memsidecar.context.sections import UNLISTED, Item, Omission, format_age
from memsidecar.domain.message import Role
from memsidecar.layers.episodic.query import RankedHit
from memsidecar.layers.text_analysis import content_terms, has_question_mark, is_question, stem, tokenize
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

SAME_WORDS_SHARE = 0.85
_SPEAKERS = {Role.SYSTEM: "System", Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool"}
_BETWEEN = " / "
_TIMES_AS_CLOSE = 2
"What is said in passing must be this much closer than what is asked for: measured by what a cache reuses of a prompt."
_EXACT = 0.5
"What a memory gets that has every word of the query."
_WORDS_IN_COMMON = 0.5
"The share of a question's telling words that a memory must have to be what is asked about."
_ENOUGH = 2
"Times as much as fits: what comes behind that has no chance."

Hit = tuple[RankedHit, LocatedMessage]
Neighbour = Callable[[LocatedMessage], LocatedMessage | None]


@dataclass(frozen=True, slots=True)
class RelevanceThresholds:
    """What is worth showing; `recency` is the share of a score that says nothing about the question."""

    threshold: float = 0.25
    min_quality: float = 7.0
    recency: float = 0.3


def content_stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, content_terms(tokenize(text))))


def same_question(query: str) -> Callable[[LocatedMessage], bool]:
    """Tells who asks the same, in the same words."""
    if not is_question(query):
        return lambda _: False
    words = Counter(tokenize(query))
    return lambda found: has_question_mark(content := content_of(found)) and Counter(tokenize(content)) == words


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One message, or two that belong together, in their order; the better one's score."""

    pointer: RankedHit
    said: tuple[LocatedMessage, ...]


@dataclass(frozen=True)
class RelevanceFilter:
    """`is_shown` says whether the working section shows a message, by session and sequence; `now_us` is the time.

    What cannot fit any more is not looked at, unless somebody wants to know all of it (`debug`).
    """

    thresholds: RelevanceThresholds
    is_shown: Callable[[int, int], bool]
    now_us: int
    cap: SectionLimit
    debug: bool
    asked: bool = True
    "Somebody asks for something. Else it is a turn of a conversation, which may have nothing to do with memory."
    question: frozenset[str] = frozenset()
    "The telling words of that turn, where it is a question."
    repeats: Callable[[LocatedMessage], bool] = lambda _: False
    "Whether a message asks the same as the query: it was asked before, and is no memory."

    def __call__(self, hits: Iterable[Hit]) -> tuple[list[MemoryItem], list[Omission]]:
        kept: list[MemoryItem] = []
        omitted: list[Omission] = []
        words: list[frozenset[str]] = []
        tokens = 0
        for pointer, found in hits:
            enough = tokens > _ENOUGH * self.cap.tokens or len(kept) > _ENOUGH * self.cap.items
            reason = INCLUSION_OVER_SECTION if enough else self._reason(pointer, found)
            said = frozenset(tokenize(content_of(found))) if reason is None else frozenset()
            if reason is None and any(_much_the_same(said, other) for other in words):
                reason = INCLUSION_DUPLICATE
            if reason is not None:
                omitted.append(Omission(self._omitted(pointer, found), reason))
                continue
            words.append(said)
            tokens += found.message.tokens
            _join(kept, MemoryItem(pointer, (found,)))
        return kept, omitted

    def _omitted(self, pointer: RankedHit, found: LocatedMessage) -> Item:
        return self.item(MemoryItem(pointer, (found,))) if self.debug else UNLISTED

    def _reason(self, pointer: RankedHit, found: LocatedMessage) -> Inclusion | None:
        if self.is_shown(found.session, found.message.sequence):
            return INCLUSION_IN_WINDOW
        if self.repeats(found):
            return INCLUSION_DUPLICATE
        if self._relevance(pointer) < self.thresholds.threshold or not (self.asked or self._is_close(pointer, found)):
            return INCLUSION_BELOW_THRESHOLD
        if pointer.evaluation is not None and pointer.evaluation < self.thresholds.min_quality:
            return INCLUSION_LOW_QUALITY
        return None

    def _is_close(self, pointer: RankedHit, found: LocatedMessage) -> bool:
        """By itself, and not only closer than others: scores are relative, and something is always closest."""
        if pointer.cosine >= _TIMES_AS_CLOSE * self.thresholds.threshold or pointer.parts.keyword >= _EXACT:
            return True
        if not self.question:
            return False
        in_common = len(self.question & content_stems(content_of(found)))
        return in_common >= _WORDS_IN_COMMON * len(self.question)

    def _relevance(self, pointer: RankedHit) -> float:
        """The score without its recency: old or new, it either has to do with the question or not."""
        return (pointer.score - pointer.parts.recency) / (1 - self.thresholds.recency)

    def item(self, memory: MemoryItem) -> Item:
        messages = [Message.FromString(found.message.body) for found in memory.said]
        return Item(
            id=message_of(memory.pointer, memory.said).id,
            text=self._text(memory.said, messages),
            message_ids=tuple(message.id for message in messages),
            session_id=memory.said[0].key.session_id,
            score=memory.pointer.score,
            parts=memory.pointer.parts,
        )

    def _text(self, said: Sequence[LocatedMessage], messages: Sequence[Message]) -> str:
        spoken = (f"{speaker(message)}: {message.content.strip()}" for message in messages)
        return f"[{format_age(said[0].message.time_us, self.now_us)}] {_BETWEEN.join(spoken)}"

    def with_neighbour(self, memory: MemoryItem, neighbour: Neighbour, shorten: Callable[[str], str]) -> Item:
        """The item, and a longer form of it with the question before it or the answer behind it."""
        item = self.item(memory)
        if len(memory.said) > 1:
            return item
        (found,) = memory.said
        other = neighbour(found)
        if other is None or self.is_shown(other.session, other.message.sequence):
            return item
        message = Message.FromString(other.message.body)
        message.content = shorten(message.content)
        if not message.content:
            return item
        said = (other, found) if other.message.sequence < found.message.sequence else (found, other)
        messages = [message if one is other else Message.FromString(one.message.body) for one in said]
        return item._replace(expanded=self._text(said, messages), expanded_ids=tuple(one.id for one in messages))


def speaker(message: Message) -> str:
    return message.name or _SPEAKERS[Role(int(message.role))]


def content_of(found: LocatedMessage) -> str:
    return Message.FromString(found.message.body).content


def message_of(pointer: RankedHit, said: Sequence[LocatedMessage]) -> Message:
    (found,) = [one for one in said if one.message.sequence == pointer.sequence]
    return Message.FromString(found.message.body)


def _much_the_same(said: frozenset[str], other: frozenset[str]) -> bool:
    return bool(said) and len(said & other) >= SAME_WORDS_SHARE * len(said | other)


def _join(kept: list[MemoryItem], memory: MemoryItem) -> None:
    """A question and its answer are one memory where both were found."""
    (found,) = memory.said
    for at, other in enumerate(kept):
        pair = sorted((*other.said, found), key=lambda one: one.message.sequence)
        if len(pair) == 2 and _is_exchange(*pair):
            kept[at] = replace(other, said=tuple(pair))
            return
    kept.append(memory)


def _is_exchange(first: LocatedMessage, second: LocatedMessage) -> bool:
    return (
        first.session == second.session
        and first.message.sequence + 1 == second.message.sequence
        and first.message.role == Role.USER
        and second.message.role == Role.ASSISTANT
    )
