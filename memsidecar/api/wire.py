"""Between the contract's messages and the values of the house."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

import grpc.aio
from google.protobuf.message import DecodeError, Message
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.api.interceptors import Context
from memsidecar.domain.errors import InvalidField
from memsidecar.domain.ids import check_id, optional_id
from memsidecar.domain.session import DEFAULT_NAMESPACE, Policy, SessionHead, SessionKey, Strategy
from memsidecar.layers.working.sessions import TokenBudget
from memsidecar.stores.contract import ErasureCounts
from memsidecar.v1 import message_pb2, session_pb2
from memsidecar.v1.memory_pb2 import PruneStrategy

MAX_PAGE_SIZE = 1_000
DEFAULT_PAGE_SIZE = 100

_NAMESPACE_TAG = b"\x0a"  # field 1, a text
_LONGEST_VARINT = 6

M = TypeVar("M", bound=Message)
ScopeIds = tuple[str, str, str]
"Namespace, user and session of a request that need not name all of them."


class Namespaced(Protocol):
    """Every request names a namespace ..."""

    namespace: str


class Scoped(Namespaced, Protocol):
    """... and nearly every one whose memory it means, in the same fields."""

    user_id: str
    session_id: str


async def only_request(context: Context) -> bytes:
    data: Any = await context.read()
    if data is grpc.aio.EOF:
        raise InvalidField("request", "is missing: the call ended without one")
    return bytes(data)


def leading_namespace(data: bytes) -> str:
    """What stands where every encoder writes it, first; what a request is of decides in the end."""
    if data[:1] != _NAMESPACE_TAG:
        return DEFAULT_NAMESPACE
    length, shift, at = 0, 0, 1
    while at < min(len(data), _LONGEST_VARINT):
        length |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            break
    return data[at : at + length].decode("utf-8", "replace") or DEFAULT_NAMESPACE


def decode(kind: type[M], data: bytes) -> M:
    try:
        return kind.FromString(data)
    except DecodeError:
        raise InvalidField("request", f"is not a valid encoding of {kind.DESCRIPTOR.full_name}") from None


def namespace_of(request: Namespaced) -> str:
    return optional_id("namespace", request.namespace) or DEFAULT_NAMESPACE


def key_of(request: Scoped) -> SessionKey:
    optional_id("user_id", request.user_id)
    return SessionKey(namespace_of(request), check_id("session_id", request.session_id))


def scope_of(request: Scoped) -> ScopeIds:
    user_id, session_id = optional_id("user_id", request.user_id), optional_id("session_id", request.session_id)
    return namespace_of(request), user_id, session_id


def at_least(field: str, value: int, least: int) -> int:
    if value < least:
        raise InvalidField(field, f"must be at least {least}")
    return value


def limit_of(field: str, value: int, default: int, most: int) -> int:
    """Zero means the default, more than the maximum means the maximum."""
    return min(at_least(field, value, 0) or default, most)


def page_size_of(request_size: int) -> int:
    return limit_of("page_size", request_size, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)


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


def policy_of(policy: Policy | None) -> session_pb2.SessionPolicy | None:
    if policy is None:
        return None
    return session_pb2.SessionPolicy(
        auto_prune_tokens=policy.auto_prune_tokens,
        strategy=cast("PruneStrategy", policy.strategy.value),
        model=policy.model,
        summarize=policy.summarize,
    )


def session_of(
    head: SessionHead, policy: Policy | None, budget: TokenBudget, watermarks: Mapping[str, int]
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
    )


def receipt_of(gone: ErasureCounts, index_rows: int, dry_run: bool) -> session_pb2.ErasureReceipt:
    """Of a whole session."""
    return session_pb2.ErasureReceipt(
        messages=gone.messages,
        index_rows=index_rows,
        facts=gone.facts,
        summaries=gone.summaries,
        artifacts=gone.artifacts,
        documents=gone.documents,
        sessions=1,
        dry_run=dry_run,
    )
