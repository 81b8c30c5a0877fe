"""Facts in pages: the surest first, then those seen last."""

from collections.abc import Sequence
from dataclasses import dataclass

from memsidecar.domain.fact import FactType
from memsidecar.layers.semantic.fact import KnownFact
from memsidecar.layers.semantic.facts import Facts
from memsidecar.layers.working.reading import ANSWER_BYTES
from memsidecar.stores.contract import Owner

_FIGURES_BYTES = 512
"What an answer says of a fact besides its texts, at most."

Place = tuple[float, int, str]
"How sure it is, when it was last seen, and its id."


@dataclass(frozen=True, slots=True)
class FactPage:
    """Which facts: of these types (none: all), behind this place."""

    types: frozenset[FactType]
    history: bool
    size: int
    after: Place | None = None

    def of(self, facts: Facts, owner: Owner) -> tuple[Sequence[KnownFact], Place | None]:
        """As many as fit into an answer, and the place of the next page, if there is one."""
        known = facts.all(owner, history=True) if self.history else facts.current(owner)
        wanted = sorted((one for one in known if self._is_wanted(one)), key=lambda fact: _order(place_of(fact)))
        found = _as_many_as_fit(wanted[: self.size])
        return found, place_of(found[-1]) if len(found) < len(wanted) else None

    def _is_wanted(self, fact: KnownFact) -> bool:
        is_behind = self.after is None or _order(place_of(fact)) > _order(self.after)
        return is_behind and (not self.types or fact.type in self.types)


def place_of(fact: KnownFact) -> Place:
    return fact.confidence, fact.seen_us, fact.id


def _order(place: Place) -> tuple[float, int, str]:
    confidence, seen_us, fact_id = place
    return -confidence, -seen_us, fact_id


def _as_many_as_fit(facts: Sequence[KnownFact]) -> Sequence[KnownFact]:
    """At least one: a single fact is far smaller than an answer."""
    size = 0
    for at, fact in enumerate(facts):
        texts = (fact.key, fact.value, fact.session_id, fact.origin, *fact.source_message_ids)
        size += _FIGURES_BYTES + sum(len(text.encode()) for text in texts)
        if at and size > ANSWER_BYTES:
            return facts[:at]
    return facts
