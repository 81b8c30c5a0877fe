"""The session cache: within its limit, and never older than acknowledged commits."""

import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memsidecar.domain.session import SessionHead, SessionKey
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import Append, Command, Erase, UpdateWindow
from memsidecar.v1.message_pb2 import Message
from tests.working.components import HookedJournal, journal_in, memory_over, messages_of

MIB = 1 << 20
KEY = SessionKey("default", "s")


@pytest.fixture
def journal(data_dir: Path) -> Iterator[HookedJournal]:
    with journal_in(data_dir) as opened:
        yield opened


# -- the bound


def real_bytes(memory: WorkingMemory, keys: list[SessionKey]) -> int:
    """Return the bytes of all cached messages and their frames."""
    views = [view for view in map(memory.session_cache.cached, keys) if view is not None]
    held = {id(one): one for view in views for one in (*view.frames, *(entry.body for entry in view.entries))}
    entries = sum(sys.getsizeof(one) for view in views for one in view.entries)
    return entries + sum(sys.getsizeof(one) for one in held.values())


def test_a_message_is_cached_once(journal: HookedJournal) -> None:
    memory = memory_over(journal)
    for content in ("one", "two"):
        memory.add(KEY, "", messages_of(content))
    view = memory.session_cache.cached(KEY)
    assert view is not None and all(
        body is entry.body for body, entry in zip(view.frames[1::2], view.entries, strict=True)
    )


@pytest.mark.parametrize("content_bytes", [1, 300, 20_000, 200_000])
def test_the_cache_stays_within_its_limit(journal: HookedJournal, content_bytes: int) -> None:
    memory = memory_over(journal, WorkingLimits(memory_bytes=MIB, tail_messages=64))
    keys = [SessionKey("default", f"s{at}") for at in range(60)]
    chosen = random.Random(7)
    most = 0
    for _ in range(120):
        memory.add(
            chosen.choice(keys), "", messages_of(*["x" * content_bytes] * max(1, min(20, 40_000 // content_bytes)))
        )
        memory.session_cache.get(chosen.choice(keys))
        most = max(most, real_bytes(memory, keys))
    assert MIB // 20 < most <= MIB


# -- loading


def messages_seen(memory: WorkingMemory) -> list[str]:
    view = memory.session_cache.get(KEY)
    return [] if view is None else [Message.FromString(message.body).content for message in view.messages()]


def cold(journal: HookedJournal) -> tuple[WorkingMemory, SessionHead]:
    """Return a memory with an uncached session, and the head of the session."""
    memory_over(journal).add(KEY, "", messages_of("one", "two"))
    memory = memory_over(journal)
    assert memory.session_cache.cached(KEY) is None
    head = journal.head(KEY)
    assert head is not None
    return memory, head


def append(memory: WorkingMemory, _: SessionHead) -> Command:
    return Append(KEY, "", [memory.add.validator(messages_of("three")[0], "message")])


def trim(_: WorkingMemory, head: SessionHead) -> Command:
    return UpdateWindow(KEY, head.version, removed=[1])


def erase(_: WorkingMemory, __: SessionHead) -> Command:
    return Erase(KEY, "")


def erase_whole(_: WorkingMemory, __: SessionHead) -> Command:
    return Erase(KEY, "", delete_session=True)


@pytest.mark.parametrize(
    ("command", "left"),
    [(append, ["one", "two", "three"]), (trim, ["two"]), (erase, []), (erase_whole, [])],
)
def test_a_load_that_a_commit_overtakes_is_not_cached(
    journal: HookedJournal, command: Callable[[WorkingMemory, SessionHead], Command], left: list[str]
) -> None:
    memory, head = cold(journal)
    journal.after_the_next_read(lambda: journal.carry_out(command(memory, head)))
    memory.session_cache.get(KEY)
    assert messages_seen(memory) == left
    after = memory.read.head(KEY, "")
    assert (after.message_count if after else 0) == len(left)


def test_a_load_without_a_concurrent_commit_is_cached(journal: HookedJournal) -> None:
    memory, _ = cold(journal)
    assert messages_seen(memory) == ["one", "two"]
    assert memory.session_cache.cached(KEY) is not None


def test_two_concurrent_loads_that_a_commit_overtakes_are_not_cached(journal: HookedJournal) -> None:
    memory, head = cold(journal)

    def load_and_append() -> None:
        memory.session_cache.get(KEY)
        journal.carry_out(append(memory, head))

    journal.after_the_next_read(load_and_append)
    memory.session_cache.get(KEY)
    assert messages_seen(memory) == ["one", "two", "three"]
