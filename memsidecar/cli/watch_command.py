"""`memsidecar watch`: print the events of a namespace, a user or a session as they happen."""

from __future__ import annotations

from collections.abc import Iterator

import click

from memsidecar.cli.command import SidecarCommand, UsageError
from memsidecar.cli.output import FAINT, Output, local_time
from memsidecar.cli.sidecar_calls import CallFailed, SidecarCalls, session_option, user_option, with_sidecar
from memsidecar.v1.session_pb2 import EVENT_KIND_HEARTBEAT, EventKind, WatchRequest, WatchResponse

_STYLES = {"ADDED": "green", "FORGOTTEN": "red", "CLEARED": "red", "PRUNED": "yellow"}


@click.command(
    cls=SidecarCommand,
    examples=("memsidecar watch --count 1", "memsidecar watch --user ann --count 2 | grep ADDED"),
)
@user_option("Events of this user only.")
@session_option("Events of this session only.")
@click.option("--cursor", default="", metavar="CURSOR", help="Begin after the event with this cursor. Default: now.")
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="End after N events. Default: never.")
@click.option("--heartbeats", is_flag=True, help="Print heartbeats, too; they count as events.")
@with_sidecar
def watch(
    calls: SidecarCalls,
    output: Output,
    *,
    user: str,
    session: str,
    cursor: str,
    count: int | None,
    heartbeats: bool,
) -> None:
    """Print events as they happen, until interrupted: one line for each, without any content."""
    request = WatchRequest(namespace=calls.namespace, user_id=user, session_id=session, cursor=cursor)
    try:
        _print_events(calls.stream("Watch", request), output, count, heartbeats=heartbeats)
    except CallFailed as error:
        if error.field != "cursor":
            raise
        raise UsageError(f"{error}. Without --cursor, the events begin now") from None


def _print_events(events: Iterator[WatchResponse], output: Output, count: int | None, *, heartbeats: bool) -> None:
    printed = 0
    for event in events:
        if event.kind == EVENT_KIND_HEARTBEAT and not heartbeats:
            continue
        if output.is_json:
            output.record(event)
        else:
            _print(output, event)
        printed += 1
        if printed == count:
            return


def _print(output: Output, event: WatchResponse) -> None:
    kind = EventKind.Name(event.kind).removeprefix("EVENT_KIND_")
    named = (("user", event.user_id), ("session", event.session_id), ("id", event.id))
    words = [f"{name} {value}" for name, value in named if value]
    sequence = f" #{event.sequence}" if event.sequence else ""
    output.line(
        (local_time(event.time), FAINT),
        (f"  {kind.lower():<10}", f"bold {_STYLES.get(kind, '')}"),
        (f"{', '.join(words)}{sequence}", ""),
    )
