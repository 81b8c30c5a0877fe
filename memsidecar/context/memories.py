"""Memories: messages of earlier conversations that are shown together, and their texts."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from typing import NamedTuple

from memsidecar.context.rendering import SPEAKER_INDENT, SPOKEN_INDENT, encode_text
from memsidecar.context.sections import CountTokens, Item, Line
from memsidecar.domain.message import Role, StoredMessage, speaker_label
from memsidecar.domain.text import split_sentences
from memsidecar.language.extractive.corrections import Statement
from memsidecar.language.extractive.excerpt import passage
from memsidecar.language.extractive.lexicon import CLAUSE_END, WordKind
from memsidecar.layers.episodic.query import RankedHit
from memsidecar.layers.text_analysis import (
    MAX_QUERY_TERMS,
    content_terms,
    has_question_mark,
    is_question,
    stem,
    tokenize,
)
from memsidecar.stores.contract import LocatedMessage
from memsidecar.v1.message_pb2 import Message

Place = tuple[int, int]
"Session row and sequence of a message."

OUTDATED, PARTLY_OUTDATED = "(superseded later)", "(partly superseded later)"
"Follow the label of a speaker. Stored names have no brackets there, and stored text stands after the colon."
_DATES, _SUBJECTS = {WordKind.NUMBER, WordKind.CALENDAR}, {WordKind.RARE, WordKind.NAME}
_NEIGHBOUR_TOKENS = 60
"The size of the passage that is shown of a neighbour."
_MAX_ELLIPTIC_TERMS = 6
_ELLIPTIC = re.compile(
    r"(?:yes|yeah|yep|no|nope|ok|okay|right|exactly|correct|agreed|both|neither|either|none|same|that|this|those"
    r"|the (?:first|second|third|last|former|latter|other|same|one)"
    r"|ja|nein|genau|richtig|beide|keine[rs]?|d(?:er|ie|as) (?:erste|zweite|dritte|letzte|andere)"
    r"|sí|exacto|correcto|amb[oa]s|ningun[oa]"
    r"|(?:el|la) (?:primer|segund|tercer|últim|otr)[oa])\b"
    r"|是的|对|不是|好的|第[一二三]个|两个都",
    re.IGNORECASE,
)
"How an answer begins that is not understood without the message before it."
_MAX_READS = 4
"Memories whose neighbours are read. Each costs a read of the journal."


class DecodedMessage(NamedTuple):
    """A stored message, decoded once: a build reads its text many times."""

    located: LocatedMessage
    wire: Message
    content: str
    place: Place
    role: int
    time_us: int

    @property
    def is_empty(self) -> bool:
        return not self.content or self.content.isspace()


class MemoryItem(NamedTuple):
    """One hit, or several hits that are shown together, in order; scored by the best of them.

    `superseded` are messages that these correct. They are shown only together with them, if there is room, or in any
    case if the correction is not understood alone (`needs_superseded`). What is `outdated` is marked.
    """

    pointer: RankedHit
    messages: tuple[DecodedMessage, ...]
    superseded: tuple[DecodedMessage, ...] = ()
    outdated: frozenset[Place] = frozenset()
    needs_superseded: bool = False


def decode(located: LocatedMessage) -> DecodedMessage:
    stored = located.message
    wire = Message.FromString(stored.body)
    return DecodedMessage(located, wire, wire.content, (located.session, stored.sequence), stored.role, stored.time_us)


def best_of(memory: MemoryItem) -> DecodedMessage:
    """Return the best hit of a memory; of a correction that is no hit itself the first message."""
    if len(memory.messages) > 1:
        lsn, sequence = memory.pointer.lsn, memory.pointer.sequence
        for each in memory.messages:
            if each.located.lsn == lsn and each.place[1] == sequence:
                return each
    return memory.messages[0]


def passage_terms(query: str) -> frozenset[str]:
    """Return the beginnings of words by which a passage is found in a long text."""
    words = content_terms(tokenize(query))[:MAX_QUERY_TERMS]
    return frozenset(root if word.startswith(root := stem(word)) else word for word in words)


@dataclass(frozen=True)
class MemoryWriter:
    """Writes messages as dated lines. Of a long message it writes the passage around the terms of the query."""

    terms: frozenset[str]
    max_tokens: int
    count: CountTokens
    now_us: int
    label: Callable[[str, int], str] = field(default_factory=lambda: cache(speaker_label))
    "Few speakers say all memories of a context."

    def lines(
        self,
        messages: Iterable[DecodedMessage],
        neighbours: Iterable[DecodedMessage] = (),
        outdated: frozenset[Place] = frozenset(),
    ) -> tuple[Line, ...]:
        """Return a line for the messages of each session. Neighbours are shorter; what is outdated is marked."""
        sizes = [(found, self.max_tokens) for found in messages]
        sizes += [(found, min(self.max_tokens, _NEIGHBOUR_TOKENS)) for found in neighbours]
        if len(sizes) == 1:
            return (self._line(sizes, outdated),)
        sizes.sort(key=lambda each: _when(each[0]))
        groups = groupby(sizes, key=lambda each: each[0].place[0])
        return tuple(self._line(list(group), outdated) for _, group in groups)

    def _line(self, messages: Sequence[tuple[DecodedMessage, int]], outdated: frozenset[Place]) -> Line:
        first, _ = messages[0]
        spoken = [self._spoken(found, limit, found.place in outdated) for found, limit in messages]
        text = f"\n{SPEAKER_INDENT}".join(spoken)
        session, sequence = first.place
        return Line(text, session, first.time_us, sequence, self.now_us)

    def _spoken(self, found: DecodedMessage, max_tokens: int, is_outdated: bool) -> str:
        content = found.content.strip()
        if found.located.message.tokens > max_tokens:
            content = passage(content, self.terms, max_tokens, self.count)
        label = self.label(found.wire.name, found.role)
        if is_outdated:
            label += f" {PARTLY_OUTDATED if _states_several(content) else OUTDATED}"
        return f"{label}: {encode_text(content, SPOKEN_INDENT)}"

    def is_cut(self, found: DecodedMessage) -> bool:
        return found.located.message.tokens > self.max_tokens


@dataclass(frozen=True)
class MemoryUnits:
    """Completes memories to what a reader needs: the question of an answer, the answer of a question."""

    writer: MemoryWriter
    to_item: Callable[[MemoryItem], Item]
    surroundings: Callable[[LocatedMessage], Sequence[StoredMessage]]
    is_hidden: Callable[[DecodedMessage], bool]
    "Tells whether a neighbour is not shown: the conversation shows it, or a later message supersedes it."

    def __call__(self, memories: Sequence[MemoryItem]) -> list[Item]:
        """Return the items of the memories, best first. A hit that belongs to a better one joins it."""
        places = {
            found.place: at for at, memory in enumerate(memories) for found in (*memory.superseded, *memory.messages)
        }
        items: list[Item] = []
        joined: set[int] = set()
        reads = 0
        for at, memory in enumerate(memories):
            if at in joined:
                continue
            if reads == _MAX_READS or not _needs_neighbours(memory, is_best=at == 0):
                items.append(self._item(memory, [], []))
                continue
            reads += 1
            neighbours = self._neighbours(memory)
            others = {places.get(each.place, -1) for each in neighbours} - joined
            joining = sorted(other for other in others if other > at and not memories[other].superseded)
            hits = [each for other in joining for each in memories[other].messages]
            joined.update(joining)
            new = [each for each in neighbours if each.place not in places]
            outdated = memory.outdated.union(*(memories[other].outdated for other in joining))
            items.append(self._item(memory._replace(outdated=outdated), hits, new))
        return items

    def _item(self, memory: MemoryItem, hits: list[DecodedMessage], neighbours: list[DecodedMessage]) -> Item:
        messages = memory.messages
        if hits:
            messages = tuple(sorted((*messages, *hits), key=lambda found: found.place[1]))
        item = self.to_item(memory._replace(messages=messages) if hits else memory)
        if not neighbours and not memory.superseded:
            return item
        lines = self.writer.lines((*memory.superseded, *messages), neighbours, memory.outdated)
        text = "\n".join(line.text for line in lines)
        every = sorted((*memory.superseded, *messages, *neighbours), key=_when)
        ids = tuple(found.wire.id for found in every)
        if memory.needs_superseded or (neighbours and _is_elliptic(memory.messages[0])):
            return item._replace(text=text, lines=lines, message_ids=ids)
        return item._replace(
            expanded=text, expanded_lines=lines, expanded_ids=ids, prefers_expanded=bool(memory.superseded)
        )

    def _neighbours(self, memory: MemoryItem) -> list[DecodedMessage]:
        """Return the messages that are shown with the hits of a memory, if there is room."""
        found = memory.messages[-1]
        around = self.surroundings(found.located)
        near = [decode(found.located._replace(lsn=0, message=message)) for message in around]
        near = [each for each in near if not each.is_empty and each.role != Role.SYSTEM]
        at = found.place[1]
        before = [each for each in near if each.place[1] < at]
        after = [each for each in near if each.place[1] > at]
        chosen = _chosen(found, before, after) if len(memory.messages) == 1 else after[:1]
        return [each for each in chosen if not self.is_hidden(each)]


def _chosen(found: DecodedMessage, before: list[DecodedMessage], after: list[DecodedMessage]) -> list[DecodedMessage]:
    question = next((each for each in reversed(before) if each.role == Role.USER), None)
    next_turn = next((at for at, each in enumerate(after) if each.role == Role.USER), len(after))
    answer = next((each for each in after[:next_turn][::-1] if each.role == Role.ASSISTANT), None)
    if found.role == Role.TOOL:
        return [each for each in (question, answer) if each]
    if found.role == Role.ASSISTANT:
        return [question] if question else []
    if _is_elliptic(found) and before:
        is_clear = question is before[-1] or _count_terms(before[-1].content) > _MAX_ELLIPTIC_TERMS
        return before[-1:] if is_clear or question is None else [question, before[-1]]
    if answer and is_question(answer.content) and next_turn < len(after):
        return [answer, after[next_turn]]  # the user answers the assistant's question
    return [answer] if answer else []


def _states_several(content: str) -> bool:
    """Tell whether a text has several sentences, or clauses with a value each: one may still hold."""
    if len(split_sentences(content)) > 1:
        return True
    clauses = [set(Statement.parse(clause).kinds.values()) for clause in CLAUSE_END.split(content)]
    return sum(bool(kinds & _DATES) and bool(kinds & _SUBJECTS) for kinds in clauses) > 1


def _when(found: DecodedMessage) -> tuple[int, int, int]:
    return found.time_us, *found.place


def _needs_neighbours(memory: MemoryItem, *, is_best: bool) -> bool:
    """Tell whether a memory is a part of what a reader needs: a question, an answer, a tool result."""
    *others, last = memory.messages
    if others:
        return len(others) == 1 and last.role == Role.ASSISTANT and is_question(last.content)
    if last.role == Role.USER and has_question_mark(last.content):
        return True
    return is_best or last.role == Role.TOOL or _is_elliptic(last)


def _is_elliptic(found: DecodedMessage) -> bool:
    """Tell whether a message is a short reply that is not understood alone: "Yes, the second one."."""
    if found.role != Role.USER:
        return False
    content = found.content.strip()
    return _ELLIPTIC.match(content) is not None and _count_terms(content) <= _MAX_ELLIPTIC_TERMS


def _count_terms(content: str) -> int:
    return len(content_terms(tokenize(content)))


class Memories:
    """Memories in the order of their best hits. A hit joins its question or its answer, if that was found before."""

    def __init__(self) -> None:
        self.items: list[MemoryItem] = []
        self._places: dict[tuple[int, int], int] = {}

    def add(self, memory: MemoryItem) -> None:
        (found,) = memory.messages
        session, sequence = found.place
        for near in (sequence - 1, sequence + 1):
            at = self._places.get((session, near))
            if at is not None and self._joined(at, found):
                return
        self._places[found.place] = len(self.items)
        self.items.append(memory)

    def _joined(self, at: int, found: DecodedMessage) -> bool:
        other = self.items[at]
        pair = sorted((*other.messages, found), key=lambda part: part.place[1])
        if len(pair) != 2 or not _is_exchange(*pair):
            return False
        self.items[at] = other._replace(messages=tuple(pair))
        return True


def _is_exchange(first: DecodedMessage, second: DecodedMessage) -> bool:
    return (
        first.place[0] == second.place[0]
        and first.place[1] + 1 == second.place[1]
        and first.role == Role.USER
        and second.role == Role.ASSISTANT
    )
