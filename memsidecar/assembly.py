"""From settings to a running sidecar: the one room that names concrete parts. Opens in order, closes in reverse."""

import asyncio
import gc
import json
import logging
import os
import shutil
import signal
from collections.abc import Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import cast

import uvloop
from tqdm import tqdm
from tqdm.contrib.logging import logging_redirect_tqdm

from memsidecar.api.bridge import Bridge
from memsidecar.api.interceptors.deadlines import Deadlines
from memsidecar.api.interceptors.limits import InFlight, Limits
from memsidecar.api.interceptors.request_log import RequestLog
from memsidecar.api.knowledge_service import KnowledgeService
from memsidecar.api.memory_service import MemoryService
from memsidecar.api.methods import Methods
from memsidecar.api.searching import SearchApi
from memsidecar.api.server import EPISODIC, Addresses, Server
from memsidecar.api.session_service import SessionService
from memsidecar.domain.errors import FatalStoreError, StartRefused
from memsidecar.embedding.invalid import InvalidEmbedder
from memsidecar.embedding.registry import ConfiguredEmbedders, EmbeddingChoice
from memsidecar.layers.documents.chunking import Chunking
from memsidecar.layers.documents.documents import Documents
from memsidecar.layers.documents.drafting import Drafting
from memsidecar.layers.episodic import EpisodicLimits, EpisodicMemory
from memsidecar.layers.episodic.chunks import ChunkFinding
from memsidecar.layers.episodic.ranking import Weights
from memsidecar.layers.episodic.reindexing import Reindexing
from memsidecar.layers.working import WorkingLimits, WorkingMemory
from memsidecar.settings import Settings, prepare_libraries
from memsidecar.stores.contract import Index, Journal
from memsidecar.stores.index.environment import ENVIRONMENT
from memsidecar.stores.index.memory import keep_little
from memsidecar.stores.journal import SqliteJournal
from memsidecar.stores.journal.doctor import examine
from memsidecar.stores.volatile import VolatileJournal
from memsidecar.stores.volatile.index import VolatileIndex
from memsidecar.tokens.custom import InvalidCounter
from memsidecar.tokens.registry import Counters

log = logging.getLogger(__name__)

DISK_FAILED = 74  # EX_IOERR
INDEX_FOLDER = "index"
RETRY_SECONDS = 10


@dataclass(frozen=True)
class Layers:
    """The memory, as the services see it."""

    working: WorkingMemory
    episodic: EpisodicMemory
    documents: Documents


def serve(settings: Settings) -> int:
    """Run until told to stop; the exit code."""
    with ExitStack() as opened:
        counters, embedders = _counters(settings), _embedders(settings)
        journal = open_journal(settings)
        opened.callback(journal.close)
        _drop_unused_index(settings)
        episodic = EpisodicMemory(journal, embedders, _episodic_limits(settings))
        opened.callback(episodic.close)
        layers = Layers(
            WorkingMemory(journal, counters, _limits(settings), episodic.relevance),
            episodic,
            Documents(journal, _document_drafting(settings, counters)),
        )
        uvloop.run(_run(settings, layers, counters))
    return 0


def _counters(settings: Settings) -> Counters:
    try:
        return Counters(settings.tokenizer)
    except InvalidCounter as error:
        raise StartRefused(str(error)) from error


def _embedders(settings: Settings) -> ConfiguredEmbedders:
    try:
        return ConfiguredEmbedders(
            EmbeddingChoice(
                kind=settings.embedder,
                dimensions=settings.embedder_dimensions,
                url=settings.embedder_url,
                model=settings.embedder_model,
                key=_key(settings),
                timeout_seconds=settings.embedder_timeout_seconds,
            )
        )
    except InvalidEmbedder as error:
        raise StartRefused(str(error)) from error


def _key(settings: Settings) -> str | None:
    file = settings.embedder_key_file
    try:
        return file.read_text().strip() if file else None
    except (OSError, UnicodeDecodeError) as error:
        raise StartRefused(f"embedder_key_file {file} cannot be read: {type(error).__name__}") from None


def open_index(settings: Settings) -> Index:
    """LanceDB takes seconds to import: by name and late, so that everything else answers meanwhile."""
    if settings.index == "volatile" or settings.journal == "volatile":
        return VolatileIndex()
    prepare_libraries(ENVIRONMENT)
    keep_little()
    lance = import_module("memsidecar.stores.index.lance")
    folder = settings.data_dir / INDEX_FOLDER
    return cast(Index, lance.LanceIndex(folder, memory_bytes=settings.index_cache_bytes))


def _drop_unused_index(settings: Settings) -> None:
    """Nobody would erase in it what is erased from now on. For whoever holds the directory, as the journal does."""
    folder = settings.data_dir / INDEX_FOLDER
    if settings.journal == "volatile" or settings.index == "lancedb" or not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except OSError as error:
        raise StartRefused(f"{folder} would keep what is erased, and cannot be removed: {error}") from error
    log.warning("removed %s: index is %s, so nobody would erase in it; lancedb makes it anew", folder, settings.index)


def check(settings: Settings) -> int:
    """Examine the data directory; 0 when it is whole."""
    findings = examine(settings.data_dir)
    for finding in findings:
        print(finding)
    print(f"{settings.data_dir}: {'damaged' if findings else 'whole'}")
    return 1 if findings else 0


def reindex(settings: Settings) -> int:
    """Make the index anew from the journal; 0 when it is complete."""
    if settings.journal == "volatile" or settings.index != "lancedb":
        raise StartRefused("there is no index on disk to make: journal or index are not kept there")
    if not settings.data_dir.is_dir():
        raise StartRefused(f"{settings.data_dir} is not a data directory")
    with ExitStack() as opened:
        embedders = _embedders(settings)
        journal = open_journal(settings)
        opened.callback(journal.close)
        index = open_index(settings)
        opened.callback(index.close)
        work = Reindexing(journal, index, embedders)
        opened.enter_context(logging_redirect_tqdm())
        bar = opened.enter_context(tqdm(total=work.total(), unit=" entries", desc="indexing"))
        work(bar.update)
    return 0


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
        vector_dimensions=settings.embedder_dimensions,
        memory_bytes=settings.working_memory_bytes,
        tail_messages=settings.working_tail_messages,
        prune_min_messages=settings.prune_min_messages,
        prune_window=settings.prune_window,
        auto_prune_target=settings.auto_prune_target,
        overflow_keep_tokens=settings.overflow_keep_tokens,
    )


def _episodic_limits(settings: Settings) -> EpisodicLimits:
    return EpisodicLimits(
        memory_bytes=settings.episodic_memory_bytes,
        linger_seconds=settings.index_linger_ms / 1000,
        weights=Weights(
            keyword=settings.rank_keyword,
            keyword_around=settings.rank_keyword_around,
            semantic=settings.rank_semantic,
            semantic_around=settings.rank_semantic_around,
            answers=settings.rank_answers,
            speaker=settings.rank_speaker,
            session=settings.rank_session,
        ),
    )


def _document_drafting(settings: Settings, counters: Counters) -> Drafting:
    chunking = Chunking(counters.default, settings.chunk_size, settings.chunk_overlap)
    return Drafting(chunking, settings.max_document_bytes)


async def _run(settings: Settings, layers: Layers, counters: Counters) -> None:
    stopping = _on_signals()
    bridge = Bridge(settings.read_threads)
    server = _server(settings, layers, bridge)
    addresses = await server.start(settings.listen, settings.health_listen)
    _announce(addresses)
    with _warming(_warm(settings, layers, counters, server)):
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


def _server(settings: Settings, layers: Layers, bridge: Bridge) -> Server:
    methods = Methods(
        RequestLog(settings.log_calls, settings.slow_call_seconds),
        Limits(
            settings.max_request_bytes,
            InFlight(settings.max_concurrent_calls, "calls"),
            InFlight(settings.max_concurrent_streams, "streams"),
        ),
        Deadlines(settings.default_deadline_seconds),
    )
    memory, episodic = layers.working, layers.episodic
    find_chunks = ChunkFinding(episodic.recall, episodic.limits.weights)
    top_k = settings.documents_top_k, settings.documents_top_k_max
    services = (
        MemoryService(memory, bridge, settings.max_batch_messages, SearchApi(memory, episodic, bridge)),
        SessionService(memory, bridge),
        KnowledgeService(layers.documents, find_chunks, bridge, *top_k),
    )
    return Server(methods, services, settings.max_request_bytes)


def _announce(addresses: Addresses) -> None:
    """The ready line: the one thing on standard output, for whoever started us."""
    ready = {"event": "ready", "listen": str(addresses.listen)}
    if addresses.health_listen is not None:
        ready["health_listen"] = str(addresses.health_listen)
    print(json.dumps(ready), flush=True)


@contextmanager
def _warming(work: Coroutine[None, None, None]) -> Iterator[None]:
    """What is loaded while the first callers are still connecting."""
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
