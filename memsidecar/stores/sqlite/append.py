"""Append."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from memsidecar.domain.errors import IdConflict, SequenceMismatch
from memsidecar.domain.message import Draft, Flag, StoredMessage
from memsidecar.domain.pruning import link_exchange
from memsidecar.domain.quota import Usage
from memsidecar.domain.session import SessionHead
from memsidecar.stores.contract import Added, Append, Appended, CommitEvent
from memsidecar.stores.message_encoding import message_bytes, with_sequence
from memsidecar.stores.sqlite import rows
from memsidecar.stores.sqlite.schema import LogKind
from memsidecar.stores.sqlite.transaction import Entry, Transaction, is_claim, owned
from memsidecar.stores.sqlite.writer_state import ExistingMessage, id_hash

_AMONG = f"session = ? AND exchange IN (SELECT value FROM json_each(?)) AND exchange > 0 AND flags & {int(Flag.PRUNED)}"
_PRUNED_PARTS = f"SELECT sequence, role, shown_tokens FROM messages WHERE {_AMONG}"
_UNPRUNE = f"UPDATE messages SET flags = flags & ~{int(Flag.PRUNED)} WHERE {_AMONG}"
_REVIVED = """UPDATE sessions SET window_start = ?, pruned_count = pruned_count - ?,
  count_1 = count_1 + ?, count_2 = count_2 + ?, count_3 = count_3 + ?, count_4 = count_4 + ?,
  tokens_1 = tokens_1 + ?, tokens_2 = tokens_2 + ?, tokens_3 = tokens_3 + ?, tokens_4 = tokens_4 + ? WHERE number = ?"""
_ADOPT = "UPDATE sessions SET user_id = ?, version = ?, last_active_us = ? WHERE number = ?"


def append(stage: Transaction, command: Append) -> Appended:
    command.check_predecessor()
    before = stage.head(command.key)
    start = stage.new(command.key, command.user_id) if before is None else before
    batch = _Batch(stage, start, owned(start, command.user_id))
    results = [batch.add(draft) for draft in command.drafts]
    if batch.appended and command.expected_sequence not in (None, start.last_sequence):
        raise SequenceMismatch(command.expected_sequence or 0, start.last_sequence)
    if batch.appended or start.user_id != batch.head.user_id:
        batch.stage(is_new=before is None)
    return Appended(batch.head, results)


class _Batch:
    """The messages of one command. Nothing of it is staged before all of it is known to be good."""

    def __init__(self, stage: Transaction, start: SessionHead, head: SessionHead) -> None:
        self.head = head
        self.appended: list[StoredMessage] = []
        self._start = start
        self._stage = stage
        self._lsn = stage.lsn
        self._rows: list[Sequence[Any]] = []
        self._known: dict[tuple[int, str], ExistingMessage] = {}
        self._bytes = 0
        self._claims = is_claim(start, head)
        if self._claims:
            # Its entry comes before the messages.
            self._lsn += 1
            head.version, head.last_active_us = self._lsn, stage.now_us

    def add(self, draft: Draft) -> Added:
        name = (self.head.row_id, draft.id)
        known = self._stage.known.get(name) or self._known.get(name)
        if known is None:
            return self._add_new(draft)
        if known.fingerprint != draft.fingerprint:
            raise IdConflict(draft.id)
        return Added(draft.id, known.sequence, known.tokens, True)

    def _add_new(self, draft: Draft) -> Added:
        head, now_us = self.head, self._stage.now_us
        self._lsn += 1
        sequence = head.last_sequence + 1
        exchange = 0
        if draft.calls or draft.answers:
            exchange, head.open_calls = link_exchange(head.open_calls, draft.calls, draft.answers, sequence)
        body = with_sequence(draft.body, sequence)
        figures = (draft.role, draft.tokens, draft.flags, draft.time_us, draft.score, exchange)
        names = (id_hash(draft.id), draft.fingerprint, draft.id)
        self._rows.append(
            (self._lsn, head.row_id, sequence, *figures, *names, body, draft.vector, zlib.crc32(body), now_us)
        )
        self._bytes += message_bytes(body, draft.vector)
        self._known[head.row_id, draft.id] = ExistingMessage(sequence, draft.tokens, draft.fingerprint)
        self.appended.append(
            StoredMessage(sequence, draft.role, draft.tokens, exchange, draft.flags, draft.score, draft.time_us, body)
        )
        head.version, head.last_sequence, head.last_active_us = self._lsn, sequence, now_us
        head.count(draft.role, draft.tokens)
        return Added(draft.id, sequence, draft.tokens, False)

    def stage(self, is_new: bool) -> None:
        stage, start, head = self._stage, self._start, self.head
        answered = self._newly_answered() if head.pruned_count else []
        pruned = self._read_pruned(answered) if answered else []
        stage.book(head.key.namespace, Usage(int(is_new), len(self.appended), self._bytes))
        if pruned:
            self._revive(answered, pruned)
        if is_new:
            # As it was before its first message: each message then adds itself to the row.
            stage.keep(start)
        elif start.user_id != head.user_id:
            self._adopt()
        if head.open_calls is not start.open_calls:
            stage.do("UPDATE sessions SET open_calls = ? WHERE number = ?", rows.open_calls_column(head), head.row_id)
        stage.lsn = self._lsn
        stage.message_rows += self._rows
        stage.known.update(self._known)
        stage.heads[head.key] = head
        stage.changes.append(CommitEvent(head.key, head, self.appended, reload=bool(pruned)))

    def _adopt(self) -> None:
        """As with a new session, each message then adds itself to the row."""
        stage, start, head = self._stage, self._start, self.head
        version, active_us = start.version, start.last_active_us
        if self._claims:
            version, active_us = stage.write(head.row_id, Entry(LogKind.CLAIM)), stage.now_us
        stage.do(_ADOPT, head.user_id, version, active_us, head.row_id)

    def _revive(self, answered: Sequence[int], parts: Sequence[tuple[int, int, int]]) -> None:
        """Bring back what was pruned of an exchange that is answered now: a call and its answers are never apart."""
        more = self._count_again(parts)
        self._stage.do(_UNPRUNE, self.head.row_id, json.dumps(answered))
        self._stage.do(_REVIVED, self.head.window_start, len(parts), *more, self.head.row_id)
        self._stage.revived.update((self.head.row_id, exchange) for exchange in answered)

    def _newly_answered(self) -> list[int]:
        """The exchanges answered here, but for those that the same transaction has brought back already."""
        answered = {one.exchange for one in self.appended if one.exchange not in (0, one.sequence)}
        return [exchange for exchange in answered if (self.head.row_id, exchange) not in self._stage.revived]

    def _read_pruned(self, exchanges: Sequence[int]) -> list[tuple[int, int, int]]:
        asked = (self.head.row_id, json.dumps(exchanges))
        return self._stage.connection.execute(_PRUNED_PARTS, asked).fetchall()

    def _count_again(self, parts: Sequence[tuple[int, int, int]]) -> list[int]:
        """Take the parts into the window's sums; answers by how much each of them grew."""
        head = self.head
        before = head.counts + head.tokens
        for sequence, role, tokens in parts:
            head.count(role, tokens)
            head.window_start = min(head.window_start, sequence)
        head.pruned_count -= len(parts)
        return [now - then for now, then in zip(head.counts + head.tokens, before, strict=True)]
