"""The counters that parts keep about themselves."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from memsidecar.domain.statistics import CacheStatistics, Distribution, OperationStatistics, Tally


def test_a_bucket_includes_its_upper_bound_and_counts_are_cumulative() -> None:
    distribution = Distribution((1, 2, 5))
    for value in (0.5, 1, 1.5, 5, 7):
        distribution.observe(value)
    found = distribution.snapshot()
    assert (found.bounds, found.cumulative) == ((1, 2, 5), [2, 3, 4])
    assert (found.count, found.sum) == (5, 15)


def test_no_observation_of_many_threads_is_lost() -> None:
    distribution, tally, cache = Distribution((0.5,)), Tally("a"), CacheStatistics()

    def observe(_thread: int) -> None:
        for _ in range(2_000):
            distribution.observe(1)
            tally.add("a")
            cache.hit()
            cache.miss()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(observe, range(8)))
    assert distribution.snapshot().count == distribution.snapshot().sum == 16_000
    assert (tally.snapshot(), cache.hits, cache.misses) == ({"a": 16_000}, 16_000, 16_000)


def test_a_run_that_raises_is_a_failure_with_a_duration() -> None:
    statistics = OperationStatistics()
    with statistics.measured():
        pass
    with pytest.raises(KeyError), statistics.measured():
        raise KeyError
    assert (statistics.seconds.snapshot().count, statistics.failures) == (2, 1)


def test_the_known_keys_of_a_tally_begin_at_zero() -> None:
    tally = Tally("a", "b")
    tally.add("c", 2)
    assert tally.snapshot() == {"a": 0, "b": 0, "c": 2}
