"""Adding to a conversation: one message, a batch, or a turn."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.drafting import Drafting
from memsidecar.stores.contract import Append, Appended, Journal, Ticket
from memsidecar.v1.message_pb2 import Message


@dataclass(frozen=True)
class Adding:
    """`begin` hands the messages to the journal and returns at once; `settled` is called when they are durable."""

    journal: Journal
    draft: Drafting

    def begin(self, command: Append, settled: Callable[[Ticket], None] | None = None) -> Ticket:
        ticket = Ticket(command, settled)
        self.journal.submit(ticket)
        return ticket

    def __call__(self, key: SessionKey, user_id: str, messages: Sequence[Message]) -> Appended:
        """Add and wait until it is durable."""
        drafts = [self.draft(message, f"messages[{at}]") for at, message in enumerate(messages)]
        result: Appended = self.begin(Append(key, user_id, drafts)).wait()
        return result
