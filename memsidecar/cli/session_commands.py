"""`memsidecar sessions`, `users`, `show` and `stats`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import click
from google.protobuf.struct_pb2 import Struct

from memsidecar.cli.command import FAILED, SidecarCommand
from memsidecar.cli.output import FAINT, ROLE_STYLES, Column, Output, local_time
from memsidecar.cli.sidecar_calls import SidecarCalls, limit_option, user_option, with_sidecar
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.message_pb2 import Message, Role

INDEX_TASK = "episodic"
_SESSION_COLUMNS = (
    Column("session", "bold"),
    Column("user"),
    Column("messages", is_number=True),
    Column("pruned", is_number=True),
    Column("tokens", is_number=True),
    Column("last active", FAINT),
)
_USER_COLUMNS = (Column("user", "bold"), Column("sessions", is_number=True), Column("last active", FAINT))
_USAGE_COLUMNS = (
    Column("resource"),
    Column("stored", is_number=True),
    Column("limit", is_number=True),
    Column("used", is_number=True),
)
_QUOTA_RESOURCES = ("sessions", "messages", "bytes")


@click.command(
    cls=SidecarCommand,
    examples=(
        "memsidecar sessions",
        "memsidecar sessions --user ann --limit 5",
        "memsidecar sessions --limit 0 | wc -l",
    ),
)
@user_option("Sessions of this user only.")
@limit_option(50, "sessions")
@with_sidecar
def sessions(calls: SidecarCalls, output: Output, user: str, limit: int) -> None:
    """List the sessions of a namespace, the most recently active first."""
    request = session.ListSessionsRequest(namespace=calls.namespace, user_id=user)
    found = list(calls.items("ListSessions", request, "sessions", limit))
    output.items(found, _SESSION_COLUMNS, _session_row)
    if not found:
        output.note(f"there is no session in namespace {calls.namespace}")
    elif len(found) == limit:
        output.note(f"These are the first {limit}: give --limit for more.")


def _session_row(each: session.Session) -> tuple[str, ...]:
    stats = each.stats
    return (
        each.session_id,
        each.user_id,
        f"{stats.message_count:,}",
        f"{stats.pruned_count:,}",
        f"{stats.tokens:,}",
        local_time(each.last_active),
    )


@click.command(
    cls=SidecarCommand,
    examples=(
        "memsidecar users",
        "memsidecar users --prefix an --limit 5",
        "memsidecar users --namespace default --limit 0 | wc -l",
    ),
)
@click.option("--prefix", default="", metavar="PREFIX", help="Users whose id begins with this only.")
@limit_option(50, "users")
@with_sidecar
def users(calls: SidecarCalls, output: Output, prefix: str, limit: int) -> None:
    """List the users of a namespace: those that own sessions, facts or documents.

    They are in the order of their ids.
    """
    request = session.ListUsersRequest(namespace=calls.namespace, user_id_prefix=prefix)
    found = list(calls.items("ListUsers", request, "users", limit))
    output.items(found, _USER_COLUMNS, _user_row)
    if not found:
        output.note(f"there is no {'such ' if prefix else ''}user in namespace {calls.namespace}")
    elif len(found) == limit:
        output.note(f"These are the first {limit}: give --limit for more.")


def _user_row(each: session.User) -> tuple[str, ...]:
    return each.user_id, f"{each.session_count:,}", local_time(each.last_active)


@click.command(
    cls=SidecarCommand,
    examples=(
        "memsidecar show trip",
        "memsidecar show trip --last 4",
        "memsidecar show trip --pruned --limit 0 | grep Lisbon",
    ),
)
@click.argument("session_id", metavar="SESSION")
@user_option("The owner of the session. Another one is refused.")
@click.option("--last", type=click.IntRange(min=1), metavar="N", help="The newest N messages of the window only.")
@click.option("--pruned", is_flag=True, help="Show pruned messages, too.")
@limit_option(200, "messages, from the oldest on,")
@with_sidecar
def show(
    calls: SidecarCalls, output: Output, *, session_id: str, user: str, last: int | None, pruned: bool, limit: int
) -> None:
    """Print the messages of a session, oldest first."""
    owner: dict[str, Any] = {"namespace": calls.namespace, "user_id": user, "session_id": session_id}
    if last is not None:
        messages = list(calls.call("GetRecent", memory.GetRecentRequest(**owner, n=last)).messages)
    else:
        request = memory.GetAllRequest(**owner, include_pruned=pruned)
        messages = list(calls.items("GetAll", request, "messages", limit))
    for message in messages:
        if output.is_json:
            output.record(message)
        else:
            print_message(output, message)
    if not messages:
        output.note(f"session {session_id} in namespace {calls.namespace} has no messages")
    elif last is None and len(messages) == limit:
        output.note(f"These are the oldest {limit}: give --limit for more, or --last for the newest.")


def print_message(output: Output, message: Message) -> None:
    """Print a message as its head, its text and its tool calls."""
    role = Role.Name(message.role).removeprefix("ROLE_").lower()
    head = [(role, f"bold {ROLE_STYLES.get(role, '')}"), (f" {message.name}" if message.name else "", "bold")]
    facts = [
        f"#{message.sequence}" if message.sequence else "",
        local_time(message.create_time),
        f"{message.tokens} tokens",
        message.id,
        f"score {message.evaluation_score:g}" if message.HasField("evaluation_score") else "",
        f"answers {message.tool_call_id}" if message.tool_call_id else "",
        _metadata(message.metadata),
    ]
    output.line(*head, (f" {'  '.join(filter(None, facts))}", FAINT))
    if message.content:
        output.text(message.content)
    for call in message.tool_calls:
        output.line((f"-> {call.name}({call.arguments_json}) {call.id}", "magenta"))
    output.text("")


def _metadata(metadata: Struct) -> str:
    return " ".join(f"{name}={_scalar(value)}" for name, value in dict[str, Any](metadata).items())


def _scalar(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@click.command(
    cls=SidecarCommand,
    examples=(
        "memsidecar stats",
        "memsidecar stats --namespace default --table",
        "memsidecar stats trip",
        "memsidecar stats --user ann",
    ),
)
@click.argument("session_id", metavar="[SESSION]", required=False)
@user_option("Sessions of this user only; with SESSION its owner.")
@with_sidecar
def stats(calls: SidecarCalls, output: Output, session_id: str | None, user: str) -> int | None:
    """Count the messages and tokens of a session, or of all sessions of a user or of the namespace.

    For a namespace it also prints what is stored, beside the quota.
    """
    if session_id is None:
        _print_totals(calls, output, user)
        return None
    request = session.GetSessionRequest(namespace=calls.namespace, user_id=user, session_id=session_id)
    found = calls.call("GetSession", request)
    if not found.HasField("session"):
        output.note(f"there is no session {session_id} in namespace {calls.namespace}")
        return FAILED
    if output.is_json:
        output.record(found.session)
    else:
        _print_session(output, found.session)
    return None


def _print_session(output: Output, found: session.Session) -> None:
    counts = found.stats
    owner = f", user {found.user_id}" if found.user_id else ""
    output.line((found.session_id, "bold"), (f"{owner}, last active {local_time(found.last_active)}", ""))
    by_role = [
        (role, getattr(counts.count_by_role, role), getattr(counts.tokens_by_role, role)) for role in ROLE_STYLES
    ]
    rows = [(role, f"{count:,}", f"{tokens:,}") for role, count, tokens in by_role if count]
    rows.append(("all", f"{counts.message_count:,}", f"{counts.tokens:,}"))
    output.table((Column("role"), Column("messages", is_number=True), Column("tokens", is_number=True)), rows)
    output.line((f"{counts.pruned_count:,} messages are pruned.", ""))
    if counts.budget_tokens:
        output.line((f"{counts.budget_used:.0%} of the budget of {counts.budget_tokens:,} tokens is in use.", ""))
    behind = sorted((task, counts.last_sequence - done) for task, done in found.watermarks.items())
    lag = ", ".join(f"{task} {count}" for task, count in behind if count > 0)
    output.line((f"Not processed yet: {lag or 'nothing'}.", ""))


def _print_totals(calls: SidecarCalls, output: Output, user: str) -> None:
    request = session.ListSessionsRequest(namespace=calls.namespace, user_id=user)
    totals = Counter[str]()
    user_ids = set()
    for each in calls.items("ListSessions", request, "sessions", 0):
        user_ids.add(each.user_id)
        totals.update(
            sessions=1,
            messages=each.stats.message_count,
            pruned=each.stats.pruned_count,
            tokens=each.stats.tokens,
            unindexed=each.stats.last_sequence - each.watermarks.get(INDEX_TASK, each.stats.last_sequence),
        )
    names = ("sessions", "messages", "pruned", "tokens", "unindexed")
    counts = {"users": len(user_ids - {""}), **{name: totals[name] for name in names}}
    usage = None if user else calls.call("GetUsage", session.GetUsageRequest(namespace=calls.namespace))
    if output.is_json:
        limits = {} if usage is None else {"usage": _amounts(usage.usage), "quota": _amounts(usage.quota)}
        output.counts({**counts, **limits})
        return
    output.table([Column(name, is_number=True) for name in counts], [[f"{count:,}" for count in counts.values()]])
    if usage is not None:
        output.table(_USAGE_COLUMNS, [_usage_row(usage, resource) for resource in _QUOTA_RESOURCES])


def _amounts(amounts: session.NamespaceUsage | session.NamespaceQuota) -> dict[str, int]:
    return {resource: getattr(amounts, resource) for resource in _QUOTA_RESOURCES}


def _usage_row(found: session.GetUsageResponse, resource: str) -> tuple[str, ...]:
    stored, limit = getattr(found.usage, resource), getattr(found.quota, resource)
    return resource, f"{stored:,}", f"{limit:,}" if limit else "none", f"{stored / limit:.0%}" if limit else ""
