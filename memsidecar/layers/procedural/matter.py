"""What a conversation is about: known when it is over, since a word that is said once in it is not its matter."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import nsmallest

from memsidecar.layers.procedural.observing import Observation, term_key
from memsidecar.layers.procedural.questions import key_of
from memsidecar.layers.procedural.tally import Tally

_MOST_TERMS, _MOST_QUESTIONS = 60, 8
_TURNS_A_MENTION = 3  # said in every third message at least, or twice


@dataclass(slots=True)
class Matter:
    """Of one session that goes on. Terms and questions as they are shown; terms with the messages that have them."""

    turns: int = 0
    terms: dict[str, int] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)

    def add(self, one: Observation) -> None:
        self.turns += 1
        known = {term_key(term): term for term in self.terms}
        for term in one.terms:
            shown = known.setdefault(term_key(term), term)
            self.terms[shown] = self.terms.get(shown, 0) + 1
        too_many = len(self.terms) - _MOST_TERMS
        for rare in nsmallest(too_many, self.terms, key=self.terms.__getitem__) if too_many > 0 else ():
            del self.terms[rare]
        if one.questions:
            asked = [*self.questions, *(question.wording for question in one.questions)]
            first = {key: wording for wording in reversed(asked) if (key := key_of(wording))}
            self.questions = list(reversed(first.values()))[:_MOST_QUESTIONS]

    def prominent(self) -> Iterator[str]:
        needed = min(2, -(-self.turns // _TURNS_A_MENTION))
        return (term for term, mentions in self.terms.items() if mentions >= needed)

    def count_in(self, topics: Tally, questions: Tally, now: int) -> None:
        for term in self.prominent():
            topics.add(term_key(term), term, now)
        for wording in self.questions:
            questions.add(key_of(wording), wording, now)
