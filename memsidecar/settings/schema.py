"""Every setting: type, default, limits, and why it is there.

The description under a setting is its only documentation: `memsidecar serve --help`, `memsidecar settings` and
docs/settings.md are made from it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from memsidecar.domain.byte_size import GIB, KIB, MIB
from memsidecar.domain.network_address import Address
from memsidecar.settings.access import AccessSettings
from memsidecar.settings.context import ContextSettings
from memsidecar.settings.retrieval import LanguageSettings, RetrievalSettings
from memsidecar.settings.types import (
    Bytes,
    Calls,
    Directory,
    ListenAddress,
    Messages,
    Milliseconds,
    OptionalAddress,
    Seconds,
    Share,
    Streams,
    Threads,
    Tokenizer,
    Tokens,
)


class Settings(AccessSettings, ContextSettings, LanguageSettings, RetrievalSettings):
    """What one sidecar runs with. Frozen: nothing changes under a running server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    listen: ListenAddress = Field(
        default=Address(host="127.0.0.1", port=7600),
        description="Where the memory is served over gRPC. Beyond loopback and unix sockets only with TLS and an "
        "access file, because whoever reaches it reads every memory. Port 0 picks a free one.",
    )
    health_listen: OptionalAddress = Field(
        default=Address(host="127.0.0.1", port=7601),
        description="Where the gRPC health service, and nothing else, answers in the clear. May be wide, because the "
        "kubelet dials the pod's address. Empty: no such listener.",
    )
    data_dir: Directory = Field(
        default=Path("memsidecar-data"),
        description="Directory that holds the journal and all that is rebuilt from it. One process at a time; a "
        "relative path starts at the working directory.",
    )
    journal: Literal["sqlite", "volatile"] = Field(
        default="sqlite",
        description="Who keeps the messages: sqlite on disk, which survives power loss, or volatile in RAM, which "
        "forgets everything at exit and is meant for tests.",
    )

    log_format: Literal["text", "json"] = Field(
        default="text",
        description="Form of the log on standard error: text for a person, json for a collector. One line a record.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least severe record that is logged."
    )
    log_calls: Literal["failed_and_slow", "all", "none"] = Field(
        default="failed_and_slow",
        description="Which calls get a log line. A line for each costs about a quarter of the throughput, so by "
        "default only those worth reading do.",
    )
    slow_call_seconds: Seconds = Field(
        default=0.5, ge=0, le=3600, description="Seconds from which on a call counts as slow and is logged as such."
    )

    max_request_bytes: Bytes = Field(
        default=4 * MIB,
        ge=KIB,
        le=64 * MIB,
        description="Largest request in bytes; a larger one is refused with the limit in its error, and one of more "
        "than twice as much by gRPC itself. The default is gRPC's own.",
    )
    max_message_bytes: Bytes = Field(
        default=1 * MIB,
        ge=KIB,
        le=3 * MIB,
        description="Largest stored message in bytes. At most 3MiB, because no answer exceeds gRPC's default of 4MiB "
        "and each message must fit into one.",
    )
    max_batch_messages: Messages = Field(
        default=10_000,
        ge=1,
        le=1_000_000,
        description="Most messages in one batch. A batch is one transaction, and everybody else's commit waits for it.",
    )
    max_concurrent_calls: Calls = Field(
        default=256,
        ge=1,
        le=65_536,
        description="Most calls in progress together; one more is refused at once, to be retried, instead of queueing "
        "without bound.",
    )
    max_concurrent_streams: Streams = Field(
        default=32,
        ge=1,
        le=4_096,
        description="Most long-lived streams at once. Bounded apart from calls, because each stays for as long as its "
        "client does.",
    )
    default_deadline_seconds: Seconds = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="Seconds that a call may take when its caller set no deadline, so that a forgotten one does "
        "not stay for ever.",
    )
    drain_seconds: Seconds = Field(
        default=10.0,
        ge=0,
        le=3600,
        description="Seconds that calls in progress get to finish after SIGTERM. Keep it under the pod's termination "
        "grace period, after which the process is killed.",
    )
    read_threads: Threads = Field(
        default=4,
        ge=1,
        le=256,
        description="Threads that read from the journal at once. As many others wait for commits (Prune, Annotate "
        "...), so that no reader waits for somebody else's fsync.",
    )

    working_memory_bytes: Bytes = Field(
        default=32 * MIB,
        ge=1 * MIB,
        le=64 * GIB,
        description="RAM in bytes for the newest messages of the sessions in use. The least recently used give way; "
        "they stay in the journal.",
    )
    working_tail_messages: Messages = Field(
        default=512,
        ge=1,
        le=1_000_000,
        description="Most messages of one session whose bodies stay in RAM, so that one long session does not push "
        "out all others.",
    )

    commit_gap_ms: Milliseconds = Field(
        default=4.0,
        ge=0,
        le=1000,
        description="Longest wait in milliseconds between two commits, so that a group fills and shares one fsync. A "
        "lone caller never waits. 0 turns pacing off.",
    )
    wal_checkpoint_bytes: Bytes = Field(
        default=4 * MIB,
        ge=64 * KIB,
        le=1 * GIB,
        description="Size in bytes of the write-ahead log at which it is folded into the database: smaller keeps reads "
        "fast and the disk free, larger writes less.",
    )
    ballast_bytes: Bytes = Field(
        default=8 * MIB,
        ge=0,
        le=1 * GIB,
        description="Bytes held in reserve on disk, at most half of what is free, and given up when it is full, so "
        "that erasing, which must write first, works then too: twice wal_checkpoint_bytes. 0 keeps none.",
    )

    tokenizer: Tokenizer = Field(
        default="o200k_base",
        description="Counter of tokens for messages and sessions where no model is named. chars4 estimates four "
        "characters a token; module:function is one's own.",
    )
    prune_min_messages: Messages = Field(
        default=2,
        ge=1,
        le=1_000_000,
        description="Newest messages that pruning never removes, even when they leave the session over its budget: a "
        "model needs the question it is to answer.",
    )
    prune_window: Messages = Field(
        default=5,
        ge=1,
        le=1_000_000,
        description="Newest messages that the window strategy keeps when the request names no number.",
    )
    auto_prune_target: Share = Field(
        default=0.8,
        gt=0,
        le=1,
        description="Share of the policy's budget that automatic pruning leaves filled. Under 1, so that it does not "
        "run again at the very next message and the provider's cache lives longer.",
    )
    overflow_keep_tokens: Tokens = Field(
        default=128,
        ge=2,
        le=1_000_000,
        description="Tokens that a shortened tool result keeps after a provider refused the context: half from its "
        "head, half from its tail, where the outcome usually stands.",
    )

    @field_validator("listen")
    @classmethod
    def _wide_only_when_safe(cls, listen: Address, settings: ValidationInfo) -> Address:
        missing = [name for name in ("tls_certificate_file", "access_file") if not settings.data.get(name)]
        if missing and not listen.is_local and settings.data.get("insecure_listen") != "allow":
            raise ValueError(
                f"would listen beyond this machine without {' and '.join(missing)}, and whoever reaches it reads every "
                "memory: set them, or listen on a loopback address such as 127.0.0.1:7600 or on unix:/path "
                "(insecure_listen = allow takes the risk)"
            )
        return listen

    @field_validator("health_listen")
    @classmethod
    def _apart_from_listen(cls, health_listen: Address | None, settings: ValidationInfo) -> Address | None:
        # Port 0 is never the same port twice.
        listens_there = health_listen is not None and health_listen == settings.data.get("listen")
        if health_listen is not None and listens_there and (health_listen.port or health_listen.unix_path):
            raise ValueError("is the address of `listen` too: expected another one, or empty for none")
        return health_listen
