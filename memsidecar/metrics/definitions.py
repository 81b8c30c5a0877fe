"""Every metric of the sidecar: its name, type, unit, labels and meaning. docs/metrics.md is made from this table.

Names follow Prometheus (base units, `_total` for counters) and, where they have a word, the semantic conventions of
OpenTelemetry. The values of a label are few and known: no tenant, user, session or text of a caller is one.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from memsidecar.domain.statistics import DistributionSnapshot


class MetricKind(StrEnum):
    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


@dataclass(frozen=True)
class Metric:
    """`unit` is the last word of the name, before `_total`, or empty."""

    name: str
    kind: MetricKind
    meaning: str
    labels: tuple[str, ...] = ()
    unit: str = ""

    def point(self, value: "PointValue", *labels: str) -> "Point":
        return Point(self, labels, value)


PointValue = float | DistributionSnapshot


class Point(NamedTuple):
    """A value of a metric, with the values of its labels in the order of their names."""

    metric: Metric
    labels: tuple[str, ...]
    value: PointValue


METRICS: list[Metric] = []
"All metrics, in the order of the page."


def _metric(kind: MetricKind, name: str, meaning: str, *labels: str, unit: str = "") -> Metric:
    made = Metric(f"memsidecar_{name}{'_total' if kind is MetricKind.COUNTER else ''}", kind, meaning, labels, unit)
    METRICS.append(made)
    return made


def _counter(name: str, meaning: str, *labels: str, unit: str = "") -> Metric:
    return _metric(MetricKind.COUNTER, name, meaning, *labels, unit=unit)


def _gauge(name: str, meaning: str, *labels: str, unit: str = "") -> Metric:
    return _metric(MetricKind.GAUGE, name, meaning, *labels, unit=unit)


def _histogram(name: str, meaning: str, *labels: str, unit: str = "seconds") -> Metric:
    return _metric(MetricKind.HISTOGRAM, name, meaning, *labels, unit=unit)


BUILD = _gauge("build_info", "1, with the version of the sidecar.", "version")

CALL_DURATION = _histogram(
    "rpc_server_call_duration_seconds",
    "Time of a call in the sidecar, failed ones included. A stream is one call, from its begin to its end.",
    "rpc_method",
)
CALL_ERRORS = _counter(
    "rpc_server_call_errors",
    "Calls that failed, by gRPC status and the reason of the error details. CANCELLED: the caller gave up, or its "
    "deadline passed. A series begins with its first error.",
    *("rpc_method", "rpc_response_status_code", "error_type"),
)
ACTIVE_CALLS = _gauge("rpc_server_active_calls", "Calls, streams and Watch streams in progress.", "kind")
ACTIVE_CALLS_LIMIT = _gauge("rpc_server_active_calls_limit", "From how many on one more is refused.", "kind")

CONTEXT_RATIO = _histogram("context_used_ratio", "Tokens of a served context as a share of its budget.", unit="ratio")
CONTEXT_BUDGET = _histogram("context_budget_tokens", "Budget of a served context.", unit="tokens")
CONTEXT_TOKENS = _counter("context_tokens", "Tokens of served contexts, by section.", "section", unit="tokens")
CONTEXT_EVICTIONS = _counter(
    "context_evictions", "Turns and items that did not fit the budget of a context, by step of the eviction.", "step"
)
CONTEXT_DEGRADED = _counter(
    "context_degraded", "Served contexts that lack something, by what they lack.", "degradation"
)
CONTEXT_DURATION = _histogram(
    "context_build_duration_seconds", "Time of a phase of BuildContext: prepare, retrieve, pack.", "phase"
)

RETRIEVAL_DURATION = _histogram("retrieval_duration_seconds", "Time of a ranked search with the loading of its hits.")
RETRIEVAL_DEGRADED = _counter(
    "retrieval_degraded", "Ranked searches whose result lacks something, by what it lacks.", "degradation"
)

EXTRACTION_DURATION = _histogram(
    "fact_extraction_duration_seconds", "Time of the extraction of one batch.", "extractor"
)
EXTRACTION_FAILURES = _counter("fact_extraction_failures", "Extractions of a batch that failed.", "extractor")
SUMMARY_DURATION = _histogram("summary_duration_seconds", "Time of one update of a summary.", "summarizer")
SUMMARY_FAILURES = _counter("summary_failures", "Updates of a summary that failed.", "summarizer")
MODEL_REQUESTS = _counter("model_requests", "Requests to the language model, by their outcome.", "outcome")
MODEL_TOKENS = _counter("model_tokens", "Tokens that the language model reported.", "gen_ai_token_type", unit="tokens")

CACHE_REQUESTS = _counter(
    "cache_requests", "Reads of a cache: hit, or miss if the journal or the index was read.", "cache", "result"
)
MEMORY_USED = _gauge(
    "memory_used_bytes", "RAM of a part, as the part counts it; `process` is the whole process.", "part", unit="bytes"
)
MEMORY_LIMIT = _gauge(
    "memory_limit_bytes", "Limit on the RAM of a part; of `process` that of its container.", "part", unit="bytes"
)

COMMIT_DURATION = _histogram("journal_commit_duration_seconds", "Time of a transaction of the journal, with its fsync.")
COMMIT_FAILURES = _counter("journal_commit_failures", "Transactions that failed, such as on a full disk.")
GROUP_COMMANDS = _histogram("journal_group_commands", "Commands that one group commit had.", unit="commands")
READ_DURATION = _histogram("journal_read_duration_seconds", "Time of a read transaction of the journal.")
JOURNAL_BYTES = _gauge("journal_file_bytes", "Size of the journal's database file.", unit="bytes")
WAL_BYTES = _gauge("journal_wal_bytes", "Size of the journal's write-ahead log.", unit="bytes")
DISK_FREE = _gauge("disk_free_bytes", "Free space of the file system of the data directory.", unit="bytes")
DISK_SIZE = _gauge("disk_size_bytes", "Size of the file system of the data directory.", unit="bytes")

INDEX_READY = _gauge(
    "index_ready", "1 when the index is open; until then searches read recent messages only. Absent without index."
)
INDEX_CALL_DURATION = _histogram("index_call_duration_seconds", "Time of a call of LanceDB.")
INDEX_CALL_FAILURES = _counter("index_call_failures", "Calls of LanceDB that failed.")
INDEX_TABLES = _gauge("index_tables", "Open tables of the index.")
INDEX_ROWS = _gauge(
    "index_rows",
    "Rows of the open tables. Twenty tables are read every ten seconds: one that was not yet adds nothing.",
)
INDEX_FRAGMENTS = _gauge("index_fragments", "Fragments of the open tables. Maintenance merges them.")
INDEX_VERSIONS = _gauge("index_versions", "Stored versions of the open tables. Maintenance deletes old ones.")
INDEX_UNINDEXED = _gauge("index_unindexed_rows", "Rows of the open tables that their indexes lack.")
INDEX_BYTES = _gauge("index_disk_bytes", "Size of the files of the open tables.", unit="bytes")
INDEX_FAILURES = _counter("index_maintenance_failures", "Runs of the index's maintenance that failed.")

TASK_LAG_ENTRIES = _gauge(
    "task_lag_entries",
    "Log entries after the last one that a task has finished, in the namespace where they are most. Facts wait for "
    "some turns or a quiet moment, which counts.",
    "task",
)
TASK_LAG_SECONDS = _gauge(
    "task_lag_seconds",
    "Time for which a task has been behind, in the namespace where that is most.",
    "task",
    unit="seconds",
)
TASK_FAILURES = _counter("task_failures", "Attempts of a background task that failed, and are repeated.", "task")
DEAD_LETTERS = _gauge("task_dead_letters", "Log entries that a task skips, because it failed on them.", "task")

QUOTA_RATIO = _gauge(
    "quota_used_ratio",
    "Usage as a share of the quota, of the namespace where it is highest. Absent without quotas.",
    "resource",
    unit="ratio",
)
CERTIFICATE_EXPIRY = _gauge(
    "tls_certificate_expiry_timestamp_seconds",
    "Time at which the server's certificate expires. Absent without TLS.",
    unit="seconds",
)
SAMPLED = _gauge(
    "sample_timestamp_seconds",
    "Time of the last sample of what a scrape does not read itself: index, tasks, quotas, disk.",
    unit="seconds",
)
