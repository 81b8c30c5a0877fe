"""`memsidecar serve`: start, warm up, drain, stop."""

import asyncio
import gc
import json
import logging
import resource
import signal
import sys
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress

import uvloop

from memsidecar.api.executors import Executors
from memsidecar.api.handlers import HandlerFactory, Service
from memsidecar.api.interceptors.concurrency import InFlightCounter, InFlightLimits
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.knowledge_service import KnowledgeService
from memsidecar.api.memory_service import MemoryService
from memsidecar.api.search import SearchHandler
from memsidecar.api.server import EPISODIC, Addresses, Server
from memsidecar.api.session_service import SessionService
from memsidecar.assembly import components
from memsidecar.assembly.layers import Layers, context_api, open_layers
from memsidecar.assembly.security import SecurityFiles, admission, open_security_files
from memsidecar.assembly.storage import drop_unused_index, open_index, open_journal, page_key
from memsidecar.layers.episodic import EpisodicMemory
from memsidecar.layers.episodic.hits import ChunkSearcher
from memsidecar.layers.page_tokens import EncryptedPageTokens
from memsidecar.settings import Settings
from memsidecar.tokens.registry import Counters

log = logging.getLogger(__name__)

RETRY_SECONDS = 10
GIL_TURN_SECONDS = 0.001


def run_serve(settings: Settings) -> int:
    """Run until told to stop; the exit code."""
    _allow_many_files()
    # An Add needs the GIL some four times on its way, and waits a turn for each while something learns in the
    # background. Python's own 5 ms add up.
    sys.setswitchinterval(GIL_TURN_SECONDS)
    with ExitStack() as opened:
        doors = open_security_files(settings)
        counters = components.counters(settings)
        journal = open_journal(settings, doors.quota)
        opened.callback(journal.close)
        drop_unused_index(settings)
        limits = _limits(settings)
        layers = open_layers(settings, journal, counters, limits, opened)
        uvloop.run(_run(settings, layers, counters, doors, limits))
    return 0


def _allow_many_files() -> None:
    """Each connection is one, and the usual 1,024 are soon used up by callers who do nothing but stay."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(ValueError, OSError):  # some systems promise more than they give
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


async def _run(
    settings: Settings, layers: Layers, counters: Counters, doors: SecurityFiles, limits: InFlightLimits
) -> None:
    stopping = _on_signals()
    executors = Executors(settings.read_threads, shared=settings.access_file is not None)
    server = _server(settings, layers, executors, doors, limits)
    addresses = await server.start(settings.listen, settings.health_listen)
    _announce(addresses)
    with _beside(_warm(settings, layers, counters, server)), _beside(doors.watch()):
        await stopping.wait()
    log.info("draining for at most %s seconds", settings.drain_seconds)
    await server.stop(settings.drain_seconds)
    executors.close()
    log.info("stopped")


def _on_signals() -> asyncio.Event:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping


def _limits(settings: Settings) -> InFlightLimits:
    return InFlightLimits(
        InFlightCounter(settings.max_concurrent_calls, "calls"),
        InFlightCounter(settings.max_concurrent_streams, "streams"),
    )


def _server(
    settings: Settings, layers: Layers, executors: Executors, doors: SecurityFiles, limits: InFlightLimits
) -> Server:
    tls = doors.tls()
    return Server(
        _methods(settings, doors, limits),
        _services(settings, layers, executors),
        settings.max_request_bytes,
        tls.authenticator() if tls else None,
    )


def _methods(settings: Settings, doors: SecurityFiles, limits: InFlightLimits) -> HandlerFactory:
    return HandlerFactory(
        RequestLog(settings.log_calls, settings.slow_call_seconds),
        limits,
        Deadlines(settings.default_deadline_seconds, settings.max_deadline_seconds),
        admission(settings, doors),
    )


def _services(settings: Settings, layers: Layers, executors: Executors) -> tuple[Service, ...]:
    memory, episodic = layers.working, layers.episodic
    find_chunks = ChunkSearcher(episodic.hits, episodic.limits.weights)
    return (
        MemoryService(
            memory,
            executors,
            settings.max_batch_messages,
            SearchHandler(memory, episodic, executors, EncryptedPageTokens(page_key(settings))),
            context_api(settings, layers, find_chunks, executors),
        ),
        SessionService(memory, executors, layers.watermarks, is_indexed=settings.index != "off"),
        KnowledgeService(
            executors=executors,
            facts=layers.facts,
            artifacts=layers.artifacts,
            documents=layers.documents,
            read=memory.read,
            summary_updater=layers.summary_updater,
            procedural=layers.procedural,
            find_chunks=find_chunks,
            documents_top_k=settings.documents_top_k,
            documents_top_k_max=settings.documents_top_k_max,
        ),
    )


def _announce(addresses: Addresses) -> None:
    """The ready line: the one thing on standard output, for whoever started us."""
    ready = {"event": "ready", "listen": str(addresses.listen)}
    if addresses.health_listen is not None:
        ready["health_listen"] = str(addresses.health_listen)
    print(json.dumps(ready), flush=True)


@contextmanager
def _beside(work: Coroutine[None, None, None]) -> Iterator[None]:
    """Work that goes on while callers are answered."""
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()


async def _warm(settings: Settings, layers: Layers, counters: Counters, server: Server) -> None:
    """The vocabulary first, because every Add needs it; a call that is quicker waits for it. Then retrieval."""
    await asyncio.to_thread(counters.default.warm)
    while settings.index != "off" and not await _open_retrieval(settings, layers.episodic, server):
        await asyncio.sleep(RETRY_SECONDS)
    # What lives as long as the process need not be walked by every full collection.
    gc.collect()
    gc.freeze()


async def _open_retrieval(settings: Settings, episodic: EpisodicMemory, server: Server) -> bool:
    """Whether it is open now; search answers from recent messages alone until then."""
    try:
        await asyncio.to_thread(episodic.open, lambda: open_index(settings))
    except Exception:  # the edge of a background loop: nobody else would learn of it
        log.exception("retrieval cannot be opened, and is tried again in %s seconds", RETRY_SECONDS)
        return False
    await server.set_serving(EPISODIC)
    return True
