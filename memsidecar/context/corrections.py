"""Corrections among memories: a statement is never shown without the later one that supersedes it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from memsidecar.context.memories import DecodedMessage, MemoryItem, Place
from memsidecar.context.window import WindowMessage
from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionHead
from memsidecar.domain.text import split_sentences
from memsidecar.language.extractive.corrections import (
    Statement,
    closeness,
    corrects,
    corrects_nearby,
    is_correction,
    is_strong_cue,
    may_correct,
    names_no_subject,
)
from memsidecar.layers.semantic.facts import MessageName

_MAX_CHARACTERS = 1_500
"The beginning of a message in which statements are looked for."
_MAX_STATEMENTS = 12
MAX_CORRECTIONS = 48
"Sentences with the cue of a correction that are compared with the memories."
_MAX_SUPERSEDED = 2
"Superseded messages that are shown with their correction, the newest ones."
_MAX_STEPS = 3
_MAX_DISTANCE = 6
"Messages between a correction without a subject and what it corrects."


class Correction(NamedTuple):
    """A sentence of a later message. `found` is None if the conversation shows the message already."""

    statement: Statement
    time_us: int
    found: DecodedMessage | None
    place: Place
    user_id: str
    is_strong: bool


class _Later(NamedTuple):
    """What supersedes a message: a memory to show with it, or None if it is shown, or known, in another place."""

    found: DecodedMessage | None
    is_needed: bool = False
    "The correction is not understood without what it corrects."


def corrections_of_hit(found: DecodedMessage) -> Iterator[Correction]:
    """Yield the sentences of a user's message that may correct an earlier one."""
    if found.role == Role.USER:
        for statement in _cues(found.content):
            yield Correction(
                statement, found.time_us, found, found.place, found.located.user_id, is_strong_cue(statement.text)
            )


def corrections_of_window(messages: Iterable[WindowMessage], head: SessionHead) -> Iterator[Correction]:
    """Yield the same of messages that the conversation shows already."""
    for message in messages:
        if message.role == Role.USER:
            time_us, place = message.message.create_time.ToMicroseconds(), (head.row_id, message.sequence)
            for statement in _cues(message.message.content):
                yield Correction(statement, time_us, None, place, head.user_id, is_strong_cue(statement.text))


def _cues(content: str) -> Iterator[Statement]:
    if not may_correct(content[:_MAX_CHARACTERS]):
        return
    for sentence in split_sentences(content[:_MAX_CHARACTERS])[:_MAX_STATEMENTS]:
        if is_correction(sentence):
            yield Statement.parse(sentence)


@dataclass(frozen=True)
class CorrectionLinker:
    """Joins memories with their corrections.

    `corrections` come from all hits that were loaded and from the visible conversation. `superseded` are the messages
    whose facts hold no longer, with those that replaced them. `find` returns a message, None if it is not to be shown.
    """

    corrections: Sequence[Correction] = ()
    superseded: Mapping[MessageName, Sequence[MessageName]] = field(default_factory=dict)
    find: Callable[[MessageName], DecodedMessage | None] = lambda _: None

    def __call__(self, memories: Sequence[MemoryItem]) -> list[MemoryItem]:
        """Return the memories, best first. A corrected one becomes a part of its correction, at the better place."""
        if not self.corrections and not self.superseded:
            return list(memories)
        homes = {found.place: at for at, memory in enumerate(memories) for found in memory.messages}
        linked: list[MemoryItem | None] = list(memories)
        for at, memory in enumerate(memories):
            for found in memory.messages:
                later = self._newest(found)
                if later is not None:
                    self._link(linked, homes, at, found, later)
                    break
        return [memory for memory in linked if memory is not None]

    def is_superseded(self, found: DecodedMessage) -> bool:
        return self._superseding(found) is not None

    def _link(
        self, linked: list[MemoryItem | None], homes: dict[Place, int], at: int, found: DecodedMessage, later: _Later
    ) -> None:
        """Move the memory at `at` into that of its correction, which takes the better place of the two."""
        memory = linked[at]
        if memory is None:
            return
        if later.found is None:
            linked[at] = memory._replace(outdated=frozenset({*memory.outdated, found.place}))
            return
        marked = [each for each in (*memory.superseded, *memory.messages) if each.place != later.found.place]
        home = homes.get(later.found.place, at)
        other = linked[home] if home != at else None
        base = other or memory._replace(messages=(later.found,), superseded=(), outdated=frozenset())
        newest = sorted((*base.superseded, *marked), key=lambda each: each.time_us)[-_MAX_SUPERSEDED:]
        joined = base._replace(
            pointer=max(memory.pointer, base.pointer, key=lambda pointer: pointer.score),
            superseded=tuple(newest),
            outdated=base.outdated | memory.outdated | {found.place},
            needs_superseded=base.needs_superseded or later.is_needed,
        )
        first, last = min(at, home), max(at, home)
        linked[last] = None
        linked[first] = joined
        for each in (*joined.messages, *joined.superseded):
            homes[each.place] = first

    def _newest(self, found: DecodedMessage) -> _Later | None:
        """Return what supersedes a message in the end: a correction may be corrected itself."""
        later: _Later | None = None
        seen = {found.place}
        for _ in range(_MAX_STEPS):
            step = self._superseding(found)
            if step is None:
                return later
            if step.found is None or step.found.place in seen:
                return later or step
            later = step
            found = step.found
            seen.add(found.place)
        return later

    def _superseding(self, found: DecodedMessage) -> _Later | None:
        by_facts = self._superseding_facts(found)
        if by_facts is not None and by_facts.found is not None:
            return by_facts
        if found.role not in (Role.USER, Role.ASSISTANT):
            return by_facts
        newer = [each for each in self.corrections if _is_newer(each, found)]
        matching = list(_matching(newer, found)) if newer else []
        if not matching:
            return by_facts
        correction, statement = max(
            matching, key=lambda match: (*closeness(match[0].statement, match[1]), match[0].time_us)
        )
        return _Later(correction.found, is_needed=names_no_subject(correction.statement, statement))

    def _superseding_facts(self, found: DecodedMessage) -> _Later | None:
        sources = self.superseded.get((found.located.key.session_id, found.wire.id)) if self.superseded else None
        if sources is None:
            return None
        return _Later(self.find(sources[-1]) if sources else None)


def _matching(newer: Sequence[Correction], found: DecodedMessage) -> Iterator[tuple[Correction, Statement]]:
    """Yield the corrections of a message, with the sentence that they correct."""
    content = found.content[:_MAX_CHARACTERS]
    near = [each for each in newer if each.is_strong and _is_near(each, found)]
    # Parsing takes most of the time, and most messages and sentences share no word with a correction.
    related = _sharing_words(newer, content)
    if not related and not near:
        return
    for sentence in split_sentences(content)[:_MAX_STATEMENTS]:
        sharing = _sharing_words(related, sentence)
        if sharing or near:
            statement = Statement.parse(sentence)
            yield from ((each, statement) for each in sharing if corrects(each.statement, statement, each.is_strong))
            yield from ((each, statement) for each in near if corrects_nearby(each.statement, statement))


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
