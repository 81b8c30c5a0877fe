"""The messages that were sent and those acknowledged, to compare with the stored ones after a fault."""

import threading
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memsidecar.v1 import memory_pb2
from memsidecar.v1.message_pb2 import Message, Role
from tests.support.process import CALL_SECONDS, Client


def text_of(message_id: str) -> str:
    """Return the content of the message with this id: from a few bytes to more than a page of the file."""
    size = zlib.crc32(message_id.encode()) % 97
    return f"{message_id}:{'x' * (size * size // 2)}"


def message_of(message_id: str) -> Message:
    return Message(id=message_id, role=Role.ROLE_USER, content=text_of(message_id))


@dataclass
class Sent:
    """One call: all of its messages are stored or none, after each message acknowledged before the call."""

    ids: tuple[str, ...]
    after: int


@dataclass
class SessionAccount:
    """The messages that a session must have (`acked`), may have (`sent`), and must not have any more (`cleared`).

    `clearing` were acknowledged before a Clear without response: all of them are stored, or none.
    """

    sent: dict[str, Sent] = field(default_factory=dict)
    acked: dict[str, int] = field(default_factory=dict)
    clearing: dict[str, int] = field(default_factory=dict)
    cleared: set[str] = field(default_factory=set)
    last: int = 0
    was_cleared: bool = False

    def check(self, found: Sequence[Message], stats: memory_pb2.CountResponse) -> None:
        stored_sequences = {message.id: message.sequence for message in found}
        assert len(stored_sequences) == len(found), "a message is stored twice"
        self._check_sequences([message.sequence for message in found])
        assert all(message.content == text_of(message.id) for message in found), (
            "a stored message is not as it was sent"
        )
        assert stored_sequences.keys() <= self.sent.keys(), "a stored message was never sent"
        missing = self.acked.items() - stored_sequences.items()
        assert not missing, f"acknowledged and missing or moved: {sorted(missing)[:5]}"
        assert not self.cleared & stored_sequences.keys(), "a cleared message is stored"
        assert self._is_whole(self.clearing, stored_sequences), "half of a Clear took effect"
        for sent in self.sent.values():
            self._check_call(sent, stored_sequences)
        assert stats.stats.message_count + stats.stats.pruned_count == len(found)

    def _check_sequences(self, sequences: list[int]) -> None:
        first = sequences[0] if sequences and self.was_cleared else 1
        assert sequences == list(range(first, first + len(sequences))), "sequences have a gap or are out of order"

    def _check_call(self, sent: Sent, stored_sequences: dict[str, int]) -> None:
        sequences = [stored_sequences[message_id] for message_id in sent.ids if message_id in stored_sequences]
        if not sequences:
            return
        assert sequences == list(range(sequences[0], sequences[0] + len(sent.ids))), (
            f"half of a call was stored: {sent.ids}"
        )
        assert sequences[0] > sent.after, f"{sent.ids} is stored before messages acknowledged before the call"

    def _is_whole(self, part: dict[str, int], stored_sequences: dict[str, int]) -> bool:
        return part.items() <= stored_sequences.items() or not part.keys() & stored_sequences.keys()

    def complete(self, found: Iterable[Message]) -> None:
        """Record the stored messages as acknowledged: they decide the calls without response."""
        stored = {message.id: message.sequence for message in found}
        self.cleared |= self.clearing.keys() - stored.keys()
        self.clearing.clear()
        self.acked = stored
        self.last = max([self.last, *stored.values()])


class Acknowledged:
    """Accounts of all sessions of a test. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self.accounts: dict[str, SessionAccount] = {}
        self.ack_count = 0

    def account(self, session_id: str) -> SessionAccount:
        return self.accounts.setdefault(session_id, SessionAccount())

    def send(self, session_id: str, ids: Sequence[str]) -> list[Message]:
        with self._lock:
            account = self.account(session_id)
            call = Sent(tuple(ids), account.last)
            account.sent.update(dict.fromkeys(ids, call))
        return [message_of(message_id) for message_id in ids]

    def acknowledge(self, session_id: str, added: Iterable[memory_pb2.Added | memory_pb2.AddResponse]) -> None:
        with self._lock:
            account = self.account(session_id)
            for result in added:
                assert not result.duplicate, f"{result.message_id} was new, and answered as a duplicate"
                account.acked[result.message_id] = result.sequence
                account.last = max(account.last, result.sequence)
                self.ack_count += 1
            self._lock.notify_all()

    def begin_clear(self, session_id: str) -> None:
        account = self.account(session_id)
        account.was_cleared = True
        account.clearing, account.acked = {**account.clearing, **account.acked}, {}

    def end_clear(self, session_id: str) -> None:
        account = self.account(session_id)
        account.cleared |= account.clearing.keys()
        account.clearing.clear()

    def wait_for_acks(self, more: int, seconds: float) -> None:
        with self._lock:
            wanted = self.ack_count + more
            assert self._lock.wait_for(lambda: self.ack_count >= wanted, seconds), "the writers make no progress"

    def check(self, client: Client, session_ids: Iterable[str] | None = None) -> None:
        for session_id in list(self.accounts) if session_ids is None else session_ids:
            account = self.account(session_id)
            found = client.all(session_id, include_pruned=True)
            stats = client.memory.Count(memory_pb2.CountRequest(session_id=session_id), timeout=CALL_SECONDS)
            account.check(found, stats)

    def retry_open_calls(self, client: Client, session_id: str, sample: int) -> None:
        """Resend unacknowledged messages and some acknowledged ones; each is stored once afterwards."""
        account = self.account(session_id)
        stored_sequences = {message.id: message.sequence for message in client.all(session_id, include_pruned=True)}
        decided = account.acked.keys() | account.cleared | account.clearing.keys()
        open_ids = [message_id for message_id in account.sent if message_id not in decided]
        for message_id in [*open_ids, *list(account.acked)[-sample:]]:
            request = memory_pb2.AddRequest(session_id=session_id, message=message_of(message_id))
            answer = client.memory.Add(request, timeout=CALL_SECONDS)
            assert answer.duplicate == (message_id in stored_sequences), (
                f"a retry of {message_id} was answered as {answer}"
            )
            assert answer.sequence == stored_sequences.get(message_id, answer.sequence)
            if message_id not in stored_sequences:
                account.sent[message_id] = Sent((message_id,), account.last)
        account.complete(client.all(session_id, include_pruned=True))
