"""When a summary is due: seen from the session itself, so that nobody has to remember it."""

from collections.abc import Sequence
from dataclasses import dataclass

from memsidecar.domain.message import Role, Stored
from memsidecar.domain.session import Head
from memsidecar.layers.summaries.rolling import RollingSummary
from memsidecar.layers.summaries.summarizing import Summarizing, boundary
from memsidecar.stores.contract import Selection

_A_TURN = 2
_MOST_LOOKED_AT = 10_000
_MOST_AT_ONCE, _MOST_TOKENS_AT_ONCE = 200, 20_000
"Messages, and their tokens, that a caller waits for to be summarised; more are left to the background."


@dataclass(frozen=True, slots=True)
class Rhythm:
    """A summary is due after so many messages, or when what it does not speak for passes so many tokens."""

    every_messages: int = 12
    tail_tokens: int = 3_000
    keep_messages: int = 6

    def is_due(self, messages: Sequence[Stored], known: bool) -> bool:
        """From the second on, what the one before left as it was said comes on top, and the turn that is under way."""
        return len(messages) >= self.enough(known) or sum(one.tokens for one in messages) > self.tail_tokens

    def enough(self, known: bool) -> int:
        return self.every_messages + (self.keep_messages + _A_TURN if known else 0)


@dataclass(frozen=True)
class KeepingUp:
    summarize: Summarizing
    rhythm: Rhythm

    def __call__(self, head: Head) -> RollingSummary | None:
        """The summary, brought up to date if that is due. Raises ModelAway, MalformedAnswer."""
        known, last, _ = self._due(head)
        return self.summarize.up_to(head, last) if last else known

    def at_once(self, head: Head) -> RollingSummary | None:
        """The same for a caller who waits: neither for a model, nor for a long history, nor for a commit.

        Between turns an agent waits for nothing else, and a summary that comes a turn late changes the beginning of
        two contexts instead of one.
        """
        known = self.summarize.summaries.of(head.key)
        ahead = head.last_sequence - (known.last_sequence if known else 0)
        # What is due by its tokens alone is left to the background: to know, it would have to be read at every call.
        if not self.rhythm.enough(bool(known)) <= ahead <= _MOST_AT_ONCE or self.summarize.asks_a_model:
            return known
        known, last, tokens = self._due(head)
        return self.summarize.soon(head, last) if last and tokens <= _MOST_TOKENS_AT_ONCE else known

    def _due(self, head: Head) -> tuple[RollingSummary | None, int, int]:
        """What there is, up to which message to summarise now (0 for none), and the tokens it does not speak for."""
        known = self.summarize.summaries.of(head.key)
        covered = known.last_sequence if known else 0
        selection = Selection(covered, limit=_MOST_LOOKED_AT, include_pruned=True, bodies=False)
        found = self.summarize.journal.messages(head.key, selection).messages
        messages = [one for one in found if one.role != Role.SYSTEM]
        last = boundary(messages, self.rhythm.keep_messages) if self.rhythm.is_due(messages, bool(known)) else 0
        return known, last, sum(one.tokens for one in messages)
