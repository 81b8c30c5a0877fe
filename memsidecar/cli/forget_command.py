"""`memsidecar forget`: erase a user, a session or a message, after a dry run and a confirmation."""

from __future__ import annotations

import sys
from typing import Any

import click

from memsidecar.cli.client_options import Command
from memsidecar.cli.command import FAILED, CommandTree, UsageError
from memsidecar.cli.output import Column, Output
from memsidecar.cli.sidecar_calls import SidecarCalls, user_option, with_sidecar
from memsidecar.cli.visible_text import visible_line
from memsidecar.v1 import session_pb2 as session

_LAYERS = ("sessions", "messages", "index_rows", "facts", "summaries", "artifacts", "documents")


@click.group(cls=CommandTree, no_args_is_help=True)
def forget() -> None:
    """Erase a user, a session or a message from every layer and every file, for good.

    A dry run counts first what would be erased. Then the command asks on a terminal; elsewhere it needs --yes.
    """


def _with_confirmation(command: Command) -> Command:
    dry_run = click.option("--dry-run", is_flag=True, help="Only count what would be erased.")
    yes = click.option("--yes", is_flag=True, help="Erase without asking.")
    return dry_run(yes(with_sidecar(command)))


@forget.command(name="user", examples=("memsidecar forget user bob --dry-run", "memsidecar forget user bob --yes"))
@click.argument("user_id", metavar="USER")
@_with_confirmation
def forget_user(calls: SidecarCalls, output: Output, user_id: str, **given: bool) -> int:
    """Erase everything of a user: sessions, facts, patterns, summaries, artifacts and documents."""
    request = session.ForgetUserRequest(namespace=calls.namespace, user_id=user_id)
    return _erase(calls, output, "ForgetUser", request, f"user {user_id}", **given)


@forget.command(name="session", examples=("memsidecar forget session draft --yes",))
@click.argument("session_id", metavar="SESSION")
@user_option("The owner of the session. Another one is refused.")
@_with_confirmation
def forget_session(calls: SidecarCalls, output: Output, session_id: str, user: str, **given: bool) -> int:
    """Erase a session, and the facts that come from it only."""
    request = session.DeleteSessionRequest(namespace=calls.namespace, user_id=user, session_id=session_id)
    return _erase(calls, output, "DeleteSession", request, f"session {session_id}", **given)


@forget.command(name="message", examples=("memsidecar forget message trip m1 --yes",))
@click.argument("session_id", metavar="SESSION")
@click.argument("message_id", metavar="MESSAGE")
@user_option("The owner of the session. Another one is refused.")
@_with_confirmation
def forget_message(
    calls: SidecarCalls, output: Output, *, session_id: str, message_id: str, user: str, **given: bool
) -> int:
    """Erase a message, and what was derived from it only. The rest of its exchange is pruned."""
    request = session.ForgetMessageRequest(
        namespace=calls.namespace, user_id=user, session_id=session_id, message_id=message_id
    )
    return _erase(calls, output, "ForgetMessage", request, f"message {message_id} of session {session_id}", **given)


def _erase(calls: SidecarCalls, output: Output, rpc: str, request: Any, what: str, *, dry_run: bool, yes: bool) -> int:
    if dry_run and yes:
        raise UsageError("--dry-run and --yes exclude each other")
    what = f"{what} in namespace {calls.namespace}"
    if not yes:
        request.dry_run = True
        receipt = calls.call(rpc, request).receipt
        is_empty = not any(getattr(receipt, layer) for layer in _LAYERS)
        if output.is_json or not is_empty:
            _print(output, receipt, f"This would be erased of {what}:")
        if is_empty:
            output.note(f"Nothing is stored of {what}.")
        if dry_run or is_empty:
            return 0
        if not _is_confirmed(output, what):
            return FAILED
        request.dry_run = False
    _print(output, calls.call(rpc, request).receipt, f"Erased of {what}:")
    return 0


def _is_confirmed(output: Output, what: str) -> bool:
    if not sys.stdin.isatty():
        output.note("Nothing was erased: there is no terminal to ask on. Give --yes.")
        return False
    try:
        if click.confirm(f"Erase {visible_line(what)} for good?", err=True):
            return True
    except click.Abort:
        output.note("\nNothing was erased.")
        raise
    output.note("Nothing was erased.")
    return False


def _print(output: Output, receipt: session.ErasureReceipt, title: str) -> None:
    if output.is_json:
        output.record(receipt)
        return
    output.line((title, "bold"))
    columns = [Column(layer.replace("_", " "), is_number=True) for layer in _LAYERS]
    output.table(columns, [[f"{getattr(receipt, layer):,}" for layer in _LAYERS]])
