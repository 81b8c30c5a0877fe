"""Which sentences to keep: greedily those that say most that is not said yet, for their length.

The worth of a choice is that of the distinct words it covers, so that what is said twice counts once: gains only
shrink while the choice grows, and a heap finds the next one without looking at all of them again.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_OVERHEAD_TOKENS = 6  # a label, a line: what a sentence costs beside its words
_REPEATED = 0.3  # with less than this share of news, it was said before
_MISSES = 12  # so many in a row did not fit: what is left would not either


@dataclass(frozen=True)
class Candidate:
    """A sentence to choose: its place in what was said, and what it is worth.

    Of equals the one of the lower lot comes first. A lot that depends on the sentence alone keeps a rolling summary
    from being all old or all new: of things that are worth the same, it is a fair sample of every age.
    """

    place: int
    lot: int
    words: Mapping[str, float]
    factor: float
    tokens: int

    def density(self, covered: set[str]) -> float:
        news = sum([weight for word, weight in self.words.items() if word not in covered])
        return self.factor * news / (self.tokens + _OVERHEAD_TOKENS)

    def repeats(self, covered: set[str], distinctive: float) -> bool:
        """A sentence that differs in a name or a number alone is news: dates move."""
        fresh = [weight for word, weight in self.words.items() if word not in covered]
        return not fresh or (max(fresh) < distinctive and sum(fresh) < _REPEATED * sum(self.words.values()))


def choose(candidates: Sequence[Candidate], distinctive: float, takes: Callable[[Candidate], bool]) -> None:
    """Offer the candidates, best first, to `takes`, until it takes no more; none that repeats what it took.

    `distinctive` is what a name or a number weighs at least.
    """
    covered: set[str] = set()
    by_place = {one.place: one for one in candidates}
    heap = [(-one.density(covered), one.lot, one.place) for one in candidates if one.factor]
    heapq.heapify(heap)
    misses = 0
    while heap and misses < _MISSES:
        before, lot, place = heapq.heappop(heap)
        one = by_place[place]
        if one.repeats(covered, distinctive):
            continue
        if (now := -one.density(covered)) > before and heap and (now, lot, place) > heap[0]:
            heapq.heappush(heap, (now, lot, place))
        elif takes(one):
            covered.update(one.words)
            misses = 0
        else:
            misses += 1
