"""Settings of TLS, access control, quotas and the audit log."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from memsidecar.domain.byte_size import GIB, MIB
from memsidecar.settings.types import Bytes, Calls, Items, Messages, OptionalFile, Rate, Seconds, Streams

_MAX_QUOTA = 10**15


class AccessSettings(BaseModel):
    """Loopback and unix sockets need none of them. Beyond, TLS and an access file are required."""

    tls_certificate_file: OptionalFile = Field(
        default=None,
        description="PEM file with the server's certificate and the chain to its authority. Given, only TLS is "
        "accepted. Read again when it changes, for new connections.",
    )
    tls_key_file: OptionalFile = Field(
        default=None, validate_default=True, description="PEM file with the unencrypted key of tls_certificate_file."
    )
    tls_client_ca_file: OptionalFile = Field(
        default=None,
        validate_default=True,
        description="PEM file with the authorities of client certificates. Given, every client must present one "
        "(mTLS). Read again when it changes.",
    )
    access_file: OptionalFile = Field(
        default=None,
        description="TOML file with callers, roles and quotas of namespaces: hashed tokens and names of certificates; "
        "see docs/security.md. Read again when it changes. Empty: every client that reaches the address may do "
        "everything.",
    )
    insecure_listen: Literal["refuse", "allow"] = Field(
        default="refuse",
        description="Whether `listen` and `http_listen` may be beyond loopback and unix sockets without TLS and an "
        "access file. With allow, every client that reaches the port can read all data, and each start logs a warning.",
    )
    audit: Literal["off", "changes", "all"] = Field(
        default="off",
        description="Which calls get a line in the audit log: changes (calls that write or erase, and calls rejected "
        "for their credentials), or all. A line names caller, namespace, user and session, never content.",
    )
    audit_file: OptionalFile = Field(
        default=None,
        description="File that audit lines are appended to as JSON. Created again after it was moved away. Empty: "
        "they go to the log.",
    )
    quota_calls_per_second: Rate = Field(
        default=0.0,
        ge=0,
        le=1_000_000,
        description="Maximum calls a second of one namespace, where each message of a stream counts as a call; twice "
        "as many in the first second after a pause. 0: no limit. The access file can override it.",
    )
    quota_sessions: Items = Field(
        default=0,
        ge=0,
        le=_MAX_QUOTA,
        description="Maximum sessions of one namespace. 0: no limit. The access file can override it.",
    )
    quota_messages: Messages = Field(
        default=0,
        ge=0,
        le=_MAX_QUOTA,
        description="Maximum stored messages of one namespace, pruned ones included. 0: no limit. The access file can "
        "override it.",
    )
    quota_bytes: Bytes = Field(
        default=0,
        ge=0,
        le=_MAX_QUOTA,
        description="Maximum stored bytes of one namespace: messages, documents, facts and artifacts as they were "
        "sent. The files on disk are larger. 0: no limit. The access file can override it.",
    )
    max_namespace_calls: Calls = Field(
        default=0,
        ge=0,
        le=65_536,
        description="Maximum concurrent calls of one namespace, and of one caller, so that one tenant cannot occupy "
        "the server. 0: half of max_concurrent_calls with an access file, all of them without.",
    )
    max_namespace_watchers: Streams = Field(
        default=0,
        ge=0,
        le=65_536,
        description="Maximum concurrent Watch streams of one namespace, and of one caller. 0: half of max_watchers "
        "with an access file, all of them without.",
    )
    max_pending_bytes: Bytes = Field(
        default=128 * MIB,
        ge=8 * MIB,
        le=64 * GIB,
        description="Maximum bytes of responses that clients have not read yet and, with an access file, of large "
        "requests in progress. Beyond it, large ones are rejected as retryable. One namespace gets half.",
    )
    max_deadline_seconds: Seconds = Field(
        default=300.0,
        gt=0,
        le=86_400,
        description="Maximum duration of a call, whatever its deadline is. Streams may take longer.",
    )

    @field_validator("tls_key_file")
    @classmethod
    def _both_or_none(cls, key: object, settings: ValidationInfo) -> object:
        if (key is None) != (settings.data.get("tls_certificate_file") is None):
            raise ValueError("expected tls_certificate_file and tls_key_file together")
        return key

    @field_validator("tls_client_ca_file")
    @classmethod
    def _only_with_tls(cls, client_ca: object, settings: ValidationInfo) -> object:
        if client_ca is not None and settings.data.get("tls_certificate_file") is None:
            raise ValueError("needs tls_certificate_file and tls_key_file: callers show certificates over TLS only")
        return client_ca
