"""An erasure while messages are counted: what it erased is not counted."""

from contextlib import closing

from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.conformance.builders import ANN, KEY, append, draft, erase


def test_an_entry_that_was_erased_after_it_was_read_is_not_counted() -> None:
    with closing(VolatileJournal()) as journal:
        memory = ProceduralMemory(journal, 1_000, lambda: None)
        append(journal, draft("How do I cook rice?"), user_id=ANN.user_id)
        entries = journal.read_changes(KEY.namespace, 0, 10)
        erase(journal, user_id=ANN.user_id)
        memory.process(KEY.namespace, entries)
        assert memory.patterns(ANN, refresh=True).conversations == 0
