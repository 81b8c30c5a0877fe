"""GetSummary returns a summary that a context has shown while its commit is pending."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memsidecar.domain.errors import ShuttingDown
from memsidecar.domain.session import SessionKey
from memsidecar.layers.summaries.store import SummaryDraft, SummaryStore, new_summary
from memsidecar.stores.contract import PendingCommand
from memsidecar.stores.volatile.journal import VolatileJournal

KEY = SessionKey("default", "s")
SHOWN = new_summary("They moved to Lisbon.", 6, (1, 6), 1, "extractive")


class SlowJournal(VolatileJournal):
    """A journal that commits on demand."""

    def __init__(self) -> None:
        super().__init__()
        self.may_commit = threading.Event()

    def submit(self, pending: PendingCommand) -> None:
        threading.Thread(target=self._later, args=(pending,), daemon=True).start()

    def _later(self, pending: PendingCommand) -> None:
        self.may_commit.wait()
        super().submit(pending)


def test_get_summary_waits_for_the_commit_of_a_shown_summary() -> None:
    journal = SlowJournal()
    summaries = SummaryStore(journal)
    summaries.submit_save(KEY, 0, SummaryDraft(SHOWN))
    assert summaries.get(KEY) is None
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(summaries.get_committed, KEY)
        assert not future.done()
        journal.may_commit.set()
        future.result(10)
    assert not summaries._saving


def test_get_summary_does_not_wait_without_a_pending_commit() -> None:
    journal = VolatileJournal()
    summaries = SummaryStore(journal)
    journal.close()
    with pytest.raises(ShuttingDown):
        summaries.submit_save(KEY, 0, SummaryDraft(SHOWN))
    assert not summaries._saving
