"""A read of patterns during the processing of the log counts each conversation once."""

import threading
from contextlib import closing

from memsidecar.domain.session import SessionKey
from memsidecar.layers.procedural.memory import ProceduralMemory
from memsidecar.stores.contract import Append, Owner
from memsidecar.stores.volatile.journal import VolatileJournal
from tests.conformance.builders import draft, execute

SESSIONS = 12
OWNER = Owner("a", "ana")


def test_a_read_between_two_entries_counts_each_conversation_once() -> None:
    counted: list[int] = []
    runner = threading.current_thread()

    def ask() -> None:
        counted.append(memory.patterns(OWNER, refresh=True).conversations)

    def meanwhile() -> None:
        if threading.current_thread() is not runner:
            return  # only the runner gives way
        caller = threading.Thread(target=ask)
        caller.start()
        caller.join(20)
        assert not caller.is_alive()

    with closing(VolatileJournal()) as journal:
        memory = ProceduralMemory(journal, 1_000, meanwhile)
        for at in range(SESSIONS):
            execute(journal, Append(SessionKey("a", f"s{at}"), "ana", [draft(f"How do I cook dish {at}?")]))
        memory.process("a", journal.read_changes("a", 0, 100))
        assert memory.position("a") == journal.last_lsns()["a"]
        assert memory.patterns(OWNER, refresh=True).conversations == SESSIONS
    assert set(counted) == {SESSIONS}
