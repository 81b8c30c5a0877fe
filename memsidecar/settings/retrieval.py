"""Index, embedder, ranking, model."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from memsidecar.domain.byte_size import GIB, KIB, MIB
from memsidecar.settings.types import (
    Bytes,
    Chunks,
    Dimensions,
    Milliseconds,
    Name,
    OptionalFile,
    Requests,
    Seconds,
    Tokens,
    Url,
    Weight,
)

_WEIGHT = "How much it counts in a hybrid ranking "


class RetrievalSettings(BaseModel):
    """What finds again what was said. See docs/retrieval.md for how the weights were chosen."""

    index: Literal["lancedb", "volatile", "off"] = Field(
        default="lancedb",
        description="Who keeps the index for Search: lancedb on disk; volatile in RAM, made anew at each start (always "
        "so beside a volatile journal); or off, and only recent messages are ranked.",
    )
    index_linger_ms: Milliseconds = Field(
        default=250.0,
        ge=0,
        le=60_000,
        description="Milliseconds that messages may gather before they are written to the index together. Searches "
        "find them before that all the same.",
    )
    index_cache_bytes: Bytes = Field(
        default=16 * MIB,
        ge=1 * MIB,
        le=64 * GIB,
        description="RAM in bytes for LanceDB's own caches, which would take gigabytes by themselves.",
    )
    episodic_memory_bytes: Bytes = Field(
        default=96 * MIB,
        ge=1 * MIB,
        le=64 * GIB,
        description="RAM in bytes for the memories of users who search, which are then ranked exactly and quickest. A "
        "user with more than fits (about 600 bytes a message) is answered from the index.",
    )

    embedder: Literal["static", "openai", "client"] = Field(
        default="static",
        description="Who makes vectors: static, the model inside the package; openai, any endpoint that speaks "
        "/v1/embeddings (Ollama, vLLM, TEI ...); or client, with each message. A change re-indexes in the background.",
    )
    embedder_url: Url = Field(
        default="",
        validate_default=True,
        description="Base address of the openai embedder, such as http://127.0.0.1:11434/v1.",
    )
    embedder_model: Name = Field(
        default="", validate_default=True, description="Model that the openai embedder is asked for."
    )
    embedder_dimensions: Dimensions = Field(
        default=256,
        ge=1,
        le=8_192,
        description="Length of a vector. The static model has 64, 128 or 256; for others it must be what they answer.",
    )
    embedder_key_file: OptionalFile = Field(
        default=None, description="File that holds the openai embedder's key, if it wants one. Read at start."
    )
    embedder_timeout_seconds: Seconds = Field(
        default=10.0,
        gt=0,
        le=600,
        description="Seconds that the openai embedder may take for one request before it is tried again.",
    )

    rank_keyword: Weight = Field(default=1.0, ge=0, le=100, description=_WEIGHT + "that a message has the words.")
    rank_keyword_around: Weight = Field(
        default=1.5, ge=0, le=100, description=_WEIGHT + "that it has them together with its neighbours."
    )
    rank_semantic: Weight = Field(default=1.0, ge=0, le=100, description=_WEIGHT + "that a message means the same.")
    rank_semantic_around: Weight = Field(
        default=1.0, ge=0, le=100, description=_WEIGHT + "that it does together with its neighbours."
    )
    rank_answers: Weight = Field(
        default=0.5, ge=0, le=100, description=_WEIGHT + "that it stands behind a question with the words."
    )
    rank_speaker: Weight = Field(default=1.5, ge=0, le=100, description=_WEIGHT + "that the query names who spoke.")
    rank_session: Weight = Field(
        default=1.0, ge=0, le=100, description=_WEIGHT + "that something else in its session matches well."
    )

    chunk_size: Tokens = Field(
        default=300, ge=16, le=8_192, description="Most tokens of one chunk of a document, by the default tokenizer."
    )
    chunk_overlap: Tokens = Field(
        default=50,
        validate_default=True,
        ge=0,
        le=4_096,
        description="Most tokens that a chunk repeats of the one before it, so that what stands on the border is "
        "found. At most half of chunk_size.",
    )
    documents_top_k: Chunks = Field(
        default=3, ge=1, le=1_000, description="Chunks that a search in documents answers when it names no number."
    )
    documents_top_k_max: Chunks = Field(
        default=5, validate_default=True, ge=1, le=1_000, description="Most chunks that a search in documents answers."
    )
    max_document_bytes: Bytes = Field(
        default=3 * MIB,
        ge=KIB,
        le=64 * MIB,
        description="Largest document in bytes. A request must hold it, so max_request_bytes bounds it, too.",
    )

    @field_validator("embedder_url")
    @classmethod
    def _with_an_address(cls, url: str, settings: ValidationInfo) -> str:
        if settings.data.get("embedder") == "openai" and not url:
            raise ValueError("is empty: expected the address of the openai embedder")
        return url

    @field_validator("embedder_model")
    @classmethod
    def _with_a_model(cls, model: str, settings: ValidationInfo) -> str:
        if settings.data.get("embedder") == "openai" and not model:
            raise ValueError("is empty: expected the name of the openai embedder's model")
        return model

    @field_validator("chunk_overlap")
    @classmethod
    def _less_than_half(cls, overlap: int, settings: ValidationInfo) -> int:
        if overlap * 2 > settings.data.get("chunk_size", overlap * 2):
            raise ValueError("is more than half of chunk_size: chunks would mostly repeat each other")
        return overlap

    @field_validator("documents_top_k_max")
    @classmethod
    def _no_less_than_the_default(cls, most: int, settings: ValidationInfo) -> int:
        if most < settings.data.get("documents_top_k", most):
            raise ValueError("is less than documents_top_k")
        return most


class LanguageSettings(BaseModel):
    """Who is asked. Without a model, rules find facts and summaries are made of what was said."""

    model_url: Url = Field(
        default="",
        description="Base address of a language model that speaks /v1/chat/completions (Ollama, vLLM, hosted ...), "
        "such as http://127.0.0.1:11434/v1. Whatever is said is sent there. Empty: no model, rules do what they can.",
    )
    model_name: Name = Field(
        default="",
        validate_default=True,
        description="Model that is asked for at model_url. Facts and summaries name it.",
    )
    model_key_file: OptionalFile = Field(
        default=None, description="File that holds the model's key, if it wants one. Read at start."
    )
    model_timeout_seconds: Seconds = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="Seconds that the model may take for one answer before it is asked again. It works in the "
        "background, so no caller waits; a model on a slow machine needs more.",
    )
    model_concurrency: Requests = Field(
        default=1,
        ge=1,
        le=64,
        description="Most requests to the model at once. One, because a model on the same machine answers many no "
        "sooner than one after the other, and shares its processor with the agent.",
    )

    @field_validator("model_name")
    @classmethod
    def _together_with_an_address(cls, name: str, settings: ValidationInfo) -> str:
        # An address that was refused is told already.
        if "model_url" not in settings.data:
            return name
        if settings.data["model_url"] and not name:
            raise ValueError("is empty: expected the name of the model at model_url")
        if name and not settings.data["model_url"]:
            raise ValueError("is given without model_url: expected both, or none")
        return name
