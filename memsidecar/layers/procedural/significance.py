"""Wilson bound, binomial tail, Good-Turing."""

from collections.abc import Sequence
from math import exp, factorial, lgamma, log, log1p, sqrt
from statistics import fmean

_COINCIDENCE = 0.01
_Z = 2.6  # one in two hundred, and many things are looked at


def surely_at_least(count: int, total: int) -> float:
    """The share that is behind `count` of `total` at the least (Wilson's lower bound)."""
    if not total:
        return 0.0
    share, square = count / total, _Z * _Z
    spread = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total))
    return (share + square / (2 * total) - spread) / (1 + square / total)


def tail(count: int, total: int, share: float) -> float:
    """How likely `count` or more of `total` are by chance, each with this share."""
    return min(1.0, sum(exp(_log_binomial(one, total, share)) for one in range(count, total + 1)))


def _log_binomial(count: int, total: int, share: float) -> float:
    ways = lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)
    return ways + count * log(share) + (total - count) * log1p(-share)


def beyond_coincidence(counts: Sequence[int], fewest: int) -> int:
    """From which count on a thing did not come up again by coincidence.

    How many came up once and how many twice tells how large the world is that they are drawn from (as Good and Turing
    did it), and so how many would come up more often without a reason.
    """
    once, twice = counts.count(1), counts.count(2)
    again = min(1.0, 2 * twice / once) if once else 0.0
    while once * again ** (fewest - 1) / factorial(fewest) > _COINCIDENCE:
        fewest += 1
    return fewest


def standing_out(counts: Sequence[int], fewest: int) -> float:
    """From which count on one of these stands out of the rest, where things recur anyway.

    The rest is the lower three quarters. Where these occur once each, `fewest` is enough; where they all come again and
    again, as words of a small world do, it takes far more than what they have.
    """
    rest = sorted(counts)[: len(counts) * 3 // 4]
    usual = fmean(rest) if rest else 1.0
    return max(fewest, usual + 6 * sqrt(max(0.0, usual - 1)))
