"""What may stand in a context, and why it does or does not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from memsidecar.domain.fact import Parts
from memsidecar.v1.context_pb2 import Inclusion

UNCOUNTED = -1
"Counting costs more than all else here, so an item is counted when somebody needs to know."


class Item(NamedTuple):
    """Something that fits into a section or does not; `tokens` are of its text, by the context's counter."""

    id: str
    text: str
    tokens: int = UNCOUNTED
    message_ids: tuple[str, ...] = ()
    session_id: str = ""
    score: float = 0.0
    parts: Parts | None = None
    shortened: bool = False
    longer: str = ""
    longer_ids: tuple[str, ...] = ()
    "The same with what belongs to it, where there is room: a question with its answer."
    place: int = 0
    "Where it stands among those that are shown, whatever the order in which they were chosen."

    def counted(self, count: Callable[[str], int]) -> "Item":
        return self if self.tokens != UNCOUNTED else self._replace(tokens=count(self.text))


UNSEEN = Item("", "", tokens=0)
"Something that was left out and is counted, but not listed."


class Omission(NamedTuple):
    item: Item
    reason: Inclusion


@dataclass(frozen=True, slots=True)
class Filled:
    """What a section would show if nothing else were in the way, best first, and what it does not."""

    kept: tuple[Item, ...] = ()
    omitted: tuple[Omission, ...] = ()

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.kept)
