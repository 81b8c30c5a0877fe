"""Points of the statistics that parts keep in RAM. To read them waits for nothing."""

from collections.abc import Iterable, Iterator, Mapping

from memsidecar.api.interceptors.call_statistics import CallStatistics
from memsidecar.api.interceptors.concurrency import InFlightLimits
from memsidecar.context.statistics import ContextStatistics
from memsidecar.domain.statistics import CacheStatistics, OperationStatistics
from memsidecar.layers.episodic.hits import RetrievalStatistics
from memsidecar.metrics import definitions as metrics
from memsidecar.metrics.definitions import Metric, Point
from memsidecar.metrics.process_memory import limit_bytes, resident_bytes
from memsidecar.stores.contract import JournalStatistics

PROCESS = "process"
"The whole process, among the parts of it."


def call_points(statistics: CallStatistics) -> Iterator[Point]:
    for full_name, method in statistics.methods.items():
        service, _, name = full_name.rpartition(".")
        rpc_method = f"{service}/{name}"
        yield metrics.CALL_DURATION.point(method.seconds.snapshot(), rpc_method)
        for (status, reason), count in method.errors().items():
            yield metrics.CALL_ERRORS.point(count, rpc_method, status, reason)


def in_flight_points(limits: InFlightLimits) -> Iterator[Point]:
    for kind, counter in (("calls", limits.calls), ("streams", limits.streams), ("watchers", limits.watchers)):
        yield metrics.ACTIVE_CALLS.point(counter.pending, kind)
        yield metrics.ACTIVE_CALLS_LIMIT.point(counter.limit, kind)


def context_points(statistics: ContextStatistics) -> Iterator[Point]:
    yield metrics.CONTEXT_RATIO.point(statistics.budget_ratio.snapshot())
    yield metrics.CONTEXT_BUDGET.point(statistics.budget_tokens.snapshot())
    yield from _counts(metrics.CONTEXT_TOKENS, statistics.tokens.snapshot())
    yield from _counts(metrics.CONTEXT_EVICTIONS, statistics.evicted.snapshot())
    yield from _counts(metrics.CONTEXT_DEGRADED, statistics.degraded.snapshot())
    for phase, operation in statistics.phases.items():
        yield metrics.CONTEXT_DURATION.point(operation.seconds.snapshot(), phase)


def retrieval_points(statistics: RetrievalStatistics) -> Iterator[Point]:
    yield metrics.RETRIEVAL_DURATION.point(statistics.seconds.snapshot())
    yield from _counts(metrics.RETRIEVAL_DEGRADED, statistics.degraded.snapshot())


def journal_points(statistics: JournalStatistics) -> Iterator[Point]:
    yield from operation_points(metrics.COMMIT_DURATION, metrics.COMMIT_FAILURES, statistics.commits)
    yield metrics.GROUP_COMMANDS.point(statistics.group_commands.snapshot())
    yield metrics.READ_DURATION.point(statistics.read_seconds.snapshot())


def operation_points(
    duration: Metric, failures: Metric, operation: OperationStatistics, *labels: str
) -> Iterator[Point]:
    yield duration.point(operation.seconds.snapshot(), *labels)
    yield failures.point(operation.failures, *labels)


def cache_points(caches: Mapping[str, CacheStatistics]) -> Iterator[Point]:
    for name, statistics in caches.items():
        yield metrics.CACHE_REQUESTS.point(statistics.hits, name, "hit")
        yield metrics.CACHE_REQUESTS.point(statistics.misses, name, "miss")


MemoryPart = tuple[int, int]
"The bytes that a part of the process has now, and its limit."


def memory_points(parts: Mapping[str, MemoryPart]) -> Iterator[Point]:
    for name, (size, limit) in parts.items():
        yield metrics.MEMORY_USED.point(size, name)
        yield metrics.MEMORY_LIMIT.point(limit, name)
    if (resident := resident_bytes()) is not None:
        yield metrics.MEMORY_USED.point(resident, PROCESS)
    if (allowed := limit_bytes()) is not None:
        yield metrics.MEMORY_LIMIT.point(allowed, PROCESS)


def failure_points(tasks: Iterable[Mapping[str, int]]) -> Iterator[Point]:
    for failures in tasks:
        yield from _counts(metrics.TASK_FAILURES, failures)


def _counts(metric: Metric, counts: Mapping[str, int]) -> Iterator[Point]:
    return (metric.point(count, label) for label, count in counts.items())
