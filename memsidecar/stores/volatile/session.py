"""Sessions and messages of the RAM journal."""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from memsidecar.domain.errors import IdConflict, SessionOwnerMismatch
from memsidecar.domain.message import Draft, Flag, Role, StoredMessage
from memsidecar.domain.session import Policy, SessionHead, SessionKey
from memsidecar.stores.contract import Added, LocatedMessage, MessageQuery, Revision, Scope, SessionQuery
from memsidecar.stores.message_encoding import message_bytes

# Flags that only the journal sets: a revision cannot change them.
_JOURNAL_FLAGS = Flag.PRUNED | Flag.SHORTENED | Flag.LEARNED


@dataclass(slots=True)
class Message:
    """A message: the `original` with its annotations, and the version that the window displays."""

    draft: Draft
    lsn: int
    original: StoredMessage
    displayed: StoredMessage
    commit_us: int

    @property
    def bytes(self) -> int:
        return message_bytes(self.original.body, self.draft.vector)

    @property
    def in_window(self) -> bool:
        return not self.displayed.pruned

    def revise(self, original: Revision, displayed: Revision) -> None:
        self.original = _revised(self.original, original, original.body)
        self.displayed = _revised(self.displayed, original, displayed.body)

    def shorten(self, shortened: StoredMessage) -> None:
        self.displayed = self.displayed._replace(
            tokens=shortened.tokens, body=shortened.body, flags=self.displayed.flags | Flag.SHORTENED
        )

    def prune(self) -> None:
        self.original = self.original._replace(flags=self.original.flags | Flag.PRUNED)
        self.displayed = self.displayed._replace(flags=self.displayed.flags | Flag.PRUNED)

    def revive(self) -> None:
        self.original = self.original._replace(flags=self.original.flags & ~Flag.PRUNED)
        self.displayed = self.displayed._replace(flags=self.displayed.flags & ~Flag.PRUNED)


def _revised(before: StoredMessage, revision: Revision, body: bytes) -> StoredMessage:
    flags = revision.flags & ~_JOURNAL_FLAGS | before.flags & _JOURNAL_FLAGS
    return before._replace(flags=flags, score=revision.score, body=body)


@dataclass(slots=True)
class Session:
    key: SessionKey
    row_id: int
    create_time_us: int
    last_active_us: int
    user_id: str = ""
    version: int = 0
    last_sequence: int = 0
    messages: list[Message] = field(default_factory=list)
    open_calls: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def is_in(self, scope: Scope) -> bool:
        return (
            self.key.namespace == scope.namespace
            and scope.user_id in ("", self.user_id)
            and scope.session_id in ("", self.key.session_id)
        )

    def find(self, message_id: str) -> Message | None:
        return next((message for message in self.messages if message.draft.id == message_id), None)

    def at(self, sequence: int) -> Message | None:
        """Return the message of a sequence; None if it was erased."""
        place = bisect_left(self.messages, sequence, key=lambda message: message.original.sequence)
        found = self.messages[place : place + 1]
        return found[0] if found and found[0].original.sequence == sequence else None

    def located(self, message: Message) -> LocatedMessage:
        return LocatedMessage(message.lsn, self.key, message.original, self.row_id, self.user_id)

    def new_drafts(self, drafts: Iterable[Draft]) -> list[Draft]:
        """Return the drafts with new ids, each once; IdConflict if an id has two bodies."""
        known = {message.draft.id: message.draft for message in self.messages}
        new = []
        for draft in drafts:
            if draft.id not in known:
                new.append(draft)
            if known.setdefault(draft.id, draft).fingerprint != draft.fingerprint:
                raise IdConflict(draft.id)
        return new

    def added(self, drafts: Iterable[Draft], new_drafts: Iterable[Draft]) -> Iterator[Added]:
        """Yield the result for each draft; of several with the same new id the first is the added one."""
        new = {draft.id for draft in new_drafts}
        first = {message.draft.id: message.original for message in self.messages}
        for draft in drafts:
            yield Added(draft.id, first[draft.id].sequence, first[draft.id].tokens, draft.id not in new)
            new.discard(draft.id)

    def check_user(self, user_id: str) -> None:
        if user_id and self.user_id and user_id != self.user_id:
            raise SessionOwnerMismatch()

    def window(self) -> list[StoredMessage]:
        return [message.displayed for message in self.messages if message.in_window]

    def revive(self, exchanges: set[int]) -> bool:
        """Return the pruned messages of these exchanges to the window; return whether there were any."""
        pruned = [each for each in self.messages if each.displayed.exchange in exchanges and not each.in_window]
        for message in pruned:
            message.revive()
        return bool(pruned)

    def head(self, policy: Policy | None) -> SessionHead:
        window = self.window()
        head = SessionHead(self.key, self.row_id, self.user_id, self.version, self.last_sequence, policy=policy)
        head.create_time_us, head.last_active_us = self.create_time_us, self.last_active_us
        head.pruned_count = len(self.messages) - len(window)
        head.open_calls = self.open_calls
        head.window_start = next(
            (shown.sequence for shown in window if shown.role != Role.SYSTEM), self.last_sequence + 1
        )
        for message in window:
            head.count(message.role, message.tokens)
        return head

    def select(self, query: MessageQuery) -> tuple[list[StoredMessage], bool]:
        """Return the messages of a page, and whether `max_bytes` truncated it."""
        if self.version == query.unless_version:
            return [], False
        selected = [message.displayed for message in self.messages if _is_selected(message, query)]
        if query.newest_first:
            selected.reverse()
        if not query.bodies:
            selected = [message._replace(body=b"") for message in selected]
        return _truncate(selected[: query.limit], query.max_bytes)


def _is_selected(message: Message, query: MessageQuery) -> bool:
    before = query.before
    return (
        (message.in_window or query.include_pruned)
        and query.role in (0, message.displayed.role)
        and query.after < message.displayed.sequence
        and (before is None or message.displayed.sequence < before)
    )


def _truncate(messages: list[StoredMessage], max_bytes: int) -> tuple[list[StoredMessage], bool]:
    size = 0
    for place, message in enumerate(messages):
        size += len(message.body)
        if place and size > max_bytes:
            return messages[:place], True
    return messages, False


def is_listed(head: SessionHead, query: SessionQuery) -> bool:
    return (
        head.key.namespace == query.namespace
        and query.user_id in ("", head.user_id)
        and (query.after is None or activity(head) < query.after)
    )


def activity(head: SessionHead) -> tuple[int, str]:
    """Return where the session is in a listing."""
    return head.last_active_us, head.key.session_id
