"""Changing a window by a plan that was made outside of the journal, and what of a message the plan shows shorter."""

from collections.abc import Callable
from dataclasses import dataclass

from memsidecar.domain.errors import Busy
from memsidecar.domain.message import Flag, Stored
from memsidecar.domain.session import SessionKey
from memsidecar.layers.working.drafting import tokens_of
from memsidecar.stores.contract import Journal, Stale, Ticket, Trim, TrimNow
from memsidecar.tokens.contract import Counter
from memsidecar.v1.message_pb2 import Message

PLANS_BEFORE_WAITING = 3

Plan = Callable[[], Trim | None]
"What is to become of a session as it stands now; None where there is no such session."


@dataclass(frozen=True)
class Trimming:
    """Plans on the caller's thread against one moment, and commits only if the session still stands there.

    A session that is written to without a pause would never stand still long enough; after a few tries the plan is
    made on the journal's own thread, where nothing moves.
    """

    journal: Journal

    def __call__(self, key: SessionKey, plan: Plan) -> None:
        for _ in range(PLANS_BEFORE_WAITING):
            try:
                return self._outside(plan)
            except Stale:
                continue
        return self._while_nothing_moves(key, plan)

    def _outside(self, plan: Plan) -> None:
        trim = plan()
        if trim is not None and (trim.removed or trim.shortened):
            self._commit(trim)

    def _while_nothing_moves(self, key: SessionKey, plan: Plan) -> None:
        def decide() -> Trim:
            trim = plan()
            if trim is None:
                raise Busy("the session was erased meanwhile")
            return trim

        self._commit(TrimNow(key, decide))

    def _commit(self, command: Trim | TrimNow) -> None:
        ticket = Ticket(command)
        self.journal.submit(ticket)
        ticket.wait()


def shown_as(text: str, one: Stored, message: Message, counter: Counter) -> Stored:
    """A message as the window is to show it, with a shorter text of ours in place of its own; it is changed."""
    message.content, message.synthetic = text, True
    message.tokens = tokens_of(message, counter)
    return one._replace(tokens=message.tokens, flags=one.flags | Flag.SHORTENED, body=message.SerializeToString())
