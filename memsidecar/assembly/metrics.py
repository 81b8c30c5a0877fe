"""Composition of the metrics: which statistics are read at a scrape, which are sampled, and the page of both."""

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from memsidecar import __version__
from memsidecar.api.handlers import HandlerFactory
from memsidecar.assembly.components import Language
from memsidecar.assembly.layers import Layers
from memsidecar.assembly.security import SecurityFiles
from memsidecar.domain.statistics import CacheStatistics
from memsidecar.http.application import Page
from memsidecar.http.exchange import Exchange, HttpResponse
from memsidecar.layers.background import Lag
from memsidecar.layers.episodic.indexer import TASK as INDEXING
from memsidecar.metrics import definitions as metrics
from memsidecar.metrics import samples, sources
from memsidecar.metrics.definitions import Point
from memsidecar.metrics.exposition import Exposition, PointSource
from memsidecar.metrics.sampler import Sampler
from memsidecar.settings import Settings

RETENTION = "retention"


@dataclass(frozen=True)
class MetricSources:
    """The parts of a sidecar whose statistics are exported."""

    settings: Settings
    layers: Layers
    files: SecurityFiles
    factory: HandlerFactory

    def in_memory(self) -> list[PointSource]:
        """Return the sources that a scrape reads itself."""
        layers, factory = self.layers, self.factory
        return [
            lambda: (metrics.BUILD.point(1, __version__),),
            lambda: sources.call_points(factory.statistics),
            lambda: sources.in_flight_points(factory.limits),
            lambda: sources.context_points(layers.contexts),
            lambda: sources.retrieval_points(layers.episodic.hits.statistics),
            lambda: sources.journal_points(layers.journal.statistics),
            lambda: sources.cache_points(self._caches),
            lambda: sources.memory_points(self._memory_parts),
            lambda: sources.failure_points(self._failures()),
            self._index_points,
            lambda: _language_points(layers.derived.language),
            self._certificate_points,
        ]

    def sampled(self) -> dict[str, PointSource]:
        """Return the sources that read the journal, the index or the disk."""
        journal, layers = self.layers.journal, self.layers
        runners = layers.derived.runners
        tasks = [INDEXING, *(name for runner in runners for name in runner.task_names)]

        def lags() -> Iterator[Point]:
            found = [*layers.episodic.lags(), *(lag for runner in runners for lag in runner.lags())]
            # What a fact task has read and not extracted yet is in its queue, which the runner does not know.
            last_lsns, fact_tasks = journal.last_lsns(), layers.derived.fact_tasks
            queued = [
                Lag(task.name, namespace, max(0, last_lsn - task.completed_lsn(namespace)), 0.0, "")
                for task in fact_tasks
                for namespace, last_lsn in last_lsns.items()
            ]
            return samples.lag_points(tasks, [*found, *queued])

        found: dict[str, PointSource] = {
            "the index": samples.TableSampler(layers.episodic.tables),
            "the lag of tasks": lags,
            "dead letters": lambda: samples.dead_letter_points(journal, tasks),
            "quotas": lambda: samples.quota_points(journal, self.files.limits.quota),
        }
        if self.settings.journal == "sqlite":
            found["the disk"] = lambda: samples.disk_points(journal, self.settings.data_dir)
        return found

    @property
    def _caches(self) -> dict[str, CacheStatistics]:
        derived = self.layers.derived
        return {
            "sessions": self.layers.working.session_cache.statistics,
            "partitions": self.layers.episodic.partitions.statistics,
            "facts": derived.facts.cache_statistics,
            "summaries": derived.summary_updater.store.cache_statistics,
            "hints": derived.procedural.cache_statistics,
            "artifacts": self.layers.artifacts.cache_statistics,
        }

    @property
    def _memory_parts(self) -> dict[str, sources.MemoryPart]:
        sessions, partitions = self.layers.working.session_cache, self.layers.episodic.partitions
        requests, responses = self.factory.admission.request_bytes, self.factory.admission.response_bytes
        parts = {
            "sessions": (sessions.size_bytes, sessions.max_bytes),
            "partitions": (partitions.size_bytes, partitions.max_bytes),
            "pending_responses": (responses.total, responses.max_bytes),
        }
        if self.layers.episodic.index is not None:
            parts["index"] = (self.layers.episodic.index.cache_bytes, self.settings.index_cache_bytes)
        return parts | ({"pending_requests": (requests.total, requests.max_bytes)} if requests else {})

    def _failures(self) -> Iterator[Mapping[str, int]]:
        yield self.layers.episodic.failures()
        yield from (runner.failures() for runner in self.layers.derived.runners)
        yield {RETENTION: self.layers.retention.failures}

    def _index_points(self) -> Iterator[Point]:
        episodic, measured = self.layers.episodic, sources.operation_points
        if self.settings.index != "off":
            yield metrics.INDEX_READY.point(int(episodic.ready))
        if episodic.index is not None:
            yield from measured(metrics.INDEX_CALL_DURATION, metrics.INDEX_CALL_FAILURES, episodic.index.calls)

    def _certificate_points(self) -> Iterator[Point]:
        certificates = self.files.certificates
        if certificates is not None and certificates.value.expires is not None:
            yield metrics.CERTIFICATE_EXPIRY.point(certificates.value.expires)


def _language_points(language: Language) -> Iterator[Point]:
    model, measured = language.model, sources.operation_points
    extractor = "model" if model else "rules"
    duration, failures = metrics.EXTRACTION_DURATION, metrics.EXTRACTION_FAILURES
    yield from measured(duration, failures, language.extractor.statistics, extractor)
    duration, failures = metrics.SUMMARY_DURATION, metrics.SUMMARY_FAILURES
    yield from measured(duration, failures, language.fallback.statistics, "extractive")
    if model is not None:
        yield from measured(duration, failures, language.summarizer.statistics, "model")
        yield metrics.MODEL_REQUESTS.point(model.stats.answers, "answered")
        yield metrics.MODEL_REQUESTS.point(model.stats.failures, "failed")
        yield metrics.MODEL_TOKENS.point(model.stats.prompt_tokens, "input")
        yield metrics.MODEL_TOKENS.point(model.stats.completion_tokens, "output")


def are_measured(settings: Settings) -> bool:
    """Return whether calls are measured: only where a listener shows it."""
    return settings.metrics == "on" and settings.http_listen is not None


@contextmanager
def open_metrics(found: MetricSources) -> Iterator[dict[str, Page]]:
    """Sample while the block runs, and yield the page /metrics; none if nothing is measured.

    Pages are rendered on a thread, one at a time: so many scrapes cost calls no more than one.
    """
    if not are_measured(found.settings):
        yield {}
        return
    sampler = Sampler(found.sampled())
    exposition = Exposition([*found.in_memory(), sampler.points])
    renderer = ThreadPoolExecutor(1, "metrics")

    async def page(exchange: Exchange) -> HttpResponse:
        rendering = asyncio.get_running_loop().run_in_executor(renderer, exposition.render, exchange.header("accept"))
        content_type, body = await rendering
        return HttpResponse(200, content_type, body)

    sampler.start()
    try:
        yield {"/metrics": page}
    finally:
        sampler.stop()
        renderer.shutdown(wait=False, cancel_futures=True)
