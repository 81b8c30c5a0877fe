"""`memsidecar export` and `memsidecar import`. A sidecar that restarts meanwhile does not end them."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
import grpc
from google.protobuf.json_format import MessageToJson

from memsidecar.cli.archive_file import STANDARD, ArchiveWriter
from memsidecar.cli.archive_source import AUTO, FORMATS, ArchiveSource
from memsidecar.cli.check import credentials, error_details, open_channel
from memsidecar.cli.client_options import ClientFlags, ClientOptions, client_options, with_client_flags
from memsidecar.cli.command import SidecarCommand
from memsidecar.cli.outbox import Outbox
from memsidecar.cli.progress import progress_bar
from memsidecar.cli.sidecar_calls import CallFailed
from memsidecar.domain.errors import SidecarError
from memsidecar.settings.client import client_environment
from memsidecar.v1 import session_pb2_grpc
from memsidecar.v1.session_pb2 import ExportRequest, ImportResponse

_RATE_LIMITED = "RATE_LIMITED"
PAUSE_SECONDS = 0.5


class TransferFailed(SidecarError):
    """The sidecar refused the transfer, or stayed unavailable."""


@dataclass
class ArchiveStub:
    """The stub of SessionService for one RPC, on a channel that is opened again after each failure."""

    rpc: str
    options: ClientOptions
    _last_progress: float = field(default_factory=time.monotonic)

    def run(self, transfer: Callable[[Any, Any], None], describe: Callable[[], str] = str) -> None:
        """Call `transfer` with the stub and the metadata until it returns.

        Raises TransferFailed for an error that a retry does not change, preceded by `describe()`.
        """
        while True:
            with open_channel(self.options) as channel:
                stub: Any = session_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]
                try:
                    transfer(stub, credentials(self.options.token))
                    return
                except grpc.RpcError as error:
                    self._check_retry(error, describe())
            time.sleep(PAUSE_SECONDS)

    def progressed(self) -> None:
        self._last_progress = time.monotonic()

    def _check_retry(self, error: grpc.RpcError, place: str) -> None:
        is_late = time.monotonic() - self._last_progress > self.options.ready_seconds
        if is_late or not is_transient(error):
            raise TransferFailed(f"{place}{CallFailed(self.rpc, error, self.options)}") from None


def is_transient(error: grpc.RpcError) -> bool:
    """Tell whether a retry may succeed."""
    return error.code() == grpc.StatusCode.UNAVAILABLE or error_details(error).reason == _RATE_LIMITED


_WAIT = "Seconds without progress, while the sidecar is unavailable, after which the command fails."


@click.command(
    cls=SidecarCommand,
    examples=(
        "memsidecar export --out memory.jsonl.gz",
        "memsidecar export --user ann --out - | grep Lisbon",
        "memsidecar export --session trip --out trip.jsonl",
    ),
)
@click.option("--user", default="", metavar="USER", help="Export this user only.")
@click.option("--session", default="", metavar="SESSION", help="Export this session only.")
@click.option(
    "--out",
    required=True,
    metavar="FILE",
    help="The archive to write: JSON lines, compressed if the name ends in .gz. - is standard output. While it is "
    "incomplete, it is named FILE.partial.",
)
@click.option("--resume", is_flag=True, help="Continue the export whose FILE.partial an interruption has left.")
@with_client_flags(namespace="Export this namespace.", timeout=_WAIT)
def export(flags: ClientFlags, user: str, session: str, out: str, resume: bool) -> None:
    """Write an archive of a namespace, a user or a session of a running sidecar."""
    options = client_options(flags, client_environment())
    request = ExportRequest(namespace=options.namespace, user_id=user, session_id=session)
    stub = ArchiveStub("Export", options)
    if out == STANDARD:
        _report(f"exported {_export_to_stdout(stub, request)} records")
        return
    named = [f"{name} {value}" for name, value in (("user", user), ("session", session)) if value]
    writer = ArchiveWriter(Path(out), ", ".join([f"namespace {options.namespace}", *named]), resume=resume)
    try:
        _export_to_file(stub, request, writer)
    finally:
        writer.close()
    _report(f"exported {writer.checkpoint.records} records to {out}")


def _report(outcome: str) -> None:
    # Standard output may be the archive.
    print(outcome, file=sys.stderr)


def _export_to_file(stub: ArchiveStub, request: ExportRequest, writer: ArchiveWriter) -> None:
    with progress_bar("exporting", initial=writer.checkpoint.records) as advance:

        def transfer(sessions: Any, metadata: Any) -> None:
            request.cursor = cursor = writer.checkpoint.cursor
            for response in sessions.Export(request, metadata=metadata):
                writer.add(MessageToJson(response.record, indent=None, ensure_ascii=False))
                cursor = response.cursor
                stub.progressed()
                if writer.needs_checkpoint:
                    advance(writer.save(cursor))
            advance(writer.save(cursor))

        def begin_again(sessions: Any, metadata: Any) -> None:
            writer.discard()
            transfer(sessions, metadata)

        stub.run(begin_again)
    writer.complete()


def _export_to_stdout(stub: ArchiveStub, request: ExportRequest) -> int:
    count = 0

    def transfer(sessions: Any, metadata: Any) -> None:
        nonlocal count
        for response in sessions.Export(request, metadata=metadata):
            sys.stdout.write(MessageToJson(response.record, indent=None, ensure_ascii=False) + "\n")
            request.cursor = response.cursor
            count += 1
            stub.progressed()
        sys.stdout.flush()

    stub.run(transfer)
    return count


@click.command(
    name="import",
    cls=SidecarCommand,
    examples=(
        "memsidecar import memory.jsonl.gz --namespace copy",
        "memsidecar import conversations.json --format chatgpt --user ann",
        "zcat memory.jsonl.gz | memsidecar import -",
    ),
)
@click.argument("file", metavar="FILE")
@click.option("--user", default="", metavar="USER", help="The user of conversations that name none. Not for archives.")
@click.option(
    "--session",
    default="",
    metavar="SESSION",
    help="The session of conversations that name none. Not for archives. Default: the name of the file.",
)
@click.option(
    "--format",
    "file_format",
    default=AUTO,
    metavar="FORMAT",
    help=f"One of {', '.join(FORMATS)}. Default: auto, which looks at the beginning of the file.",
)
@click.option(
    "--override-erasures",
    is_flag=True,
    help="Also import what was erased in this sidecar with DeleteSession, ForgetMessage or ForgetUser.",
)
@with_client_flags(namespace="Import into this namespace.", timeout=_WAIT)
def import_file(
    flags: ClientFlags, file: str, *, user: str, session: str, file_format: str, override_erasures: bool
) -> None:
    """Store an archive, or the chats of another system, in a running sidecar.

    FILE is the file to import, compressed or not. - is standard input.
    """
    options = client_options(flags, client_environment())
    outbox = Outbox(ArchiveSource(file, file_format, user, session).open(), options.namespace, override_erasures)
    total = _import(file, outbox, ArchiveStub("Import", options))
    if outbox.problem is not None:
        raise outbox.problem
    _report(
        f"imported {total.durable_count} records: {total.duplicate_count} were there already, "
        f"{total.forgotten_count} were left out because they had been erased"
    )


def _import(file: str, outbox: Outbox, stub: ArchiveStub) -> ImportResponse:
    total = ImportResponse()

    def transfer(sessions: Any, metadata: Any) -> None:
        before = ImportResponse()
        for response in sessions.Import(outbox.requests(), metadata=metadata):
            count = response.durable_count - before.durable_count
            outbox.acknowledge(count)
            total.durable_count += count
            total.duplicate_count += response.duplicate_count - before.duplicate_count
            total.forgotten_count += response.forgotten_count - before.forgotten_count
            before = response
            advance(count)
            stub.progressed()

    def place() -> str:
        return f"{file}, line {outbox.first_line}: " if outbox.first_line else ""

    with progress_bar("importing") as advance:
        outbox.start()
        try:
            stub.run(transfer, place)
        finally:
            outbox.end()
    return total
