"""`memsidecar serve`: start, warm up, drain, stop."""

import asyncio
import gc
import json
import logging
import os
import resource
import signal
import sys
import threading
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

import uvloop

from memsidecar.api.add import AddHandlers
from memsidecar.api.archive_export import ExportHandler
from memsidecar.api.archive_import import ImportHandler
from memsidecar.api.archive_record import RecordParser
from memsidecar.api.artifacts import ArtifactHandlers
from memsidecar.api.documents import DocumentHandlers
from memsidecar.api.executors import Executors
from memsidecar.api.facts import FactHandlers
from memsidecar.api.handlers import HandlerFactory, Service
from memsidecar.api.interceptors.call_spans import CallSpans
from memsidecar.api.interceptors.call_statistics import CallStatistics
from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.knowledge_service import KnowledgeService, PatternHandler, SummaryHandlers
from memsidecar.api.memory_service import MemoryService
from memsidecar.api.page_tokens import PageTokens
from memsidecar.api.search import SearchHandler
from memsidecar.api.server import EPISODIC, Addresses, Server
from memsidecar.api.session_service import SessionService
from memsidecar.api.watch import EventStreams
from memsidecar.api.watch_feed import WatchHub
from memsidecar.api.watch_throttle import DeliveryThrottle
from memsidecar.assembly import components
from memsidecar.assembly.http import open_http
from memsidecar.assembly.layers import Layers, build_context_handler, open_layers
from memsidecar.assembly.metrics import MetricSources, are_measured, open_metrics
from memsidecar.assembly.security import SecurityFiles, admission, open_security_files
from memsidecar.assembly.storage import drop_unused_index, open_index, open_journal, page_key
from memsidecar.domain.network_address import Address
from memsidecar.domain.quota import QuotaLookup
from memsidecar.http.application import health_pages
from memsidecar.http.console_pages import console_pages
from memsidecar.layers.archive.export import Exporter
from memsidecar.layers.episodic import EpisodicMemory
from memsidecar.layers.episodic.hits import ChunkSearcher
from memsidecar.settings import Settings
from memsidecar.spans import Tracer
from memsidecar.stores.contract import EventPage, Scope
from memsidecar.tokens.registry import CounterRegistry

log = logging.getLogger(__name__)

RETRY_SECONDS = 10
GIL_SWITCH_SECONDS = 0.001
GC_ALLOCATIONS = 10_000
"Allocations between garbage collections. Python collects every 700, several times in a BuildContext."


def run_serve(settings: Settings) -> int:
    """Run until SIGTERM or SIGINT and return the exit code."""
    _raise_file_limit()
    # An Add acquires the GIL about four times, and waits up to one switch interval each time while a background task
    # computes. Python's default is 5 ms.
    sys.setswitchinterval(GIL_SWITCH_SECONDS)
    with ExitStack() as opened:
        files = open_security_files(settings)
        tracer = components.tracer(settings)
        if tracer is not None:
            opened.callback(tracer.close)
        counters = components.counters(settings)
        journal = open_journal(settings, files.limits.quota)
        opened.callback(journal.close)
        drop_unused_index(settings)
        limits = _limits(settings)
        layers = open_layers(settings, journal, counters, limits, opened)
        factory = _handler_factory(settings, files, limits, tracer)
        uvloop.run(_run(settings, layers, counters, files, factory))
    log.info("stopped")
    _exit_if_threads_compute()
    return 0


def _exit_if_threads_compute() -> None:
    """Exit at once if a thread still opens the index, or computes an answer for a call that has ended.

    Python would wait for it. The journal is closed, and the index may be left at any point.
    """
    if any(not thread.daemon for thread in threading.enumerate() if thread is not threading.main_thread()):
        logging.shutdown()
        os._exit(0)


def _raise_file_limit() -> None:
    """Raise the limit on open files. Each connection is one, and the usual 1,024 are soon used up by idle ones."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems report a hard limit that they do not grant
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _run(
    settings: Settings, layers: Layers, counters: CounterRegistry, files: SecurityFiles, factory: HandlerFactory
) -> None:
    stopping, limits = _on_signals(), factory.limits
    executors = Executors(settings.read_threads, shared=settings.access_file is not None)
    streams = _event_streams(settings, layers, executors, limits)
    services = _services(settings, layers, executors, limits, streams, quota_of=files.limits.quota)
    server = _server(settings, files, factory, services)
    pages = {**health_pages(lambda: limits.calls.draining), **console_pages()}
    with open_metrics(MetricSources(settings, layers, files, factory)) as metrics:
        async with open_http(settings, files.http_tls(), factory, services, pages | metrics) as http:
            addresses = await server.start(settings.listen, settings.health_listen)
            if http is not None:
                http.start()
            _announce(addresses, http.address if http else None)
            with _background(_warm(settings, layers, counters, server, executors)), _background(files.watch()):
                await stopping.wait()
            log.info("draining for at most %s seconds", settings.drain_seconds)
            streams.hub.stop()
            await server.stop(settings.drain_seconds)
    executors.close()


def _on_signals() -> asyncio.Event:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


def _limits(settings: Settings) -> InFlightLimits:
    return InFlightLimits(
        InFlightCounter(settings.max_concurrent_calls, "calls"),
        InFlightCounter(settings.max_concurrent_streams, "streams"),
        InFlightCounter(settings.max_watchers, "Watch streams"),
    )


def _event_streams(settings: Settings, layers: Layers, executors: Executors, limits: InFlightLimits) -> EventStreams:
    async def indexed_lsn(namespace: str) -> int | None:
        return await executors.run_read(layers.episodic.completed_lsn, namespace)

    async def read_events(scope: Scope, after_lsn: int, limit: int) -> EventPage:
        return await executors.run_read(layers.journal.read_events, scope, after_lsn, limit)

    throttle = DeliveryThrottle(limits.load_probe(finished_calls=True).is_busy)
    return EventStreams(
        layers.journal,
        executors,
        PageTokens(page_key(settings)),
        WatchHub(layers.journal, read_events, indexed_lsn, throttle),
        settings.watch_heartbeat_seconds,
        is_indexed=settings.index != "off",
    )


def _server(settings: Settings, files: SecurityFiles, factory: HandlerFactory, services: Sequence[Service]) -> Server:
    tls = files.tls()
    return Server(factory, services, settings.max_request_bytes, tls.authenticator() if tls else None)


def _handler_factory(
    settings: Settings, files: SecurityFiles, limits: InFlightLimits, tracer: Tracer | None
) -> HandlerFactory:
    return HandlerFactory(
        RequestLog(settings.log_calls, settings.slow_call_seconds),
        limits,
        Deadlines(settings.default_deadline_seconds, settings.max_deadline_seconds),
        admission(settings, files),
        CallSpans(tracer),
        CallStatistics(is_enabled=are_measured(settings)),
    )


def _services(
    settings: Settings,
    layers: Layers,
    executors: Executors,
    limits: InFlightLimits,
    streams: EventStreams,
    *,
    quota_of: QuotaLookup,
) -> tuple[Service, ...]:
    memory, episodic, page_tokens = layers.working, layers.episodic, streams.page_tokens
    find_chunks = ChunkSearcher(episodic.hits, episodic.limits.weights)
    return (
        MemoryService(
            memory=memory,
            executors=executors,
            page_tokens=page_tokens,
            add=AddHandlers(memory, executors, settings.max_batch_messages),
            search=SearchHandler(memory, episodic, executors, page_tokens),
            build_context=build_context_handler(settings, layers, find_chunks, executors),
        ),
        SessionService(
            memory,
            executors,
            page_tokens,
            layers.watermarks,
            streams,
            quota_of,
            is_indexed=streams.is_indexed,
            archive_export=ExportHandler(
                Exporter(layers.journal, layers.derived.learned_until), executors, page_tokens, limits.streams
            ),
            archive_import=_import_handler(settings, layers, executors, limits),
        ),
        KnowledgeService(
            facts=FactHandlers(executors, layers.derived.facts, page_tokens),
            artifacts=ArtifactHandlers(executors, layers.artifacts, page_tokens),
            documents=DocumentHandlers(
                executors,
                layers.documents,
                find_chunks,
                page_tokens,
                default_limit=settings.documents_top_k,
                max_limit=settings.documents_top_k_max,
            ),
            summaries=SummaryHandlers(executors, memory.read, layers.derived.summary_updater),
            patterns=PatternHandler(executors, layers.derived.facts, layers.derived.procedural),
        ),
    )


def _import_handler(settings: Settings, layers: Layers, executors: Executors, limits: InFlightLimits) -> ImportHandler:
    validator = layers.working.add.validator
    return ImportHandler(
        parser=RecordParser(validator, layers.artifacts.validator, settings.max_message_bytes),
        memory=layers.working,
        facts=layers.derived.facts,
        artifacts=layers.artifacts,
        documents=layers.documents,
        summaries=layers.derived.summary_updater.store,
        executors=executors,
        streams=limits.streams,
    )


def _announce(addresses: Addresses, http_listen: Address | None) -> None:
    """Print the ready line for the parent process: the only line on standard output."""
    ready = {"event": "ready", "listen": str(addresses.listen)}
    if addresses.health_listen is not None:
        ready["health_listen"] = str(addresses.health_listen)
    if http_listen is not None:
        ready["http_listen"] = str(http_listen)
    print(json.dumps(ready), flush=True)


@contextmanager
def _background(work: Coroutine[None, None, None]) -> Iterator[None]:
    """Run a coroutine as a task while the block runs."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()


async def _warm(
    settings: Settings, layers: Layers, counters: CounterRegistry, server: Server, executors: Executors
) -> None:
    """Load the tokenizer, which every Add needs and waits for. Then open retrieval, with retries."""
    await executors.run_warming(counters.default.warm)
    while settings.index != "off" and not await _open_retrieval(settings, layers.episodic, server, executors):
        await asyncio.sleep(RETRY_SECONDS)
    # Objects that live as long as the process are exempted from garbage collection.
    gc.collect()
    gc.freeze()
    gc.set_threshold(GC_ALLOCATIONS)


async def _open_retrieval(settings: Settings, episodic: EpisodicMemory, server: Server, executors: Executors) -> bool:
    """Open the index and return whether it succeeded. Until then, Search ranks recent messages only."""
    try:
        await executors.run_warming(episodic.open, lambda: open_index(settings))
    except Exception:  # the edge of a background loop: logged and retried
        log.exception("retrieval cannot be opened; the next attempt is in %s seconds", RETRY_SECONDS)
        return False
    await server.set_serving(EPISODIC)
    return True
