"""From settings to a running sidecar: the one room that names concrete parts. Opens in order, closes in reverse."""

import asyncio
import gc
import json
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import uvloop

from memsidecar.api.bridge import Bridge
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.limits import InFlight, Limits
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.memory_service import MemoryService
from memsidecar.api.methods import Methods
from memsidecar.api.searching import SearchApi
from memsidecar.api.server import Addresses, Server
from memsidecar.api.session_service import SessionService
from memsidecar.domain.errors import FatalStoreError, StartRefused
from memsidecar.layers.working import WorkingLimits, WorkingMemory
from memsidecar.settings import Settings
from memsidecar.stores.contract import Journal
from memsidecar.stores.journal import SqliteJournal
from memsidecar.stores.journal.doctor import examine
from memsidecar.stores.volatile import VolatileJournal
from memsidecar.tokens.custom import InvalidCounter
from memsidecar.tokens.registry import Counters

log = logging.getLogger(__name__)

DISK_FAILED = 74  # EX_IOERR


def serve(settings: Settings) -> int:
    """Run until told to stop; the exit code."""
    with ExitStack() as opened:
        journal = open_journal(settings)
        opened.callback(journal.close)
        counters = _counters(settings)
        memory = WorkingMemory(journal, counters, _limits(settings))
        uvloop.run(_run(settings, memory, counters))
    return 0


def _counters(settings: Settings) -> Counters:
    try:
        return Counters(settings.tokenizer)
    except InvalidCounter as error:
        raise StartRefused(str(error)) from error


def check(settings: Settings) -> int:
    """Examine the data directory; 0 when it is whole."""
    findings = examine(settings.data_dir)
    for finding in findings:
        print(finding)
    print(f"{settings.data_dir}: {'damaged' if findings else 'whole'}")
    return 1 if findings else 0


def open_journal(settings: Settings) -> Journal:
    if settings.journal == "volatile":
        log.warning("the journal is volatile: everything is forgotten at exit")
        return VolatileJournal()
    return SqliteJournal(
        settings.data_dir,
        read_connections=settings.read_threads + 1,
        longest_gap_seconds=settings.commit_gap_ms / 1000,
        checkpoint_bytes=settings.wal_checkpoint_bytes,
        ballast_bytes=settings.ballast_bytes,
        on_fatal=_stop_at_once,
    )


def _stop_at_once(error: FatalStoreError) -> None:
    """An fsync that failed cannot be retried: the kernel may have dropped the pages. Only a restart knows the truth."""
    log.critical("stopping: the journal's state on disk is unknown: %s", error)
    os._exit(DISK_FAILED)


def _limits(settings: Settings) -> WorkingLimits:
    return WorkingLimits(
        max_message_bytes=settings.max_message_bytes,
        memory_bytes=settings.working_memory_bytes,
        tail_messages=settings.working_tail_messages,
        prune_min_messages=settings.prune_min_messages,
        prune_window=settings.prune_window,
        auto_prune_target=settings.auto_prune_target,
        overflow_keep_tokens=settings.overflow_keep_tokens,
    )


async def _run(settings: Settings, memory: WorkingMemory, counters: Counters) -> None:
    stopping = _on_signals()
    bridge = Bridge(settings.read_threads)
    server = _server(settings, memory, bridge)
    addresses = await server.start(settings.listen, settings.health_listen)
    _announce(addresses)
    with _warming(bridge, counters):
        await stopping.wait()
    log.info("draining for at most %s seconds", settings.drain_seconds)
    await server.stop(settings.drain_seconds)
    bridge.close()
    log.info("stopped")


def _on_signals() -> asyncio.Event:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


def _server(settings: Settings, memory: WorkingMemory, bridge: Bridge) -> Server:
    methods = Methods(
        RequestLog(settings.log_calls, settings.slow_call_seconds),
        Limits(
            settings.max_request_bytes,
            InFlight(settings.max_concurrent_calls, "calls"),
            InFlight(settings.max_concurrent_streams, "streams"),
        ),
        Deadlines(settings.default_deadline_seconds),
    )
    services = (
        MemoryService(memory, bridge, settings.max_batch_messages, SearchApi(memory, bridge)),
        SessionService(memory, bridge),
    )
    return Server(methods, services, settings.max_request_bytes)


def _announce(addresses: Addresses) -> None:
    """The ready line: the one thing on standard output, for whoever started us."""
    ready = {"event": "ready", "listen": str(addresses.listen)}
    if addresses.health_listen is not None:
        ready["health_listen"] = str(addresses.health_listen)
    print(json.dumps(ready), flush=True)


@contextmanager
def _warming(bridge: Bridge, counters: Counters) -> Iterator[None]:
    """Load the vocabulary while the first callers are still connecting; a call that is quicker waits for it."""
    task = asyncio.ensure_future(bridge.reading(_warm, counters))
    try:
        yield
    finally:
        task.cancel()


def _warm(counters: Counters) -> None:
    counters.default.warm()
    # What lives as long as the process need not be walked by every full collection.
    gc.collect()
    gc.freeze()
