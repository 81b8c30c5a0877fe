"""Corrections among memories: a statement is never shown without the later one that supersedes it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memsidecar.context.correction_finder import MAX_CHARACTERS, Correction, UnrelatedPairs, statements
from memsidecar.context.memories import DecodedMessage, MemoryItem, Place
from memsidecar.domain.message import Role
from memsidecar.language.extractive.corrections import (
    Statement,
    closeness,
    corrects,
    corrects_nearby,
    names_no_subject,
)
from memsidecar.layers.episodic.query import RankedHit
from memsidecar.layers.semantic.facts import MessageName

MAX_CORRECTIONS = 48
"Sentences with the cue of a correction that are compared with the memories."
_MAX_SUPERSEDED = 2
"Superseded messages that are shown with their correction, the newest ones."
_MAX_JOINED = 6
"Messages that are shown in one item, with what they correct."
_MAX_CORRECTED = 3
"Sentences of one message whose corrections are shown."
_MAX_STEPS = 3
_CORRECTED_ROLES = (Role.USER, Role.ASSISTANT)
_MAX_DISTANCE = 2
"From a correction without a subject back to what it corrects: the user's message before it, with its answer between."


class _Later(NamedTuple):
    """What supersedes a message: a memory to show with it, or None if it is shown, or known, in another place."""

    found: DecodedMessage | None
    is_needed: bool = False
    "The correction is not understood without what it corrects."


@dataclass(frozen=True)
class CorrectionLinker:
    """Joins memories with their corrections.

    `corrections` come from all hits that were loaded and from the visible conversation. `superseded` are the messages
    whose facts hold no longer, with those that replaced them. `find` returns a message, None if it is not to be shown.
    """

    corrections: Sequence[Correction] = ()
    superseded: Mapping[MessageName, Sequence[MessageName]] = field(default_factory=dict)
    find: Callable[[MessageName], DecodedMessage | None] = lambda _: None
    unrelated: UnrelatedPairs = field(default_factory=UnrelatedPairs)

    def __call__(self, memories: Sequence[MemoryItem]) -> list[MemoryItem]:
        """Return the memories, best first. A corrected one becomes a part of its corrections, at the best place."""
        if not self.corrections and not self.superseded:
            return list(memories)
        every = [(memory, found) for memory in memories for found in memory.messages]
        corrected = [(memory, found, each) for memory, found in every if (each := self._superseding(found))]
        if not corrected:
            return list(map(_in_order, memories))
        groups = _Groups(memories)
        for memory, found, superseding in corrected:
            self._join(groups, memory.messages, found, superseding, _MAX_STEPS - 1)
        return groups.items()

    def _join(
        self,
        groups: "_Groups",
        together: Sequence[DecodedMessage],
        found: DecodedMessage,
        superseding: Sequence[_Later],
        steps: int,
    ) -> None:
        """Join a message with its corrections, and these with theirs: a correction may be corrected itself."""
        for later in superseding:
            is_new = later.found is not None and later.found.place not in groups
            groups.join(together, found, later)
            if later.found is not None and is_new and later.found.place in groups and steps:
                self._join(groups, (later.found,), later.found, self._superseding(later.found), steps - 1)

    def is_superseded(self, found: DecodedMessage) -> bool:
        return bool(self._superseding(found))

    def _superseding(self, found: DecodedMessage) -> list[_Later]:
        """Return what supersedes the message, or its sentences one by one; the most certain one first."""
        by_facts = self._superseding_facts(found)
        matching = self._matching(found) if found.role in _CORRECTED_ROLES else []
        best: dict[str, tuple[Correction, Statement]] = {}
        for match in sorted(matching, key=_certainty, reverse=True):
            best.setdefault(match[1].text, match)
        by_text = [
            _Later(correction.found, is_needed=names_no_subject(correction.statement, statement))
            for correction, statement in best.values()
        ]
        shown = {later.found.place: later for later in (*by_facts, *by_text) if later.found is not None}
        return list(shown.values())[:_MAX_CORRECTED] or by_text[:1] or by_facts[:1]

    def _matching(self, found: DecodedMessage) -> list[tuple[Correction, Statement]]:
        """Return the corrections of a message, with the sentence that they correct."""
        lsn = found.located.lsn  # 0 for a neighbour of a hit
        possible = self.unrelated.without(self.corrections, lsn) if lsn else self.corrections
        newer = [each for each in possible if _is_newer(each, found)]
        matching = _compared(newer, found) if newer else []
        if lsn:
            related = {id(correction) for correction, _ in matching}
            self.unrelated.add((each for each in newer if id(each) not in related), lsn)
        return matching

    def _superseding_facts(self, found: DecodedMessage) -> list[_Later]:
        sources = self.superseded.get((found.located.key.session_id, found.wire.id)) if self.superseded else None
        if sources is None:
            return []
        newest = list(dict.fromkeys(reversed(sources)))[:_MAX_CORRECTED]
        return [_Later(self.find(name)) for name in newest] or [_Later(None)]


@dataclass
class _Group:
    """Memories that are shown together: corrections, and what they supersede."""

    position: int
    pointer: RankedHit
    messages: dict[Place, DecodedMessage]
    superseded: dict[Place, DecodedMessage] = field(default_factory=dict)
    outdated: set[Place] = field(default_factory=set)
    needs_superseded: bool = False

    def absorb(self, other: "_Group") -> None:
        self.position = min(self.position, other.position)
        self.pointer = max(self.pointer, other.pointer, key=lambda pointer: pointer.score)
        self.messages |= other.messages
        self.superseded |= other.superseded
        self.outdated |= other.outdated
        self.needs_superseded |= other.needs_superseded

    def item(self) -> MemoryItem:
        old = sorted(self.superseded.values(), key=lambda each: (each.time_us, each.place))
        return MemoryItem(
            self.pointer,
            tuple(sorted(self.messages.values(), key=lambda each: (each.time_us, each.place))),
            tuple(old[-_MAX_SUPERSEDED:]),
            frozenset(self.outdated),
            self.needs_superseded,
        )


class _Groups:
    """Groups of memories. At first each memory is one."""

    def __init__(self, memories: Sequence[MemoryItem]) -> None:
        self._groups = {
            found.place: group
            for group, memory in ((_group(at, memory), memory) for at, memory in enumerate(memories))
            for found in memory.messages
        }

    def __contains__(self, place: Place) -> bool:
        return place in self._groups

    def join(self, together: Sequence[DecodedMessage], found: DecodedMessage, later: _Later) -> None:
        """Show messages only together with what supersedes one of them, `found`.

        If that would be too long, they are not shown.
        """
        group = self._groups[found.place]
        group.outdated.add(found.place)
        if later.found is None:
            return
        other = self._groups.get(later.found.place) or _Group(
            group.position, group.pointer, {later.found.place: later.found}
        )
        if other is not group:
            if len(group.messages) + len(other.messages) > _MAX_JOINED:
                self._leave_out(together)
                return
            self._merge(group, other)
        if later.found.place not in group.messages and later.found.place not in group.superseded:
            self._leave_out(together)  # as the correction was
            return
        group.needs_superseded |= later.is_needed
        for each in together:
            if group.messages.pop(each.place, None) is not None:
                group.superseded[each.place] = each

    def _merge(self, group: _Group, other: _Group) -> None:
        group.absorb(other)
        for place in (*other.messages, *other.superseded):
            self._groups[place] = group

    def _leave_out(self, messages: Sequence[DecodedMessage]) -> None:
        for each in messages:
            group = self._groups[each.place]
            group.messages.pop(each.place, None)
            group.superseded.pop(each.place, None)

    def items(self) -> list[MemoryItem]:
        groups = {id(group): group for group in self._groups.values() if group.messages}
        return [group.item() for group in sorted(groups.values(), key=lambda group: group.position)]


def _in_order(memory: MemoryItem) -> MemoryItem:
    """Return a memory with its messages in order of time."""
    return memory if len(memory.messages) == 1 else _group(0, memory).item()


def _group(position: int, memory: MemoryItem) -> _Group:
    messages = {found.place: found for found in memory.messages}
    return _Group(position, memory.pointer, messages, outdated=set(memory.outdated))


def _certainty(match: tuple[Correction, Statement]) -> tuple[bool, int, int]:
    correction, statement = match
    return (*closeness(correction.statement, statement), correction.time_us)


def _compared(newer: Sequence[Correction], found: DecodedMessage) -> list[tuple[Correction, Statement]]:
    """Compare each sentence of a message with the corrections that are newer."""
    near = [each for each in newer if each.is_strong and _is_near(each, found)]
    # Parsing takes most of the time, and most messages and sentences share no word with a correction.
    related = _sharing_words(newer, found.content[:MAX_CHARACTERS])
    matching: list[tuple[Correction, Statement]] = []
    for sentence in statements(found.content) if related or near else ():
        sharing = _sharing_words(related, sentence)
        if sharing or near:
            statement = Statement.parse(sentence)
            matching += [(each, statement) for each in sharing if corrects(each.statement, statement, each.is_strong)]
            matching += [(each, statement) for each in near if corrects_nearby(each.statement, statement)]
    return matching


def _sharing_words(corrections: Sequence[Correction], text: str) -> list[Correction]:
    contains = text.lower().__contains__
    return [each for each in corrections if any(map(contains, each.statement.kinds))]


def _is_newer(correction: Correction, found: DecodedMessage) -> bool:
    """Tell whether the user said the correction after the message."""
    session, sequence = found.place
    if correction.place[0] == session:
        return correction.place[1] > sequence
    is_same_user = bool(correction.user_id) and correction.user_id == found.located.user_id
    return is_same_user and correction.time_us > found.time_us


def _is_near(correction: Correction, found: DecodedMessage) -> bool:
    session, sequence = found.place
    return correction.place[0] == session and 0 < correction.place[1] - sequence <= _MAX_DISTANCE
