"""The messages around a hit: the nearest ones, whatever the size of others."""

from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.stores.contract import LocatedMessage, MessageQuery
from memsidecar.stores.volatile.journal import VolatileJournal
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message
from tests.working.components import COUNTERS

KEY = SessionKey("default", "s")


def test_large_messages_do_not_displace_nearer_ones() -> None:
    journal = VolatileJournal()
    memory = WorkingMemory(journal, COUNTERS, WorkingLimits())
    texts = ["x" * 40_000, "y" * 40_000, "Small or large, which one?", "The second one.", "Thanks."]
    roles = (ROLE_USER, ROLE_ASSISTANT, ROLE_ASSISTANT, ROLE_USER, ROLE_USER)
    memory.add(KEY, "u", [Message(role=role, content=text) for role, text in zip(roles, texts, strict=True)])
    page = journal.messages(KEY, MessageQuery())
    assert page.head is not None
    found = LocatedMessage(0, KEY, page.messages[3], page.head.row_id, "u")
    near = [message.sequence for message in memory.read.surroundings(found)]
    assert {3, 4, 5} <= set(near) and near == sorted(near)
