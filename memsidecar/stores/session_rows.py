"""Columns of sessions and policies <-> values, in the order in which each store selects them."""

import json
from collections.abc import Sequence
from dataclasses import astuple
from typing import Any

from memsidecar.domain.retention import Retention, RetentionLimit
from memsidecar.domain.session import Policy, SessionHead, SessionKey, Strategy


def head_of(row: Sequence[Any]) -> SessionHead:
    row_id, namespace, session_id, user_id, version, last_sequence, window_start, pruned_count, *rest = row
    counts, tokens = rest[:4], rest[4:8]
    create_time_us, last_active_us, open_calls, *policy = rest[8:]
    return SessionHead(
        key=SessionKey(namespace, session_id),
        row_id=row_id,
        user_id=user_id,
        version=version,
        last_sequence=last_sequence,
        window_start=window_start,
        pruned_count=pruned_count,
        counts=counts,
        tokens=tokens,
        create_time_us=create_time_us,
        last_active_us=last_active_us,
        open_calls={call: tuple(sequences) for call, sequences in json.loads(open_calls or "{}").items()},
        policy=policy_of(*policy),
    )


def policy_of(
    auto_prune_tokens: int | None, strategy: int, model: str, summarize: int, retention: str | None
) -> Policy | None:
    if auto_prune_tokens is None:
        return None
    limits = None if retention is None else Retention(*(RetentionLimit(*limit) for limit in json.loads(retention)))
    return Policy(auto_prune_tokens, Strategy(strategy), model, summarize=bool(summarize), retention=limits)


def policy_columns(policy: Policy) -> tuple[Any, ...]:
    retention = None if policy.retention is None else json.dumps([astuple(limit) for limit in policy.retention.limits])
    return (policy.auto_prune_tokens, policy.strategy, policy.model, policy.summarize, retention)


def saved_columns(head: SessionHead) -> tuple[Any, ...]:
    """Return what may change of a session's row, from its user on."""
    return (
        head.user_id,
        head.version,
        head.last_sequence,
        head.window_start,
        head.pruned_count,
        *head.counts,
        *head.tokens,
        head.create_time_us,
        head.last_active_us,
        open_calls_column(head),
    )


def open_calls_column(head: SessionHead) -> str | None:
    return json.dumps(head.open_calls) if head.open_calls else None
