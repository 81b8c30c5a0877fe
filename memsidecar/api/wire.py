"""Conversion between protobuf messages and domain values, and validation of fields that many requests share."""

from collections.abc import Mapping, Sequence
from typing import Protocol, cast

import numpy as np
from google.protobuf.timestamp_pb2 import Timestamp
from numpy.typing import NDArray

from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.ids import check_id, optional_id
from memsidecar.domain.retention import MAX_AGE_SECONDS, Retention, RetentionLimit
from memsidecar.domain.session import DEFAULT_NAMESPACE, Policy, SessionHead, SessionKey, Strategy
from memsidecar.layers.working.sessions import TokenBudget
from memsidecar.stores.contract import ErasureCounts, UserActivity
from memsidecar.v1 import message_pb2, session_pb2
from memsidecar.v1.memory_pb2 import PruneStrategy

MAX_PAGE_SIZE = 1_000
MAX_QUERY_BYTES = 1 << 20
DEFAULT_PAGE_SIZE = 100
RETAINED = ("messages", "facts", "artifacts", "documents")

ScopeIds = tuple[str, str, str]
"Namespace, user and session of a request; user and session may be empty."


class Namespaced(Protocol):
    """A request. Every one has a namespace."""

    namespace: str


class Scoped(Namespaced, Protocol):
    """A request about the memory of a user or a session, which nearly every one is."""

    user_id: str
    session_id: str


def namespace_of(request: Namespaced) -> str:
    return optional_id("namespace", request.namespace) or DEFAULT_NAMESPACE


def key_of(request: Scoped) -> SessionKey:
    optional_id("user_id", request.user_id)
    return SessionKey(namespace_of(request), check_id("session_id", request.session_id))


def scope_of(request: Scoped) -> ScopeIds:
    user_id, session_id = optional_id("user_id", request.user_id), optional_id("session_id", request.session_id)
    return namespace_of(request), user_id, session_id


def require_owner(request: Scoped) -> ScopeIds:
    scope = scope_of(request)
    if not any(scope[1:]):
        raise InvalidField("user_id", "is required where no session is named")
    return scope


def query_of(query: str) -> str:
    """Return the query; raise TooLarge if it is longer than a message may be by default."""
    if len(query) * 4 > MAX_QUERY_BYTES and len(query.encode()) > MAX_QUERY_BYTES:
        raise TooLarge(f"query has {len(query.encode())} bytes; a query may have {MAX_QUERY_BYTES}")
    return query


def at_least(field: str, value: int, minimum: int) -> int:
    if value < minimum:
        raise InvalidField(field, f"must be at least {minimum}")
    return value


def limit_of(field: str, value: int, default: int, maximum: int) -> int:
    """Return the requested number: zero means the default, and more than the maximum means the maximum."""
    return min(at_least(field, value, 0) or default, maximum)


def page_size_of(request_size: int) -> int:
    return limit_of("page_size", request_size, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


def vector_of(field: str, numbers: Sequence[float], dimensions: int) -> NDArray[np.float32] | None:
    """Return the request's vector; None for an empty one."""
    if not numbers:
        return None
    vector = np.array(numbers, np.float32)
    if len(vector) != dimensions:
        raise InvalidField(field, f"has {len(vector)} dimensions; {dimensions} are configured")
    if not np.isfinite(vector).all():
        raise InvalidField(field, "contains a number that is not finite")
    return vector


def role_numbers(numbers: Sequence[int]) -> message_pb2.RoleNumbers:
    system, user, assistant, tool = numbers
    return message_pb2.RoleNumbers(system=system, user=user, assistant=assistant, tool=tool)


def stats_of(head: SessionHead | None, budget: TokenBudget) -> message_pb2.SessionStats:
    if head is None:
        return message_pb2.SessionStats(
            count_by_role=message_pb2.RoleNumbers(), tokens_by_role=message_pb2.RoleNumbers()
        )
    return message_pb2.SessionStats(
        message_count=head.message_count,
        pruned_count=head.pruned_count,
        tokens=head.total_tokens,
        count_by_role=role_numbers(head.counts),
        tokens_by_role=role_numbers(head.tokens),
        last_sequence=head.last_sequence,
        budget_tokens=budget.tokens,
        budget_used=budget.share,
    )


def timestamp_of(microseconds: int) -> Timestamp:
    seconds, rest = divmod(microseconds, 1_000_000)
    return Timestamp(seconds=seconds, nanos=rest * 1_000)


def strategy_of(field: str, value: int) -> Strategy:
    if value not in (0, *Strategy):
        raise InvalidField(field, "is not a known strategy")
    return Strategy(value or Strategy.RECENCY)


def parse_policy(policy: session_pb2.SessionPolicy) -> Policy:
    return Policy(
        auto_prune_tokens=at_least("policy.auto_prune_tokens", policy.auto_prune_tokens, 0),
        strategy=strategy_of("policy.strategy", policy.strategy),
        model=optional_id("policy.model", policy.model),
        summarize=policy.summarize,
        retention=parse_retention("policy.retention", policy.retention) if policy.HasField("retention") else None,
    )


def policy_of(policy: Policy | None) -> session_pb2.SessionPolicy | None:
    if policy is None:
        return None
    return session_pb2.SessionPolicy(
        auto_prune_tokens=policy.auto_prune_tokens,
        strategy=cast("PruneStrategy", policy.strategy.value),
        model=policy.model,
        summarize=policy.summarize,
        retention=retention_of(policy.retention),
    )


def retention_of(retention: Retention | None) -> session_pb2.Retention | None:
    if retention is None:
        return None
    encoded = session_pb2.Retention()
    for name in RETAINED:
        limit: RetentionLimit = getattr(retention, name)
        if limit:
            limits = session_pb2.RetentionLimits(max_age_seconds=limit.max_age_seconds, max_count=limit.max_count)
            getattr(encoded, name).CopyFrom(limits)
    return encoded


def parse_retention(field: str, retention: session_pb2.Retention) -> Retention:
    return Retention(**{name: _parse_limit(f"{field}.{name}", getattr(retention, name)) for name in RETAINED})


def _parse_limit(field: str, limits: session_pb2.RetentionLimits) -> RetentionLimit:
    max_age_seconds = at_least(f"{field}.max_age_seconds", limits.max_age_seconds, 0)
    if max_age_seconds > MAX_AGE_SECONDS:
        raise InvalidField(f"{field}.max_age_seconds", f"must be at most {MAX_AGE_SECONDS}")
    return RetentionLimit(max_age_seconds, at_least(f"{field}.max_count", limits.max_count, 0))


def session_of(
    head: SessionHead, policy: Policy | None, retention: Retention, budget: TokenBudget, watermarks: Mapping[str, int]
) -> session_pb2.Session:
    return session_pb2.Session(
        namespace=head.key.namespace,
        user_id=head.user_id,
        session_id=head.key.session_id,
        create_time=timestamp_of(head.create_time_us),
        last_active=timestamp_of(head.last_active_us),
        stats=stats_of(head, budget),
        policy=policy_of(policy),
        watermarks=watermarks,
        retention=retention_of(retention or None),
    )


def user_of(user: UserActivity) -> session_pb2.User:
    last_active = timestamp_of(user.last_active_us) if user.session_count else None
    return session_pb2.User(user_id=user.user_id, session_count=user.session_count, last_active=last_active)


def receipt_of(erased: ErasureCounts, index_rows: int, dry_run: bool) -> session_pb2.ErasureReceipt:
    return session_pb2.ErasureReceipt(
        messages=erased.messages,
        index_rows=index_rows,
        facts=erased.facts,
        summaries=erased.summaries,
        artifacts=erased.artifacts,
        documents=erased.documents,
        sessions=erased.sessions,
        dry_run=dry_run,
    )


def share(field: str, value: float) -> float:
    if not 0 <= value <= 1:
        raise InvalidField(field, "must be between 0 and 1")
    return value
