"""A summary that a context has shown is stored, and GetSummary waits for its commit; that of a dry run is not."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from memsidecar.domain.errors import ShuttingDown
from memsidecar.domain.session import SessionKey
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.layers.summaries.store import SummaryDraft, SummaryStore, new_summary
from memsidecar.layers.summaries.update import SummaryPolicy, SummarySchedule, SummaryUpdater
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import PendingCommand
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.message_pb2 import Message

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


@pytest.mark.parametrize("dry_run", [True, False])
def test_a_summary_that_is_due_is_shown_and_stored_unless_the_context_is_a_dry_run(dry_run: bool) -> None:
    journal, counters = VolatileJournal(), CounterRegistry("chars4")
    messages = [Message(role="ROLE_USER", content=f"We chose plan {at}.") for at in range(12)]
    WorkingMemory(journal, counters, WorkingLimits()).add(KEY, "", messages)
    head = journal.head(KEY)
    store, summarizer = SummaryStore(journal), ExtractiveSummarizer(counters.default.count)
    updater = SummaryUpdater(journal, store, summarizer, summarizer, counters.default.count, 400)
    assert head is not None
    shown = SummarySchedule(updater, SummaryPolicy()).update_if_fast(head, dry_run=dry_run)
    assert shown is not None and shown.last_sequence == 6
    assert store.get_committed(KEY) == (None if dry_run else shown)
