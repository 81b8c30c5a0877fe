"""Statistics: Wilson's lower bound, binomial tail, thresholds for recurrence."""

from collections.abc import Sequence
from math import exp, factorial, lgamma, log, log1p, sqrt
from statistics import fmean

_MAX_EXPECTED_COINCIDENCES = 0.01
_Z = 2.6  # one in two hundred: many shares are tested


def wilson_lower_bound(count: int, total: int) -> float:
    """Return the lower bound of the share behind `count` of `total`."""
    if not total:
        return 0.0
    share, square = count / total, _Z * _Z
    spread = _Z * sqrt(share * (1 - share) / total + square / (4 * total * total))
    return (share + square / (2 * total) - spread) / (1 + square / total)


def binomial_tail(count: int, total: int, share: float) -> float:
    """Return the probability of `count` or more of `total` by chance, each with this share."""
    return min(1.0, sum(exp(_log_binomial(hits, total, share)) for hits in range(count, total + 1)))


def _log_binomial(count: int, total: int, share: float) -> float:
    combinations = lgamma(total + 1) - lgamma(count + 1) - lgamma(total - count + 1)
    return combinations + count * log(share) + (total - count) * log1p(-share)


def min_recurring_count(counts: Sequence[int], min_count: int) -> int:
    """Return the count from which on an item did not recur by coincidence, at least `min_count`.

    The numbers of items seen once and twice estimate the size of the set that they are drawn from (Good-Turing), and so
    how many items would recur without a reason.
    """
    once, twice = counts.count(1), counts.count(2)
    recurrence = min(1.0, 2 * twice / once) if once else 0.0
    while once * recurrence ** (min_count - 1) / factorial(min_count) > _MAX_EXPECTED_COINCIDENCES:
        min_count += 1
    return min_count


def outlier_threshold(counts: Sequence[int], min_count: int) -> float:
    """Return the count from which on an item stands out of the rest, at least `min_count`.

    The rest are the lower three quarters. If they occur once each, `min_count` is the threshold. If all items recur, as
    the words of a narrow subject do, it is far above their mean.
    """
    rest = sorted(counts)[: len(counts) * 3 // 4]
    mean = fmean(rest) if rest else 1.0
    return max(min_count, mean + 6 * sqrt(max(0.0, mean - 1)))
