"""Settings of the server and working memory, and the class that holds all settings.

The description under a setting is its only documentation: `memsidecar serve --help`, `memsidecar settings` and
docs/settings.md are generated from it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, ValidationInfo, field_validator

from memsidecar.domain.byte_size import GIB, KIB, MIB
from memsidecar.domain.network_address import Address
from memsidecar.settings.access import AccessSettings
from memsidecar.settings.context import ContextSettings
from memsidecar.settings.retention import RetentionSettings
from memsidecar.settings.retrieval import LanguageSettings, RetrievalSettings
from memsidecar.settings.storage import StorageSettings
from memsidecar.settings.types import (
    Bytes,
    Calls,
    HostNames,
    ListenAddress,
    Messages,
    OptionalAddress,
    Seconds,
    Share,
    Streams,
    Threads,
    Tokenizer,
    Tokens,
    Url,
)


class Settings(
    AccessSettings, ContextSettings, LanguageSettings, RetentionSettings, RetrievalSettings, StorageSettings
):
    """All settings of one sidecar. Frozen: no setting changes while the server runs."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    listen: ListenAddress = Field(
        default=Address(host="127.0.0.1", port=7600),
        description="Address of the gRPC server. Beyond loopback and unix sockets only with TLS and an access file, "
        "because every client that reaches it could read all data. Port 0 picks a free one.",
    )
    health_listen: OptionalAddress = Field(
        default=Address(host="127.0.0.1", port=7601),
        description="Address of a second listener without TLS for the gRPC health service only. May be non-local, "
        "because the kubelet dials the pod's address. Empty: no such listener.",
    )
    http_listen: OptionalAddress = Field(
        default=Address(host="127.0.0.1", port=7680),
        description="Address of the HTTP listener: the RPCs as JSON (Connect protocol), /healthz, /readyz and "
        "/metrics, with the certificates and the access file of `listen`, and under the same condition beyond loopback "
        "and unix sockets. Empty: no such listener.",
    )
    http_hosts: HostNames = Field(
        default="",
        description="Host names by which HTTP clients address the sidecar, besides localhost and IP addresses. Without "
        "an access file, a request with another Host header is refused, because a web page could have caused it.",
    )
    log_format: Literal["text", "json"] = Field(
        default="text",
        description="Format of the log on standard error: text for a person, json for a collector. One line a record.",
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info", description="The least severe record that is logged."
    )
    log_calls: Literal["failed_and_slow", "all", "none"] = Field(
        default="failed_and_slow",
        description="Which calls get a log line. A line for each call costs about a quarter of the throughput.",
    )
    slow_call_seconds: Seconds = Field(
        default=0.5, ge=0, le=3600, description="Seconds from which on a call counts as slow and is logged as such."
    )

    metrics: Literal["on", "off"] = Field(
        default="on",
        description="Whether calls are measured and the HTTP listener serves /metrics, for Prometheus. Its labels name "
        "no tenant, user or session.",
    )
    otlp_endpoint: Url = Field(
        default="",
        description="URL of an OpenTelemetry collector that gets traces over OTLP/gRPC, such as http://127.0.0.1:4317. "
        "Needs the extra `tracing`. OTEL_EXPORTER_OTLP_HEADERS, _CERTIFICATE and _COMPRESSION apply. Empty: no traces.",
    )
    trace_sample_ratio: Share = Field(
        default=1.0,
        ge=0,
        le=1,
        description="Share of the calls without a trace of their caller that are traced. A call within a trace is "
        "traced if its caller's span is.",
    )

    max_request_bytes: Bytes = Field(
        default=4 * MIB,
        ge=KIB,
        le=64 * MIB,
        description="Maximum request in bytes. A larger one is rejected with the limit in its error, and one of more "
        "than twice the limit by gRPC itself. The default is gRPC's own.",
    )
    max_message_bytes: Bytes = Field(
        default=1 * MIB,
        ge=KIB,
        le=3 * MIB,
        description="Maximum stored message in bytes. At most 3MiB, because no response exceeds gRPC's default of 4MiB "
        "and each message must fit into one.",
    )
    max_batch_messages: Messages = Field(
        default=10_000,
        ge=1,
        le=1_000_000,
        description="Maximum messages in one batch. A batch is one transaction, and all other commits wait for it.",
    )
    max_concurrent_calls: Calls = Field(
        default=256,
        ge=1,
        le=65_536,
        description="Maximum concurrent calls. One more is rejected at once as retryable, instead of queueing without "
        "bound.",
    )
    max_concurrent_streams: Streams = Field(
        default=32,
        ge=1,
        le=4_096,
        description="Maximum concurrent streams. Bounded apart from calls, because a stream stays open as long as its "
        "client likes.",
    )
    max_watchers: Streams = Field(
        default=256,
        ge=1,
        le=65_536,
        description="Maximum concurrent Watch streams, apart from calls and other streams, because they wait most of "
        "the time.",
    )
    watch_heartbeat_seconds: Seconds = Field(
        default=15.0,
        gt=0,
        le=3600,
        description="Seconds without an event after which a Watch stream gets a heartbeat.",
    )
    watch_slow_reader_seconds: Seconds = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="Seconds in which the connection of a Watch stream must take a response. A caller that does not "
        "read fast enough is cut off, with the cursor from which it can watch again.",
    )
    default_deadline_seconds: Seconds = Field(
        default=30.0,
        gt=0,
        le=3600,
        description="Deadline in seconds of calls without one, so that an abandoned call does not run forever.",
    )
    drain_seconds: Seconds = Field(
        default=10.0,
        ge=0,
        le=3600,
        description="Seconds that calls in progress get to finish after SIGTERM. Keep it below the pod's termination "
        "grace period, after which the process is killed.",
    )
    read_threads: Threads = Field(
        default=4,
        ge=1,
        le=256,
        description="Threads that read from the journal. As many others wait for commits (Prune, Annotate ...), so "
        "that no read waits for the fsync of another call.",
    )

    working_memory_bytes: Bytes = Field(
        default=32 * MIB,
        ge=1 * MIB,
        le=64 * GIB,
        description="RAM in bytes for the newest messages of active sessions. The least recently used ones are "
        "evicted; they stay in the journal.",
    )
    working_tail_messages: Messages = Field(
        default=512,
        ge=1,
        le=1_000_000,
        description="Maximum messages of one session in RAM, so that one long session does not evict all others.",
    )

    tokenizer: Tokenizer = Field(
        default="o200k_base",
        description="Token counter for messages and sessions without a model. chars4 estimates four characters a "
        "token; module:function is a custom one.",
    )
    prune_min_messages: Messages = Field(
        default=2,
        ge=1,
        le=1_000_000,
        description="Newest messages that pruning never removes, even if the session stays over its budget: a model "
        "needs the question that it answers.",
    )
    prune_window: Messages = Field(
        default=5,
        ge=1,
        le=1_000_000,
        description="Newest messages that the window strategy keeps when the request sets no number.",
    )
    auto_prune_target: Share = Field(
        default=0.8,
        gt=0,
        le=1,
        description="Share of the policy's budget that automatic pruning leaves in use. Below 1, so that it does not "
        "run again at the next message, and the provider's cache stays valid longer.",
    )
    overflow_keep_tokens: Tokens = Field(
        default=128,
        ge=2,
        le=1_000_000,
        description="Tokens that a truncated tool result keeps after a provider rejected the context: half from its "
        "head, half from its tail, where the outcome usually is.",
    )

    @field_validator("listen")
    @classmethod
    def _check_listen(cls, listen: Address, settings: ValidationInfo) -> Address:
        _check_reach(listen, "127.0.0.1:7600", settings)
        return listen

    @field_validator("health_listen")
    @classmethod
    def _check_health_listen(cls, health_listen: Address | None, settings: ValidationInfo) -> Address | None:
        if health_listen is not None:
            _check_own_address(health_listen, settings, "listen")
        return health_listen

    @field_validator("http_listen")
    @classmethod
    def _check_http_listen(cls, http_listen: Address | None, settings: ValidationInfo) -> Address | None:
        if http_listen is not None:
            _check_reach(http_listen, "127.0.0.1:7680", settings)
            _check_own_address(http_listen, settings, "listen", "health_listen")
        return http_listen


def _check_reach(address: Address, loopback: str, settings: ValidationInfo) -> None:
    missing = [name for name in ("tls_certificate_file", "access_file") if not settings.data.get(name)]
    if missing and not address.is_local and settings.data.get("insecure_listen") != "allow":
        raise ValueError(
            f"would listen beyond this machine without {' and '.join(missing)}, and every client that reaches it "
            f"could read all data: set them, or listen on a loopback address such as {loopback}, or on "
            "unix:/path (insecure_listen = allow takes the risk)"
        )


def _check_own_address(address: Address, settings: ValidationInfo, *others: str) -> None:
    for other in others:
        # Port 0 is never the same port twice.
        if address == settings.data.get(other) and (address.port or address.unix_path):
            raise ValueError(f"is the address of `{other}` too: expected another one, or empty for none")
