"""Thresholds, deduplication, pairing of hits."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from memsidecar.context.budgets import Cap
from memsidecar.context.sections import UNSEEN, Item, Omission, ago
from memsidecar.domain.message import Role
from memsidecar.layers.episodic.query import Pointer
from memsidecar.layers.text_analysis import asks, is_question, stem, telling_words, words_of
from memsidecar.stores.contract import Found
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

Hit = tuple[Pointer, Found]
Neighbour = Callable[[Found], Found | None]


@dataclass(frozen=True, slots=True)
class Taste:
    """What is worth showing; `recency` is the share of a score that says nothing about the question."""

    threshold: float = 0.25
    min_quality: float = 7.0
    recency: float = 0.3


def telling_stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, telling_words(words_of(text))))


def repeats_of(query: str) -> Callable[[Found], bool]:
    """Tells who asks the same, in the same words."""
    if not is_question(query):
        return lambda _: False
    words = Counter(words_of(query))
    return lambda found: asks(content := content_of(found)) and Counter(words_of(content)) == words


@dataclass(frozen=True, slots=True)
class Memory:
    """One message, or two that belong together, in their order; the better one's score."""

    pointer: Pointer
    said: tuple[Found, ...]


@dataclass(frozen=True)
class Sifting:
    """`is_shown` says whether the working section shows a message, by session and sequence; `now_us` is the time.

    What cannot fit any more is not looked at, unless somebody wants to know all of it (`debug`).
    """

    taste: Taste
    is_shown: Callable[[int, int], bool]
    now_us: int
    cap: Cap
    debug: bool
    asked: bool = True
    "Somebody asks for something. Else it is a turn of a conversation, which may have nothing to do with memory."
    question: frozenset[str] = frozenset()
    "The telling words of that turn, where it is a question."
    repeats: Callable[[Found], bool] = lambda _: False
    "Whether a message asks the same as the query: it was asked before, and is no memory."

    def __call__(self, hits: Iterable[Hit]) -> tuple[list[Memory], list[Omission]]:
        kept: list[Memory] = []
        omitted: list[Omission] = []
        words: list[frozenset[str]] = []
        tokens = 0
        for pointer, found in hits:
            enough = tokens > _ENOUGH * self.cap.tokens or len(kept) > _ENOUGH * self.cap.items
            reason = INCLUSION_OVER_SECTION if enough else self._reason(pointer, found)
            said = frozenset(words_of(content_of(found))) if reason is None else frozenset()
            if reason is None and any(_much_the_same(said, other) for other in words):
                reason = INCLUSION_DUPLICATE
            if reason is not None:
                omitted.append(Omission(self._omitted(pointer, found), reason))
                continue
            words.append(said)
            tokens += found.message.tokens
            _join(kept, Memory(pointer, (found,)))
        return kept, omitted

    def _omitted(self, pointer: Pointer, found: Found) -> Item:
        return self.item(Memory(pointer, (found,))) if self.debug else UNSEEN

    def _reason(self, pointer: Pointer, found: Found) -> Inclusion | None:
        if self.is_shown(found.session, found.message.sequence):
            return INCLUSION_IN_WINDOW
        if self.repeats(found):
            return INCLUSION_DUPLICATE
        if self._relevance(pointer) < self.taste.threshold or not (self.asked or self._is_close(pointer, found)):
            return INCLUSION_BELOW_THRESHOLD
        if pointer.evaluation is not None and pointer.evaluation < self.taste.min_quality:
            return INCLUSION_LOW_QUALITY
        return None

    def _is_close(self, pointer: Pointer, found: Found) -> bool:
        """By itself, and not only closer than others: scores are relative, and something is always closest."""
        if pointer.cosine >= _TIMES_AS_CLOSE * self.taste.threshold or pointer.parts.keyword >= _EXACT:
            return True
        if not self.question:
            return False
        in_common = len(self.question & telling_stems(content_of(found)))
        return in_common >= _WORDS_IN_COMMON * len(self.question)

    def _relevance(self, pointer: Pointer) -> float:
        """The score without its recency: old or new, it either has to do with the question or not."""
        return (pointer.score - pointer.parts.recency) / (1 - self.taste.recency)

    def item(self, memory: Memory) -> Item:
        messages = [Message.FromString(found.message.body) for found in memory.said]
        return Item(
            id=message_of(memory.pointer, memory.said).id,
            text=self._text(memory.said, messages),
            message_ids=tuple(message.id for message in messages),
            session_id=memory.said[0].key.session_id,
            score=memory.pointer.score,
            parts=memory.pointer.parts,
        )

    def _text(self, said: Sequence[Found], messages: Sequence[Message]) -> str:
        spoken = (f"{speaker(message)}: {message.content.strip()}" for message in messages)
        return f"[{ago(said[0].message.time_us, self.now_us)}] {_BETWEEN.join(spoken)}"

    def with_neighbour(self, memory: Memory, neighbour: Neighbour, shorten: Callable[[str], str]) -> Item:
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
        return item._replace(longer=self._text(said, messages), longer_ids=tuple(one.id for one in messages))


def speaker(message: Message) -> str:
    return message.name or _SPEAKERS[Role(int(message.role))]


def content_of(found: Found) -> str:
    return Message.FromString(found.message.body).content


def message_of(pointer: Pointer, said: Sequence[Found]) -> Message:
    (found,) = [one for one in said if one.message.sequence == pointer.sequence]
    return Message.FromString(found.message.body)


def _much_the_same(said: frozenset[str], other: frozenset[str]) -> bool:
    return bool(said) and len(said & other) >= SAME_WORDS_SHARE * len(said | other)


def _join(kept: list[Memory], memory: Memory) -> None:
    """A question and its answer are one memory where both were found."""
    (found,) = memory.said
    for at, other in enumerate(kept):
        pair = sorted((*other.said, found), key=lambda one: one.message.sequence)
        if len(pair) == 2 and _is_exchange(*pair):
            kept[at] = replace(other, said=tuple(pair))
            return
    kept.append(memory)


def _is_exchange(first: Found, second: Found) -> bool:
    return (
        first.session == second.session
        and first.message.sequence + 1 == second.message.sequence
        and first.message.role == Role.USER
        and second.message.role == Role.ASSISTANT
    )
