"""The Grafana dashboard of the chart, made from a table of panels."""

import json
from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

WIDTH, HEIGHT, COLUMNS = 8, 7, 3
SELECTED = 'namespace="$namespace", pod=~"$pod"'
DATASOURCE = {"type": "prometheus", "uid": "${datasource}"}


class Query(NamedTuple):
    expression: str
    legend: str = "{{pod}}"


class Panel(NamedTuple):
    """One graph. `unit` is one of Grafana's."""

    title: str
    unit: str
    queries: tuple[Query, ...]


def metric(name: str, labels: str = "") -> str:
    """Return a selector of the dashboard's pods."""
    return f"memsidecar_{name}{{{', '.join(filter(None, (SELECTED, labels)))}}}"


def rate(name: str, labels: str = "") -> str:
    return f"rate({metric(name, labels)}[$__rate_interval])"


def total(by: str, expression: str) -> str:
    return f"sum by ({by}) ({expression})"


def quantile(share: float, name: str, by: str = "pod") -> Query:
    buckets = total(f"{by}, le", rate(f"{name}_bucket"))
    return Query(f"histogram_quantile({share}, {buckets})", f"{{{{{by}}}}} {share:.0%}")


def mean(name: str) -> str:
    return f"{total('pod', rate(f'{name}_sum'))} / {total('pod', rate(f'{name}_count'))}"


HIT = 'result="hit"'
CALLS, ERRORS = "rpc_server_call_duration_seconds", "rpc_server_call_errors_total"
ROWS: dict[str, tuple[Panel, ...]] = {
    "Calls": (
        Panel("Calls per second", "reqps", (Query(total("rpc_method", rate(f"{CALLS}_count")), "{{rpc_method}}"),)),
        Panel("Errors per second", "reqps", (Query(total("error_type", rate(ERRORS)), "{{error_type}}"),)),
        Panel("Time of a call, 99 %", "s", (quantile(0.99, CALLS, "rpc_method"),)),
        Panel(
            "In progress",
            "short",
            (
                Query(total("kind", metric("rpc_server_active_calls")), "{{kind}}"),
                Query(total("kind", metric("rpc_server_active_calls_limit")), "{{kind}}, limit"),
            ),
        ),
    ),
    "Contexts": (
        Panel("Share of the budget, mean", "percentunit", (Query(mean("context_used_ratio")),)),
        Panel("Budget, mean", "short", (Query(mean("context_budget_tokens")),)),
        Panel(
            "Tokens per second, by section",
            "short",
            (Query(total("section", rate("context_tokens_total")), "{{section}}"),),
        ),
        Panel(
            "Evictions per second, by step",
            "short",
            (Query(total("step", rate("context_evictions_total")), "{{step}}"),),
        ),
        Panel("Time of each phase, 95 %", "s", (quantile(0.95, "context_build_duration_seconds", "phase"),)),
        Panel(
            "Degraded contexts per second",
            "short",
            (Query(total("degradation", rate("context_degraded_total")), "{{degradation}}"),),
        ),
    ),
    "Retrieval and learning": (
        Panel(
            "Time of retrieval",
            "s",
            (quantile(0.5, "retrieval_duration_seconds"), quantile(0.95, "retrieval_duration_seconds")),
        ),
        Panel(
            "Degraded searches per second",
            "short",
            (Query(total("degradation", rate("retrieval_degraded_total")), "{{degradation}}"),),
        ),
        Panel("Time of an extraction, 95 %", "s", (quantile(0.95, "fact_extraction_duration_seconds", "extractor"),)),
        Panel("Time of a summary, 95 %", "s", (quantile(0.95, "summary_duration_seconds", "summarizer"),)),
        Panel(
            "Failures per second",
            "short",
            (
                Query(total("extractor", rate("fact_extraction_failures_total")), "facts, {{extractor}}"),
                Query(total("summarizer", rate("summary_failures_total")), "summaries, {{summarizer}}"),
                Query(total("outcome", rate("model_requests_total")), "model, {{outcome}}"),
            ),
        ),
        Panel(
            "Tokens of the model per second",
            "short",
            (Query(total("gen_ai_token_type", rate("model_tokens_total")), "{{gen_ai_token_type}}"),),
        ),
    ),
    "Caches and memory": (
        Panel(
            "Reads that a cache answers",
            "percentunit",
            (
                Query(
                    f"{total('cache', rate('cache_requests_total', HIT))} / "
                    f"{total('cache', rate('cache_requests_total'))}",
                    "{{cache}}",
                ),
            ),
        ),
        Panel(
            "Memory by part",
            "bytes",
            (
                Query(total("part", metric("memory_used_bytes")), "{{part}}"),
                Query(total("part", metric("memory_limit_bytes")), "{{part}}, limit"),
            ),
        ),
        Panel("Resident memory", "bytes", (Query(f"process_resident_memory_bytes{{{SELECTED}}}"),)),
        Panel("CPU", "percentunit", (Query(f"rate(process_cpu_seconds_total{{{SELECTED}}}[$__rate_interval])"),)),
        Panel("Open files", "short", (Query(f"process_open_fds{{{SELECTED}}}"),)),
    ),
    "Journal and disk": (
        Panel(
            "Time of a commit",
            "s",
            (quantile(0.5, "journal_commit_duration_seconds"), quantile(0.95, "journal_commit_duration_seconds")),
        ),
        Panel("Commands of a group commit, mean", "short", (Query(mean("journal_group_commands")),)),
        Panel("Failed commits per second", "short", (Query(total("pod", rate("journal_commit_failures_total"))),)),
        Panel("Time of a read, 95 %", "s", (quantile(0.95, "journal_read_duration_seconds"),)),
        Panel(
            "Size of the journal",
            "bytes",
            (
                Query(metric("journal_file_bytes"), "{{pod}} file"),
                Query(metric("journal_wal_bytes"), "{{pod}} write-ahead log"),
            ),
        ),
        Panel("Free disk", "percentunit", (Query(f"{metric('disk_free_bytes')} / {metric('disk_size_bytes')}"),)),
    ),
    "Index and tasks": (
        Panel("Lag of each task", "s", (Query(total("task", metric("task_lag_seconds")), "{{task}}"),)),
        Panel("Log entries behind", "short", (Query(total("task", metric("task_lag_entries")), "{{task}}"),)),
        Panel(
            "Failures of tasks per second", "short", (Query(total("task", rate("task_failures_total")), "{{task}}"),)
        ),
        Panel("Dead letters", "short", (Query(total("task", metric("task_dead_letters")), "{{task}}"),)),
        Panel(
            "Rows of the index",
            "short",
            (Query(metric("index_rows"), "{{pod}}"), Query(metric("index_unindexed_rows"), "{{pod}}, not indexed")),
        ),
        Panel(
            "Fragments, versions and tables",
            "short",
            (
                Query(metric("index_fragments"), "{{pod}} fragments"),
                Query(metric("index_versions"), "{{pod}} versions"),
                Query(metric("index_tables"), "{{pod}} tables"),
            ),
        ),
        Panel("Size of the index", "bytes", (Query(metric("index_disk_bytes")),)),
        Panel("Time of a call of LanceDB, 95 %", "s", (quantile(0.95, "index_call_duration_seconds"),)),
        Panel(
            "Failures of the index per second",
            "short",
            (
                Query(total("pod", rate("index_call_failures_total")), "{{pod}} calls"),
                Query(total("pod", rate("index_maintenance_failures_total")), "{{pod}} maintenance"),
            ),
        ),
    ),
    "Limits": (
        Panel(
            "Use of quotas, highest of a tenant",
            "percentunit",
            (Query(total("resource", metric("quota_used_ratio")), "{{resource}}"),),
        ),
        Panel(
            "Time until the certificate expires",
            "s",
            (Query(f"{metric('tls_certificate_expiry_timestamp_seconds')} - time()"),),
        ),
        Panel("Age of the samples", "s", (Query(f"time() - {metric('sample_timestamp_seconds')}"),)),
        Panel("Index ready", "short", (Query(metric("index_ready")),)),
        Panel("Version", "short", (Query(metric("build_info"), "{{pod}} {{version}}"),)),
    ),
}


def dashboard() -> str:
    made = {
        "uid": "memsidecar",
        "title": "memsidecar",
        "tags": ["memsidecar"],
        "schemaVersion": 39,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-6h", "to": "now"},
        "templating": {"list": list(_variables())},
        "panels": list(_panels()),
    }
    return json.dumps(made, indent=1) + "\n"


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "type": "datasource", "query": "prometheus"}
    for name, query in (
        ("namespace", "label_values(memsidecar_build_info, namespace)"),
        ("pod", 'label_values(memsidecar_build_info{namespace="$namespace"}, pod)'),
    ):
        several = {"multi": True, "includeAll": True} if name == "pod" else {}
        yield {"name": name, "type": "query", "datasource": DATASOURCE, "query": query, "refresh": 2, **several}


def _panels() -> Iterator[dict[str, Any]]:
    numbers, top = count(1), 0
    for title, panels in ROWS.items():
        place = {"x": 0, "y": top, "w": WIDTH * COLUMNS, "h": 1}
        yield {"id": next(numbers), "type": "row", "title": title, "collapsed": False, "gridPos": place, "panels": []}
        for at, panel in enumerate(panels):
            row, column = divmod(at, COLUMNS)
            place = {"x": column * WIDTH, "y": top + 1 + row * HEIGHT, "w": WIDTH, "h": HEIGHT}
            yield {"id": next(numbers), "gridPos": place, **_graph(panel)}
        top += 1 + -(-len(panels) // COLUMNS) * HEIGHT


def _graph(panel: Panel) -> dict[str, Any]:
    return {
        "type": "timeseries",
        "title": panel.title,
        "datasource": DATASOURCE,
        "fieldConfig": {"defaults": {"unit": panel.unit, "min": 0}, "overrides": []},
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {
                "refId": chr(ord("A") + at),
                "datasource": DATASOURCE,
                "expr": query.expression,
                "legendFormat": query.legend,
            }
            for at, query in enumerate(panel.queries)
        ],
    }
