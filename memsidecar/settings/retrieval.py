"""Settings of retrieval and of the language model: index, embedder, ranking, documents, model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from memsidecar.domain.byte_size import GIB, KIB, MIB
from memsidecar.settings.types import (
    Bytes,
    Chunks,
    Dimensions,
    Messages,
    Milliseconds,
    Name,
    OptionalFile,
    Requests,
    Seconds,
    Threads,
    Tokens,
    Url,
    Weight,
)

_WEIGHT = "Weight in a hybrid ranking: "


class RetrievalSettings(BaseModel):
    """Settings of the index, the embedder and ranking. See docs/retrieval.md for how the weights were chosen."""

    index: Literal["lancedb", "volatile", "off"] = Field(
        default="lancedb",
        description="The index for Search: lancedb on disk; volatile in RAM, rebuilt at each start (always used with a "
        "volatile journal); or off, and only recent messages are ranked.",
    )
    index_linger_ms: Milliseconds = Field(
        default=250.0,
        ge=0,
        le=60_000,
        description="Milliseconds that messages may wait to be indexed in one batch. Searches find them before that "
        "too.",
    )
    index_cache_bytes: Bytes = Field(
        default=16 * MIB,
        ge=1 * MIB,
        le=64 * GIB,
        description="RAM in bytes for LanceDB's own caches, whose default is gigabytes.",
    )
    episodic_memory_bytes: Bytes = Field(
        default=96 * MIB,
        ge=1 * MIB,
        le=64 * GIB,
        description="RAM in bytes for the messages of users who search, which are then ranked exactly and fastest. A "
        "user with more than fits (about 600 bytes a message) is searched by the index.",
    )
    vector_index_messages: Messages = Field(
        default=200_000,
        ge=256,
        le=1_000_000_000,
        description="Messages of a namespace from which on their vectors have an index on disk (IVF). With fewer, the "
        "vectors are compared one by one, which is exact and slower.",
    )

    embedder: Literal["static", "onnx", "openai", "client"] = Field(
        default="static",
        description="Source of vectors: static, the model inside the package; onnx, a sentence-transformers export in "
        "a directory (memsidecar[onnx]); openai, any endpoint with /v1/embeddings (Ollama, vLLM, TEI ...); or client, "
        "with each message. A change re-indexes in the background.",
    )
    embedder_url: Url = Field(
        default="",
        validate_default=True,
        description="Base address of the openai embedder, such as http://127.0.0.1:11434/v1.",
    )
    embedder_model: Name = Field(
        default="",
        validate_default=True,
        description="Model name in requests to the openai embedder, or directory of the onnx embedder's model, with "
        "model.onnx and tokenizer.json.",
    )
    embedder_dimensions: Dimensions = Field(
        default=256,
        ge=1,
        le=8_192,
        description="Length of a vector. The static model supports 64, 128 and 256; others must return this length.",
    )
    embedder_key_file: OptionalFile = Field(
        default=None, description="File with the API key of the openai embedder, if it requires one. Read at start."
    )
    embedder_timeout_seconds: Seconds = Field(
        default=10.0,
        gt=0,
        le=600,
        description="Timeout in seconds of one request to the openai embedder, after which it is retried.",
    )

    embedder_threads: Threads = Field(
        default=1,
        ge=1,
        le=64,
        description="Maximum threads that compute vectors of the onnx embedder at the same time. A search needs one "
        "for about 10 milliseconds, and indexing uses one.",
    )

    rank_keyword_context: Weight = Field(
        default=2.0, ge=0, le=100, description=_WEIGHT + "the message and its neighbours have the query's words."
    )
    rank_semantic: Weight = Field(default=1.0, ge=0, le=100, description=_WEIGHT + "the message is similar in meaning.")
    rank_semantic_context: Weight = Field(
        default=2.0, ge=0, le=100, description=_WEIGHT + "the message and its neighbours are."
    )
    rank_speaker: Weight = Field(default=1.5, ge=0, le=100, description=_WEIGHT + "the query names the speaker.")
    rank_session: Weight = Field(
        default=1.0, ge=0, le=100, description=_WEIGHT + "another message of its session matches well."
    )

    chunk_size: Tokens = Field(
        default=300, ge=16, le=8_192, description="Maximum tokens of one chunk of a document, by the default tokenizer."
    )
    chunk_overlap: Tokens = Field(
        default=50,
        validate_default=True,
        ge=0,
        le=4_096,
        description="Maximum tokens that a chunk repeats of the previous one, so that text at the border is found. At "
        "most half of chunk_size.",
    )
    documents_top_k: Chunks = Field(
        default=3, ge=1, le=1_000, description="Chunks that SearchDocuments returns when the request sets no number."
    )
    documents_top_k_max: Chunks = Field(
        default=20,
        validate_default=True,
        ge=1,
        le=1_000,
        description="Maximum chunks that SearchDocuments returns, and that a context retrieves.",
    )
    max_document_bytes: Bytes = Field(
        default=3 * MIB,
        ge=KIB,
        le=64 * MIB,
        description="Maximum document in bytes. It must fit into a request, so max_request_bytes bounds it too.",
    )

    @field_validator("embedder_url")
    @classmethod
    def _require_url(cls, url: str, settings: ValidationInfo) -> str:
        if settings.data.get("embedder") == "openai" and not url:
            raise ValueError("is empty: expected the address of the openai embedder")
        return url

    @field_validator("embedder_model")
    @classmethod
    def _require_model(cls, model: str, settings: ValidationInfo) -> str:
        if settings.data.get("embedder") == "openai" and not model:
            raise ValueError("is empty: expected the name of the openai embedder's model")
        if settings.data.get("embedder") == "onnx" and not model:
            raise ValueError("is empty: expected the directory of the onnx embedder's model")
        return model

    @field_validator("chunk_overlap")
    @classmethod
    def _check_overlap(cls, overlap: int, settings: ValidationInfo) -> int:
        if overlap * 2 > settings.data.get("chunk_size", overlap * 2):
            raise ValueError("is more than half of chunk_size: chunks would mostly repeat each other")
        return overlap

    @field_validator("documents_top_k_max")
    @classmethod
    def _check_top_k(cls, maximum: int, settings: ValidationInfo) -> int:
        if maximum < settings.data.get("documents_top_k", maximum):
            raise ValueError("is less than documents_top_k")
        return maximum


class LanguageSettings(BaseModel):
    """Settings of the language model. Without one, rules extract facts and summaries quote the messages."""

    model_url: Url = Field(
        default="",
        description="Base address of a language model with /v1/chat/completions (Ollama, vLLM, hosted ...), such as "
        "http://127.0.0.1:11434/v1. All messages are sent there. Empty: no model; rules extract facts and summaries.",
    )
    model_name: Name = Field(
        default="",
        validate_default=True,
        description="Model name in requests to model_url. Facts and summaries name it as their origin.",
    )
    model_key_file: OptionalFile = Field(
        default=None, description="File with the API key of the model, if it requires one. Read at start."
    )
    model_timeout_seconds: Seconds = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="Timeout in seconds of one request to the model, after which it is retried. It works in the "
        "background, so no client waits; a model on a slow machine needs more.",
    )
    model_concurrency: Requests = Field(
        default=1,
        ge=1,
        le=64,
        description="Maximum concurrent requests to the model. The default is 1, because a model on the same machine "
        "answers concurrent requests no sooner, and shares its processor with the agent.",
    )

    @field_validator("model_name")
    @classmethod
    def _check_model_name(cls, name: str, settings: ValidationInfo) -> str:
        # An invalid address is reported already.
        if "model_url" not in settings.data:
            return name
        if settings.data["model_url"] and not name:
            raise ValueError("is empty: expected the name of the model at model_url")
        if name and not settings.data["model_url"]:
            raise ValueError("is given without model_url: expected both, or none")
        return name
