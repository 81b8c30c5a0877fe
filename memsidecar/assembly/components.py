"""Factories: each returns one component, configured from the settings."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from math import ceil
from pathlib import Path

from memsidecar.context.budgets import Budgets
from memsidecar.domain.errors import StartRefused
from memsidecar.domain.retention import Retention, RetentionLimit
from memsidecar.embedding.contract import InvalidEmbedder
from memsidecar.embedding.registry import ConfiguredEmbedders, EmbedderConfig
from memsidecar.language.contract import InvalidModel
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.language.fact_model import ModelFactExtractor
from memsidecar.language.openai import OpenAIModel
from memsidecar.language.registry import LazyRules, ModelChoice, configured_model
from memsidecar.language.statistics import MeasuredExtractor, MeasuredSummarizer
from memsidecar.language.summary_model import ModelSummarizer
from memsidecar.layers.artifacts.artifact import ArtifactValidator
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.layers.artifacts.offload import Offloader
from memsidecar.layers.documents.chunker import Chunker
from memsidecar.layers.documents.documents import DocumentValidator
from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.query import Weights
from memsidecar.layers.summaries.update import SummaryPolicy
from memsidecar.layers.working.memory import WorkingLimits, WorkingMemory
from memsidecar.settings import Settings
from memsidecar.spans import Tracer
from memsidecar.stores.contract import Journal
from memsidecar.tokens.estimate import InvalidCounter
from memsidecar.tokens.registry import CounterRegistry

log = logging.getLogger(__name__)

_DAY_SECONDS = 86_400


def counters(settings: Settings) -> CounterRegistry:
    try:
        return CounterRegistry(settings.tokenizer)
    except InvalidCounter as error:
        raise StartRefused(str(error)) from error


def tracer(settings: Settings) -> Tracer | None:
    """Return the exporter of traces; None if there is no collector."""
    if not settings.otlp_endpoint:
        return None
    try:
        otlp = import_module("memsidecar.assembly.otlp")
    except ImportError as error:
        raise StartRefused(f"otlp_endpoint needs {error.name}: pip install 'memsidecar[tracing]'") from error
    opened: Tracer = otlp.OtlpTracer(settings.otlp_endpoint, settings.trace_sample_ratio, version("memsidecar"))
    return opened


def embedders(settings: Settings) -> ConfiguredEmbedders:
    try:
        return ConfiguredEmbedders(
            EmbedderConfig(
                kind=settings.embedder,
                dimensions=settings.embedder_dimensions,
                url=settings.embedder_url,
                model=settings.embedder_model,
                key=read_key_file("embedder_key_file", settings.embedder_key_file),
                timeout_seconds=settings.embedder_timeout_seconds,
                threads=settings.embedder_threads,
            )
        )
    except InvalidEmbedder as error:
        raise StartRefused(str(error)) from error


def read_key_file(name: str, file: Path | None) -> str | None:
    try:
        return file.read_text().strip() if file else None
    except (OSError, UnicodeDecodeError) as error:
        raise StartRefused(f"{name} {file} cannot be read: {type(error).__name__}") from None


@dataclass(frozen=True)
class Language:
    """Fact extraction and summaries: by the model if one is configured, else by rules. `fallback` needs no model."""

    extractor: MeasuredExtractor
    summarizer: MeasuredSummarizer
    fallback: MeasuredSummarizer
    model: OpenAIModel | None = None

    def log_usage(self) -> None:
        """Log the requests and tokens of the model, which its operator pays for."""
        if self.model is not None:
            log.info("the model %s: %s", self.model.name, self.model.stats)


def language(settings: Settings, counters: CounterRegistry, yield_cpu: Callable[[], None]) -> Language:
    count = counters.default.count
    extractive = MeasuredSummarizer(ExtractiveSummarizer(count, yield_cpu))
    model = _model(settings)
    if model is None:
        return Language(MeasuredExtractor(LazyRules()), extractive, extractive)
    extractor = MeasuredExtractor(ModelFactExtractor(model, count))
    return Language(extractor, MeasuredSummarizer(ModelSummarizer(model, count)), extractive, model)


def _model(settings: Settings) -> OpenAIModel | None:
    try:
        return configured_model(
            ModelChoice(
                url=settings.model_url,
                name=settings.model_name,
                key=read_key_file("model_key_file", settings.model_key_file),
                timeout_seconds=settings.model_timeout_seconds,
                concurrency=settings.model_concurrency,
            )
        )
    except InvalidModel as error:
        raise StartRefused(str(error)) from error


def working_limits(settings: Settings) -> WorkingLimits:
    return WorkingLimits(
        max_message_bytes=settings.max_message_bytes,
        vector_dimensions=settings.embedder_dimensions,
        memory_bytes=settings.working_memory_bytes,
        tail_messages=settings.working_tail_messages,
        prune_min_messages=settings.prune_min_messages,
        prune_window=settings.prune_window,
        auto_prune_target=settings.auto_prune_target,
        overflow_keep_tokens=settings.overflow_keep_tokens,
        retention=retention(settings),
    )


def retention(settings: Settings) -> Retention:
    def limit(max_age_days: float, max_count: int) -> RetentionLimit:
        return RetentionLimit(ceil(max_age_days * _DAY_SECONDS), max_count)

    return Retention(
        messages=limit(settings.retention_messages_max_age_days, settings.retention_messages_max_count),
        facts=limit(settings.retention_facts_max_age_days, settings.retention_facts_max_count),
        artifacts=limit(settings.retention_artifacts_max_age_days, settings.retention_artifacts_max_count),
        documents=limit(settings.retention_documents_max_age_days, settings.retention_documents_max_count),
    )


def episodic_limits(settings: Settings) -> EpisodicLimits:
    return EpisodicLimits(
        memory_bytes=settings.episodic_memory_bytes,
        linger_seconds=settings.index_linger_ms / 1000,
        weights=Weights(
            keyword_context=settings.rank_keyword_context,
            semantic=settings.rank_semantic,
            semantic_context=settings.rank_semantic_context,
            speaker=settings.rank_speaker,
            session=settings.rank_session,
        ),
    )


def document_validator(settings: Settings, counters: CounterRegistry) -> DocumentValidator:
    chunking = Chunker(counters.default, settings.chunk_size, settings.chunk_overlap)
    return DocumentValidator(chunking, settings.max_document_bytes)


def artifacts(settings: Settings, journal: Journal, working: WorkingMemory, counters: CounterRegistry) -> Artifacts:
    counter = counters.default
    offloading = Offloader(journal, working.window_updater, counter, settings.overflow_keep_tokens)
    return Artifacts(journal, ArtifactValidator(counter, settings.max_message_bytes), offloading)


def summary_policy(settings: Settings) -> SummaryPolicy:
    return SummaryPolicy(settings.summary_every_messages, settings.summary_tail_tokens, settings.summary_keep_messages)


def budgets(settings: Settings) -> Budgets:
    return Budgets(
        context=settings.context_budget,
        system=settings.system_budget,
        profile=settings.profile_budget,
        facts=settings.facts_budget,
        hints=settings.hints_budget,
        summary=settings.summary_budget,
        artifacts=settings.artifacts_budget,
        documents=settings.documents_budget,
        episodic=settings.episodic_budget,
        working=settings.working_max_tokens,
        derived=settings.memory_budget,
        facts_items=settings.facts_max,
        documents_items=settings.documents_top_k,
        documents_max_items=settings.documents_top_k_max,
        episodic_items=settings.episodic_top_k,
        episodic_max_items=settings.episodic_top_k_max,
        working_turns=settings.working_max_turns,
        working_min_turns=settings.working_min_turns,
        verbatim_messages=settings.summary_keep_messages,
        fill=settings.context_fill,
    )
