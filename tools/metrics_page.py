"""Print docs/metrics.md, made from the table of the metrics.

Usage: python -m tools.metrics_page
"""

from collections.abc import Iterator

from memsidecar.metrics.definitions import METRICS, Metric
from memsidecar.metrics.exposition import process_metrics

HEAD = """# Metrics

The HTTP listener serves the metrics at `/metrics`, in the text format of Prometheus, or as OpenMetrics if the request
prefers it. The setting `metrics` turns them off. No credentials are needed: the values of labels are few and known, and
none is a tenant, a user, a session or a text of a caller. A process has fewer than 2,000 time series.

A scrape reads numbers that the parts of the sidecar keep in RAM. A thread of its own samples what takes time to read
(tables of the index, lag and dead letters of tasks, quotas, disk) every 10 seconds, so no scrape waits for the index,
the journal or the disk. [Alerts](operations.md#alerts) has what to do about unusual values. `make metrics-docs` makes
this page.

| name | type | unit | labels | meaning |
| --- | --- | --- | --- | --- |"""

PROCESS = """
## The process

On Linux only:

| name | meaning |
| --- | --- |"""


def lines() -> Iterator[str]:
    yield HEAD
    yield from map(_row, METRICS)
    yield PROCESS
    yield from (f"| `{name}` | {meaning} |" for name, meaning in process_metrics().items())


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    return f"| `{metric.name}` | {metric.kind} | {metric.unit} | {labels} | {metric.meaning} |"


if __name__ == "__main__":
    print(*lines(), sep="\n")
