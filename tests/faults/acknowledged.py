"""The messages that were sent and those acknowledged, to compare with the stored ones after a fault."""

import threading
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from memsidecar.v1 import memory_pb2
from memsidecar.v1.message_pb2 import Message, Role
from tests.support.process import CALL_SECONDS, Client


def text_of(message_id: str) -> str:
    """The one content that a message of this id may have: from a few bytes to more than a page of the file."""
    size = zlib.crc32(message_id.encode()) % 97
    return f"{message_id}:{'x' * (size * size // 2)}"


def message_of(message_id: str) -> Message:
    return Message(id=message_id, role=Role.ROLE_USER, content=text_of(message_id))


@dataclass
class Sent:
    """One call: its messages stand or fall together, behind everything acknowledged before it was made."""

    ids: tuple[str, ...]
    after: int


@dataclass
class Account:
    """What one session must hold (`acked`), may hold (`sent`), and must not hold any more (`gone`).

    `doomed` were acknowledged before a Clear that is under way: all of them are there, or none.
    """

    sent: dict[str, Sent] = field(default_factory=dict)
    acked: dict[str, int] = field(default_factory=dict)
    doomed: dict[str, int] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    last: int = 0
    was_cleared: bool = False

    def check(self, found: Sequence[Message], stats: memory_pb2.CountResponse) -> None:
        places = {message.id: message.sequence for message in found}
        assert len(places) == len(found), "a message is there twice"
        self._check_sequences([message.sequence for message in found])
        assert all(message.content == text_of(message.id) for message in found), "a message is not what was sent"
        assert places.keys() <= self.sent.keys(), "there is a message that nobody sent"
        missing = self.acked.items() - places.items()
        assert not missing, f"acknowledged and missing or moved: {sorted(missing)[:5]}"
        assert not self.gone & places.keys(), "a cleared message came back"
        assert self._is_whole(self.doomed, places), "half of a Clear took effect"
        for sent in self.sent.values():
            self._check_call(sent, places)
        assert stats.stats.message_count + stats.stats.pruned_count == len(found)

    def _check_sequences(self, sequences: list[int]) -> None:
        first = sequences[0] if sequences and self.was_cleared else 1
        assert sequences == list(range(first, first + len(sequences))), "sequences have a gap or are out of order"

    def _check_call(self, sent: Sent, places: dict[str, int]) -> None:
        there = [places[one] for one in sent.ids if one in places]
        if not there:
            return
        assert there == list(range(there[0], there[0] + len(sent.ids))), f"half of a call was stored: {sent.ids}"
        assert there[0] > sent.after, f"{sent.ids} stands before what was acknowledged before it was sent"

    def _is_whole(self, part: dict[str, int], places: dict[str, int]) -> bool:
        return part.items() <= places.items() or not part.keys() & places.keys()

    def complete(self, found: Iterable[Message]) -> None:
        """Take what is there as the truth about what was under way when the fault came."""
        there = {message.id: message.sequence for message in found}
        self.gone |= self.doomed.keys() - there.keys()
        self.doomed.clear()
        self.acked = there
        self.last = max([self.last, *there.values()])


class Acknowledged:
    """All sessions of a test. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self.accounts: dict[str, Account] = {}
        self.ack_count = 0

    def account(self, session_id: str) -> Account:
        return self.accounts.setdefault(session_id, Account())

    def send(self, session_id: str, ids: Sequence[str]) -> list[Message]:
        with self._lock:
            account = self.account(session_id)
            call = Sent(tuple(ids), account.last)
            account.sent.update(dict.fromkeys(ids, call))
        return [message_of(one) for one in ids]

    def acknowledge(self, session_id: str, added: Iterable[memory_pb2.Added | memory_pb2.AddResponse]) -> None:
        with self._lock:
            account = self.account(session_id)
            for one in added:
                assert not one.duplicate, f"{one.message_id} was new, and answered as a duplicate"
                account.acked[one.message_id] = one.sequence
                account.last = max(account.last, one.sequence)
                self.ack_count += 1
            self._lock.notify_all()

    def begin_clear(self, session_id: str) -> None:
        account = self.account(session_id)
        account.was_cleared = True
        account.doomed, account.acked = {**account.doomed, **account.acked}, {}

    def end_clear(self, session_id: str) -> None:
        account = self.account(session_id)
        account.gone |= account.doomed.keys()
        account.doomed.clear()

    def wait_for_acks(self, more: int, seconds: float) -> None:
        with self._lock:
            wanted = self.ack_count + more
            assert self._lock.wait_for(lambda: self.ack_count >= wanted, seconds), "writers do not come forward"

    def check(self, client: Client, session_ids: Iterable[str] | None = None) -> None:
        for session_id in list(self.accounts) if session_ids is None else session_ids:
            account = self.account(session_id)
            found = client.all(session_id, include_pruned=True)
            stats = client.memory.Count(memory_pb2.CountRequest(session_id=session_id), timeout=CALL_SECONDS)
            account.check(found, stats)

    def retry_open_calls(self, client: Client, session_id: str, sample: int) -> None:
        """Send again what was not acknowledged, and some of what was: each is there once afterwards."""
        account = self.account(session_id)
        places = {message.id: message.sequence for message in client.all(session_id, include_pruned=True)}
        settled = account.acked.keys() | account.gone | account.doomed.keys()
        open_ids = [message_id for message_id in account.sent if message_id not in settled]
        for message_id in [*open_ids, *list(account.acked)[-sample:]]:
            request = memory_pb2.AddRequest(session_id=session_id, message=message_of(message_id))
            answer = client.memory.Add(request, timeout=CALL_SECONDS)
            assert answer.duplicate == (message_id in places), f"a retry of {message_id} was answered as {answer}"
            assert answer.sequence == places.get(message_id, answer.sequence)
            if message_id not in places:
                account.sent[message_id] = Sent((message_id,), account.last)
        account.complete(client.all(session_id, include_pruned=True))
