"""Which rules may find something in a text, told by its words alone: mostly none, and nothing else has to be done."""

from collections.abc import Iterable

from memsidecar.language.rules.forms import Rule
from memsidecar.language.rules.needs import most_telling_first
from memsidecar.language.rules.vocabulary import Gate, Vocabulary


class Shortlist:
    """Rules, by the mark of what they need that is seldom met."""

    def __init__(self, vocabulary: Vocabulary, rules: Iterable[Rule]) -> None:
        self._rules = tuple(rules)
        self._gates: dict[int, list[tuple[int, Gate]]] = {}
        for at, rule in enumerate(self._rules):
            for way in rule.ways:
                gate = vocabulary.gate(way)
                self._gates.setdefault(vocabulary.mark(most_telling_first(way)[0]), []).append((at, gate))
        self._signs = sum(self._gates)

    def of(self, marks: int) -> list[Rule]:
        """In their order."""
        found: set[int] = set()
        signs = marks & self._signs
        while signs:
            lowest = signs & -signs
            found.update(at for at, gate in self._gates[lowest] if gate.is_open(marks))
            signs ^= lowest
        return [self._rules[at] for at in sorted(found)]
