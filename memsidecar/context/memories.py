"""Memories: messages of earlier conversations that are shown together, and near-duplicates among them."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil

from memsidecar.domain.message import Role
from memsidecar.layers.episodic.query import RankedHit
from memsidecar.stores.contract import LocatedMessage
from memsidecar.v1.message_pb2 import Message

NEAR_DUPLICATE_OVERLAP = 0.85
_SPEAKERS = {Role.SYSTEM: "System", Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool"}


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """One message, or a question with its answer, in order; scored by the better of the two."""

    pointer: RankedHit
    messages: tuple[LocatedMessage, ...]


def speaker(message: Message) -> str:
    return message.name or _SPEAKERS[Role(int(message.role))]


def content_of(found: LocatedMessage) -> str:
    return Message.FromString(found.message.body).content


def message_of(pointer: RankedHit, located: Sequence[LocatedMessage]) -> Message:
    (found,) = [part for part in located if part.message.sequence == pointer.sequence]
    return Message.FromString(found.message.body)


class SeenTexts:
    """Finds near-duplicates without comparing all texts with each other.

    Two sets of n terms that share all but k also share one of their first k + 1 terms, in whatever order. Long terms
    come first here: they are rare, so few sets have one in common.
    """

    def __init__(self) -> None:
        self._sets: dict[str, list[frozenset[str]]] = defaultdict(list)

    def has_similar(self, terms: frozenset[str]) -> bool:
        """Tell whether a text with nearly the same terms was seen; if not, remember this one."""
        required = ceil(NEAR_DUPLICATE_OVERLAP * len(terms))
        first = sorted(terms, key=lambda term: (-len(term), term))[: len(terms) - required + 1]
        if any(_is_near_duplicate(terms, other) for term in first for other in self._sets[term]):
            return True
        for term in first:
            self._sets[term].append(terms)
        return False


def _is_near_duplicate(terms: frozenset[str], other: frozenset[str]) -> bool:
    return len(terms & other) >= NEAR_DUPLICATE_OVERLAP * len(terms | other)


class Memories:
    """Memories in the order of their best hits. A hit joins its question or its answer, if that was found before."""

    def __init__(self) -> None:
        self.items: list[MemoryItem] = []
        self._places: dict[tuple[int, int], int] = {}

    def add(self, memory: MemoryItem) -> None:
        (found,) = memory.messages
        session, sequence = found.session, found.message.sequence
        for near in (sequence - 1, sequence + 1):
            at = self._places.get((session, near))
            if at is not None and self._joined(at, found):
                return
        self._places[session, sequence] = len(self.items)
        self.items.append(memory)

    def _joined(self, at: int, found: LocatedMessage) -> bool:
        other = self.items[at]
        pair = sorted((*other.messages, found), key=lambda part: part.message.sequence)
        if len(pair) != 2 or not _is_exchange(*pair):
            return False
        self.items[at] = replace(other, messages=tuple(pair))
        return True


def _is_exchange(first: LocatedMessage, second: LocatedMessage) -> bool:
    return (
        first.session == second.session
        and first.message.sequence + 1 == second.message.sequence
        and first.message.role == Role.USER
        and second.message.role == Role.ASSISTANT
    )
