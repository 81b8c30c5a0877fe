"""A substring search over many pages scans each message once."""

from pathlib import Path

import pytest

from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.memory import WorkingMemory
from memsidecar.layers.working.substring_search import MessageFilter
from memsidecar.stores.contract import Scope
from tests.support.work import costs_at_most
from tests.working.components import HookedJournal, journal_in, memory_over, messages_of

SESSIONS = 30
FEW, MANY = 3_000, 9_000
PAGE = 20
"""Small, so that what a page costs besides its messages outweighs them, if it costs anything."""
USER = Scope("default", user_id="u")


def fill(memory: WorkingMemory, first: int, last: int) -> None:
    """Add the messages to the user's sessions in turn, a hundred at a time."""
    for start in range(first, last, 100):
        key = SessionKey("default", f"s{start // 100 % SESSIONS}")
        memory.add(key, "u", messages_of(*(f"message {at}" for at in range(start, start + 100))))


def walk(journal: HookedJournal) -> int:
    """Search the user's messages page by page; return their number."""
    met, before = 0, None
    while found := journal.scan(USER, before, PAGE):
        met, before = met + len(found), found[-1].lsn
    return met


@pytest.mark.long
def test_the_time_of_all_pages_is_linear_in_the_messages(tmp_path: Path) -> None:
    with journal_in(tmp_path / "few") as few, journal_in(tmp_path / "many") as many:
        fill(memory_over(few), 0, FEW)
        memory = memory_over(many)
        fill(memory, 0, MANY)
        assert (walk(few), walk(many)) == (FEW, MANY)
        is_one_walk = costs_at_most(6, lambda: walk(few), lambda: walk(many), slack_seconds=0)
        assert is_one_walk, "3 by one walk, 9 where each page walks through everything"
        assert memory.search(USER, MessageFilter("absent text"), 10, None, lambda: True) == ([], None)
        (newest,), _ = memory.search(USER, MessageFilter(f"message {MANY - 1}"), 10, None, lambda: True)
    assert newest.message.sequence == MANY // SESSIONS
