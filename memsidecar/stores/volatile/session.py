"""Sessions and log entries."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import NamedTuple

from memsidecar.domain.errors import IdConflict, SessionOwnerMismatch
from memsidecar.domain.message import Draft, Flag, Role, StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import Added, LocatedMessage, MessageQuery, Revision
from memsidecar.stores.message_encoding import message_bytes

# Where a message stands is the journal's to say, whatever a revision makes of the flags it was given.
_STANDING = Flag.PRUNED | Flag.SHORTENED


@dataclass(slots=True)
class Message:
    """`written` is as it came, with what was learned since; `shown` is what the window has in its place."""

    draft: Draft
    lsn: int
    original: StoredMessage
    displayed: StoredMessage

    @property
    def bytes(self) -> int:
        return message_bytes(self.original.body, self.draft.vector)

    @property
    def in_window(self) -> bool:
        return not self.displayed.pruned

    def revise(self, written: Revision, shown: Revision) -> None:
        self.original = _revised(self.original, written, written.body)
        self.displayed = _revised(self.displayed, written, shown.body)

    def shorten(self, one: StoredMessage) -> None:
        self.displayed = self.displayed._replace(
            tokens=one.tokens, body=one.body, flags=self.displayed.flags | Flag.SHORTENED
        )

    def prune(self) -> None:
        self.original = self.original._replace(flags=self.original.flags | Flag.PRUNED)
        self.displayed = self.displayed._replace(flags=self.displayed.flags | Flag.PRUNED)

    def revive(self) -> None:
        self.original = self.original._replace(flags=self.original.flags & ~Flag.PRUNED)
        self.displayed = self.displayed._replace(flags=self.displayed.flags & ~Flag.PRUNED)


def _revised(before: StoredMessage, revision: Revision, body: bytes) -> StoredMessage:
    flags = revision.flags & ~_STANDING | before.flags & _STANDING
    return before._replace(flags=flags, score=revision.score, body=body)


@dataclass(slots=True)
class Session:
    key: SessionKey
    number: int
    create_time_us: int
    last_active_us: int
    user_id: str = ""
    version: int = 0
    last_sequence: int = 0
    messages: list[Message] = field(default_factory=list)

    def find(self, message_id: str) -> Message | None:
        return next((message for message in self.messages if message.draft.id == message_id), None)

    def at(self, sequence: int) -> Message:
        return self.messages[bisect_left(self.messages, sequence, key=lambda message: message.original.sequence)]

    def found(self, message: Message) -> LocatedMessage:
        return LocatedMessage(message.lsn, self.key, message.original, self.number, self.user_id)

    def fresh(self, drafts: Iterable[Draft]) -> list[Draft]:
        """Those of the drafts that are new, each once; raises when an id stands for two bodies."""
        known = {message.draft.id: message.draft for message in self.messages}
        fresh = []
        for draft in drafts:
            if draft.id not in known:
                fresh.append(draft)
            if known.setdefault(draft.id, draft).fingerprint != draft.fingerprint:
                raise IdConflict(draft.id)
        return fresh

    def answers(self, drafts: Iterable[Draft], fresh: Iterable[Draft]) -> Iterator[Added]:
        """What became of each draft; the first one with a new id is the one that was added."""
        new = {draft.id for draft in fresh}
        first = {message.draft.id: message.original for message in self.messages}
        for draft in drafts:
            yield Added(draft.id, first[draft.id].sequence, first[draft.id].tokens, draft.id not in new)
            new.discard(draft.id)

    def refuse_stranger(self, user_id: str) -> None:
        if user_id and self.user_id and user_id != self.user_id:
            raise SessionOwnerMismatch()

    def window(self) -> list[StoredMessage]:
        return [message.displayed for message in self.messages if message.in_window]

    def revive(self, exchanges: set[int]) -> bool:
        """Bring back what was pruned of these exchanges; whether there was anything."""
        pruned = [one for one in self.messages if one.displayed.exchange in exchanges and not one.in_window]
        for message in pruned:
            message.revive()
        return bool(pruned)

    def open_calls(self) -> dict[str, tuple[int, ...]]:
        calls: dict[str, tuple[int, ...]] = {}
        for message in self.messages:
            draft = message.draft
            calls = dict(link_exchange(calls, draft.calls, draft.answers, message.original.sequence)[1])
        return calls

    def head(self, policy: Policy | None) -> SessionHead:
        window = self.window()
        head = SessionHead(self.key, self.number, self.user_id, self.version, self.last_sequence, policy=policy)
        head.create_time_us, head.last_active_us = self.create_time_us, self.last_active_us
        head.pruned_count = len(self.messages) - len(window)
        head.open_calls = self.open_calls()
        head.window_start = next((one.sequence for one in window if one.role != Role.SYSTEM), self.last_sequence + 1)
        for one in window:
            head.count(one.role, one.tokens)
        return head

    def select(self, selection: MessageQuery) -> tuple[list[StoredMessage], bool]:
        """The messages of a page, and whether its bytes ended it."""
        chosen = [message.displayed for message in self.messages if _is_chosen(message, selection)]
        if selection.newest_first:
            chosen.reverse()
        if not selection.bodies:
            chosen = [message._replace(body=b"") for message in chosen]
        return _cut(chosen[: selection.limit], selection.max_bytes)


def _is_chosen(message: Message, selection: MessageQuery) -> bool:
    before = selection.before
    return (
        (message.in_window or selection.include_pruned)
        and selection.role in (0, message.displayed.role)
        and selection.after < message.displayed.sequence
        and (before is None or message.displayed.sequence < before)
    )


def _cut(messages: list[StoredMessage], max_bytes: int) -> tuple[list[StoredMessage], bool]:
    size = 0
    for place, message in enumerate(messages):
        size += len(message.body)
        if place and size > max_bytes:
            return messages[:place], True
    return messages, False


class EntryKind(Enum):
    MESSAGE = auto()
    ANNOTATION = auto()
    CLAIM = auto()
    ERASURE = auto()
    DOCUMENT = auto()
    WINDOW = auto()


class Entry(NamedTuple):
    """`number` is a session's, or the negative one of a document."""

    lsn: int
    about: EntryKind
    namespace: str
    number: int
    sequence: int = 0
