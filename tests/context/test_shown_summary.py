"""A summary that a context has shown is told by GetSummary, though its commit is still under way."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memsidecar.domain.errors import ShuttingDown
from memsidecar.domain.session import SessionKey
from memsidecar.layers.summaries.store import SummaryStore, new_summary
from memsidecar.stores.contract import PendingCommand
from memsidecar.stores.volatile.journal import VolatileJournal

KEY = SessionKey("default", "s")
SHOWN = new_summary("They moved to Lisbon.", 6, (1, 6), 1, "extractive")


class SlowJournal(VolatileJournal):
    """Commits when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.may_commit = threading.Event()

    def submit(self, ticket: PendingCommand) -> None:
        threading.Thread(target=self._later, args=(ticket,), daemon=True).start()

    def _later(self, ticket: PendingCommand) -> None:
        self.may_commit.wait()
        super().submit(ticket)


def test_whoever_asks_waits_for_what_a_context_has_shown() -> None:
    journal = SlowJournal()
    summaries = SummaryStore(journal)
    summaries.submit_save(KEY, 0, SHOWN)
    assert summaries.get(KEY) is None
    with ThreadPoolExecutor(1) as pool:
        told = pool.submit(summaries.get_committed, KEY)
        assert not told.done()
        journal.may_commit.set()
        told.result(10)
    assert not summaries._saving


def test_nobody_waits_for_what_was_never_begun() -> None:
    journal = VolatileJournal()
    summaries = SummaryStore(journal)
    journal.close()
    with pytest.raises(ShuttingDown):
        summaries.submit_save(KEY, 0, SHOWN)
    assert not summaries._saving
