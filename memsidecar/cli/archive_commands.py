"""`memsidecar export` and `memsidecar import`. A sidecar that restarts meanwhile does not end them."""

from __future__ import annotations

import sys
import threading
import time
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.json_format import MessageToJson
from tqdm import tqdm

from memsidecar.cli.archive_file import STANDARD, ArchiveWriter, FileProblem
from memsidecar.cli.archive_source import ArchiveSource, LocatedRecord
from memsidecar.cli.check import FAILED, WRONG_USAGE, credentials, error_details, open_channel
from memsidecar.cli.client_options import ClientOptions, UsageError, client_options
from memsidecar.domain.errors import SidecarError
from memsidecar.settings.client import client_environment
from memsidecar.v1 import session_pb2_grpc
from memsidecar.v1.session_pb2 import ArchiveRecord, ExportRequest, ImportRequest, ImportResponse

MAX_UNACKNOWLEDGED = 1_000
"Records that are sent before the sidecar has acknowledged earlier ones. They are kept, to be sent again."
MAX_UNACKNOWLEDGED_BYTES = 8 << 20
INTERRUPTED = 130
_RATE_LIMITED = "RATE_LIMITED"
PAUSE_SECONDS = 0.5


class TransferFailed(SidecarError):
    """The sidecar refused the transfer, or stayed unavailable."""


@dataclass
class ArchiveStub:
    """The stub of SessionService on a channel that is opened again after each failure."""

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
            raise TransferFailed(f"{place}{error.code().name}: {error.details()}") from None


def is_transient(error: grpc.RpcError) -> bool:
    """Tell whether a retry may succeed."""
    return error.code() == grpc.StatusCode.UNAVAILABLE or error_details(error).reason == _RATE_LIMITED


def run_export(arguments: Namespace) -> int:
    """Write an archive, and return the exit code."""
    return _run("export", lambda: _export(arguments))


def run_import(arguments: Namespace) -> int:
    """Import a file, and return the exit code."""
    return _run("import", lambda: _import(arguments))


def _run(name: str, command: Any) -> int:
    try:
        print(command(), file=sys.stderr)
    except (UsageError, FileProblem, TransferFailed) as error:
        print(f"memsidecar {name}: {error}", file=sys.stderr)
        return WRONG_USAGE if isinstance(error, UsageError) else FAILED
    except BrokenPipeError:
        return FAILED
    except KeyboardInterrupt:
        print(f"memsidecar {name}: interrupted", file=sys.stderr)
        return INTERRUPTED
    return 0


def _progress_bar(description: str, initial: int = 0) -> Any:
    return tqdm(desc=description, unit=" records", initial=initial, disable=None, file=sys.stderr)


def _export(arguments: Namespace) -> str:
    options = client_options(arguments, client_environment())
    request = ExportRequest(namespace=options.namespace, user_id=arguments.user, session_id=arguments.session)
    stub = ArchiveStub(options)
    if arguments.out == STANDARD:
        return f"exported {_export_to_stdout(stub, request)} records"
    scope = ", ".join([f"namespace {options.namespace}", *_named(arguments)])
    writer = ArchiveWriter(Path(arguments.out), scope, resume=arguments.resume)
    try:
        _export_to_file(stub, request, writer)
    finally:
        writer.close()
    return f"exported {writer.checkpoint.records} records to {arguments.out}"


def _named(arguments: Namespace) -> list[str]:
    given = (("user", arguments.user), ("session", arguments.session))
    return [f"{name} {value}" for name, value in given if value]


def _export_to_file(stub: ArchiveStub, request: ExportRequest, writer: ArchiveWriter) -> None:
    with _progress_bar("exporting", writer.checkpoint.records) as bar:

        def transfer(sessions: Any, metadata: Any) -> None:
            request.cursor = cursor = writer.checkpoint.cursor
            for response in sessions.Export(request, metadata=metadata):
                writer.add(MessageToJson(response.record, indent=None, ensure_ascii=False))
                cursor = response.cursor
                stub.progressed()
                if writer.needs_checkpoint:
                    bar.update(writer.save(cursor))
            bar.update(writer.save(cursor))

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


@dataclass
class Outbox:
    """The records of a file that are not acknowledged yet. A new stream sends them again, then the rest.

    One thread reads the file, ahead of the stream. No lock is held while it waits for standard input.
    """

    records: Iterator[LocatedRecord]
    namespace: str
    override_erasures: bool
    problem: BaseException | None = None
    _unacknowledged: deque[tuple[int, ImportRequest]] = field(default_factory=deque)
    _bytes: int = 0
    _sent: int = 0
    "How many of them the newest stream has sent."
    _stream: int = 0
    _is_complete: bool = False
    _is_ended: bool = False
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def start(self) -> None:
        """Begin to read. The thread does not keep the process from ending: a read may last forever."""
        threading.Thread(target=self._read, name="archive-reader", daemon=True).start()

    def _read(self) -> None:
        try:
            for number, record in self.records:
                if not self._put(number, record):
                    return
        except FileProblem as problem:
            self.problem = problem
        finally:
            with self._changed:
                self._is_complete = True
                self._changed.notify_all()

    def _put(self, number: int, record: ArchiveRecord) -> bool:
        """Add a record when there is room for it; return whether more are wanted."""
        request = ImportRequest(namespace=self.namespace, record=record, override_erasures=self.override_erasures)
        with self._changed:
            self._changed.wait_for(lambda: self._is_ended or not self._is_full())
            self._unacknowledged.append((number, request))
            self._bytes += request.ByteSize()
            self._changed.notify_all()
            return not self._is_ended

    def _is_full(self) -> bool:
        return len(self._unacknowledged) >= MAX_UNACKNOWLEDGED or self._bytes > MAX_UNACKNOWLEDGED_BYTES

    def requests(self) -> Iterator[ImportRequest]:
        """Yield the requests of a new stream. Called on a thread of gRPC; an older stream ends."""
        with self._changed:
            self._stream += 1
            self._sent = 0
            stream = self._stream
            self._changed.notify_all()
        while (request := self._next(stream)) is not None:
            yield request

    def _next(self, stream: int) -> ImportRequest | None:
        with self._changed:
            self._changed.wait_for(lambda: self._is_complete or stream != self._stream or self._has_unsent())
            if stream != self._stream or not self._has_unsent():
                return None
            self._sent += 1
            return self._unacknowledged[self._sent - 1][1]

    def _has_unsent(self) -> bool:
        return self._sent < len(self._unacknowledged)

    def acknowledge(self, count: int) -> None:
        with self._changed:
            for _ in range(count):
                self._bytes -= self._unacknowledged.popleft()[1].ByteSize()
            self._sent -= count
            self._changed.notify_all()

    def end(self) -> None:
        """End all streams, and the thread that reads as soon as it has read a record."""
        with self._changed:
            self._is_ended = True
            self._stream += 1
            self._changed.notify_all()

    @property
    def first_line(self) -> int:
        """The line of the first record that is not acknowledged; 0 if there is none."""
        with self._changed:
            return self._unacknowledged[0][0] if self._unacknowledged else 0


def _import(arguments: Namespace) -> str:
    options = client_options(arguments, client_environment())
    source = ArchiveSource(arguments.file, arguments.format, arguments.user, arguments.session)
    outbox = Outbox(source.open(), options.namespace, arguments.override_erasures)
    total = ImportResponse()
    stub = ArchiveStub(options)

    def transfer(sessions: Any, metadata: Any) -> None:
        before = ImportResponse()
        for response in sessions.Import(outbox.requests(), metadata=metadata):
            count = response.durable_count - before.durable_count
            outbox.acknowledge(count)
            total.durable_count += count
            total.duplicate_count += response.duplicate_count - before.duplicate_count
            total.forgotten_count += response.forgotten_count - before.forgotten_count
            before = response
            bar.update(count)
            stub.progressed()

    def place() -> str:
        return f"{arguments.file}, line {outbox.first_line}: " if outbox.first_line else ""

    with _progress_bar("importing") as bar:
        outbox.start()
        try:
            stub.run(transfer, place)
        finally:
            outbox.end()
    if outbox.problem is not None:
        raise outbox.problem
    return (
        f"imported {total.durable_count} records: {total.duplicate_count} were there already, "
        f"{total.forgotten_count} were left out because they had been erased"
    )
