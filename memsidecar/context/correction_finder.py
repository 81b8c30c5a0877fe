"""Corrections among messages: sentences of a user that may supersede an earlier statement.

What was found is remembered by numbers, without text: most messages correct nothing, and most corrections have nothing
to do with most messages. Comparing all of them took half of the time of a context.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from typing import NamedTuple

from memsidecar.context.memories import DecodedMessage, Place
from memsidecar.context.window import WindowMessage
from memsidecar.domain.message import Role
from memsidecar.domain.session import SessionHead
from memsidecar.domain.text import split_sentences
from memsidecar.language.extractive.corrections import Statement, can_correct
from memsidecar.language.extractive.lexicon import is_correction, is_strong_cue, may_correct

MAX_CHARACTERS = 1_500
"The beginning of a message in which statements are looked for."
_MAX_STATEMENTS = 12
_MAX_REMEMBERED = 1 << 15
_MAX_PAIRS = 1 << 16
_LSN_BITS = 48
_numbers = count(1)


class Cue(NamedTuple):
    """A sentence of a message that can correct others. `number` is unique in the process."""

    number: int
    sentence: int
    is_strong: bool


@dataclass(frozen=True)
class Correction:
    """A sentence of a later message. `found` is None if the conversation shows the message already."""

    cue: Cue
    content: str
    time_us: int
    found: DecodedMessage | None
    place: Place
    user_id: str

    @property
    def is_strong(self) -> bool:
        return self.cue.is_strong

    @cached_property
    def statement(self) -> Statement:
        return Statement.parse(statements(self.content)[self.cue.sentence])


def statements(content: str) -> list[str]:
    """Return the sentences of a message that are compared with others."""
    return split_sentences(content[:MAX_CHARACTERS])[:_MAX_STATEMENTS]


class UnrelatedPairs:
    """Remembers which sentence corrects nothing of which message, by the numbers of the cue and the log entry."""

    def __init__(self) -> None:
        self._pairs: set[int] = set()

    def add(self, corrections: Iterable[Correction], lsn: int) -> None:
        if len(self._pairs) >= _MAX_PAIRS:
            self._pairs.clear()
        self._pairs.update([each.cue.number << _LSN_BITS | lsn for each in corrections])

    def without(self, corrections: Iterable[Correction], lsn: int) -> list[Correction]:
        """Return the corrections that are not known to be unrelated to the message."""
        pairs = self._pairs
        return [each for each in corrections if each.cue.number << _LSN_BITS | lsn not in pairs]


class CorrectionFinder:
    """Finds the corrections in messages. A message never changes, so it is searched once."""

    def __init__(self) -> None:
        self.unrelated = UnrelatedPairs()
        self._cues: dict[Place, Sequence[Cue]] = {}

    def __call__(self, found: DecodedMessage) -> list[Correction]:
        """Return the sentences of a user's message that may correct an earlier one."""
        if found.role != Role.USER:
            return []
        cues, user_id = self._remembered(found.place, found.content), found.located.user_id
        return [Correction(cue, found.content, found.time_us, found, found.place, user_id) for cue in cues]

    def in_window(self, messages: Iterable[WindowMessage], head: SessionHead) -> Iterator[Correction]:
        """Yield the corrections of messages that the conversation shows already."""
        for message in messages:
            if message.role == Role.USER:
                content, place = message.message.content, (head.row_id, message.sequence)
                time_us = message.message.create_time.ToMicroseconds()
                cues = _search(content) if message.shortened else self._remembered(place, content)
                for cue in cues:
                    yield Correction(cue, content, time_us, None, place, head.user_id)

    def _remembered(self, place: Place, content: str) -> Sequence[Cue]:
        cues = self._cues.get(place)
        if cues is None:
            if len(self._cues) >= _MAX_REMEMBERED:
                self._cues.clear()
            cues = self._cues[place] = _search(content)
        return cues


def _search(content: str) -> Sequence[Cue]:
    if not may_correct(content[:MAX_CHARACTERS]):
        return ()
    sentences = [(at, sentence) for at, sentence in enumerate(statements(content)) if is_correction(sentence)]
    cues = [(at, sentence, is_strong_cue(sentence)) for at, sentence in sentences]
    return tuple(
        Cue(next(_numbers), at, is_strong)
        for at, sentence, is_strong in cues
        if can_correct(Statement.parse(sentence), is_strong)
    )
