"""The messages of one Append: duplicates, sequences, exchanges, and the session after them."""

from collections.abc import Mapping, MutableSet, Sequence
from typing import NamedTuple

from memsidecar.domain.errors import IdConflict, SequenceMismatch
from memsidecar.domain.message import Draft, StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.session import SessionHead, claimed_copy, is_claim
from memsidecar.stores.contract import Added, Append
from memsidecar.stores.message_encoding import message_bytes, with_sequence


class ExistingMessage(NamedTuple):
    """What a duplicate id needs of the stored or staged message: its first result and its fingerprint."""

    sequence: int
    tokens: int
    fingerprint: bytes


class PrunedPart(NamedTuple):
    """A pruned message of an exchange that returns to the window."""

    sequence: int
    role: int
    displayed_tokens: int


class AppendBatch:
    """`drafts` and `appended` are the new messages, in order. The first of them has the lsn `first_lsn`.

    `lsn` is the last one before the command: a claim has the next one, then come the messages. `existing` has the
    stored messages by session and id.
    """

    def __init__(
        self,
        start: SessionHead,
        user_id: str,
        *,
        lsn: int,
        now_us: int,
        existing: Mapping[tuple[int, str], ExistingMessage],
    ) -> None:
        self.head = claimed_copy(start, user_id)
        self.drafts: list[Draft] = []
        self.appended: list[StoredMessage] = []
        self.bytes = 0
        self.added: dict[tuple[int, str], ExistingMessage] = {}
        self._start = start
        self._now_us = now_us
        self._existing = existing
        self.claims = is_claim(start, self.head)
        if self.claims:
            lsn += 1
            self.head.version, self.head.last_active_us = lsn, now_us
        self.first_lsn = lsn + 1

    @property
    def last_lsn(self) -> int:
        return self.first_lsn + len(self.appended) - 1

    @property
    def changes(self) -> bool:
        return bool(self.appended) or self.claims

    def add_all(self, command: Append) -> list[Added]:
        """Add the drafts of the command, or raise why it is refused."""
        results = [self._add(draft) for draft in command.drafts]
        if self.appended and command.expected_sequence not in (None, self._start.last_sequence):
            raise SequenceMismatch(command.expected_sequence or 0, self._start.last_sequence)
        return results

    def _add(self, draft: Draft) -> Added:
        name = (self.head.row_id, draft.id)
        existing = self._existing.get(name) or self.added.get(name)
        if existing is None:
            return self._add_new(draft)
        if existing.fingerprint != draft.fingerprint:
            raise IdConflict(draft.id)
        return Added(draft.id, existing.sequence, existing.tokens, True)

    def _add_new(self, draft: Draft) -> Added:
        head = self.head
        sequence = head.last_sequence + 1
        exchange = 0
        if draft.calls or draft.answers:
            exchange, head.open_calls = link_exchange(head.open_calls, draft.calls, draft.answers, sequence)
        body = with_sequence(draft.body, sequence)
        self.bytes += message_bytes(body, draft.vector)
        self.added[head.row_id, draft.id] = ExistingMessage(sequence, draft.tokens, draft.fingerprint)
        head.version, head.last_sequence, head.last_active_us = self.last_lsn + 1, sequence, self._now_us
        head.count(draft.role, draft.tokens)
        self.drafts.append(draft)
        self.appended.append(  # in the order of StoredMessage
            StoredMessage(sequence, draft.role, draft.tokens, exchange, draft.flags, draft.score, draft.time_us, body)
        )
        return Added(draft.id, sequence, draft.tokens, False)

    def answered_exchanges(self, revived: MutableSet[tuple[int, int]]) -> list[int]:
        """Return the exchanges answered here, except those that the same transaction has unpruned already."""
        if not self.head.pruned_count:
            return []
        answered = {message.exchange for message in self.appended if message.exchange not in (0, message.sequence)}
        return [exchange for exchange in answered if (self.head.row_id, exchange) not in revived]

    def return_to_window(self, parts: Sequence[PrunedPart]) -> None:
        """Count pruned messages in the window again: an exchange is never split."""
        head = self.head
        for part in parts:
            head.count(part.role, part.displayed_tokens)
            head.window_start = min(head.window_start, part.sequence)
        head.pruned_count -= len(parts)
