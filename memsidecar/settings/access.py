"""The settings of who may do what: encryption, credentials, quotas, and a record of what was done."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field, ValidationInfo, field_validator

from memsidecar.domain.byte_size import GIB, MIB
from memsidecar.settings.types import Bytes, Calls, Items, Messages, OptionalFile, Rate, Seconds

_CAPACITY = 10**15


class AccessSettings(BaseModel):
    """Nothing is needed on loopback or a unix socket; beyond them, TLS and an access file are."""

    tls_certificate_file: OptionalFile = Field(
        default=None,
        description="PEM file with the certificate that callers see, and those that lead from it to its authority. "
        "Given, only TLS is spoken. Read again when it changes, for connections made from then on.",
    )
    tls_key_file: OptionalFile = Field(
        default=None, validate_default=True, description="PEM file with the unencrypted key of tls_certificate_file."
    )
    tls_client_ca_file: OptionalFile = Field(
        default=None,
        validate_default=True,
        description="PEM file with the authorities that sign callers' certificates. Given, every caller must show one "
        "(mTLS). Read again when it changes.",
    )
    access_file: OptionalFile = Field(
        default=None,
        description="TOML file with who may do what in which namespaces: hashed tokens, names in certificates, and "
        "quotas; see docs/security.md. Read again when it changes. Empty: whoever reaches the address may do "
        "everything.",
    )
    insecure_listen: Literal["refuse", "allow"] = Field(
        default="refuse",
        description="Whether `listen` may be beyond loopback and unix sockets without TLS and an access file. Allowed, "
        "whoever reaches the port reads every memory, and each start warns of it.",
    )
    audit: Literal["off", "changes", "all"] = Field(
        default="off",
        description="Which calls leave a line of who did what: changes (whatever writes or erases, and whatever was "
        "refused for its credentials), or reads, too. It names namespaces, users and sessions, never content.",
    )
    audit_file: OptionalFile = Field(
        default=None,
        description="File that audit lines are appended to as JSON; moved away, it is begun anew. Empty: they go to "
        "the log.",
    )
    quota_calls_per_second: Rate = Field(
        default=0.0,
        ge=0,
        le=1_000_000,
        description="Most calls a second of one namespace, each message of a stream being one; twice as many in the "
        "first second after a pause. 0: no limit. The access file may say otherwise for a namespace.",
    )
    quota_sessions: Items = Field(
        default=0,
        ge=0,
        le=_CAPACITY,
        description="Most sessions that one namespace may have. 0: no limit. The access file may say otherwise.",
    )
    quota_messages: Messages = Field(
        default=0,
        ge=0,
        le=_CAPACITY,
        description="Most messages that one namespace may keep, pruned ones included. 0: no limit. The access file may "
        "say otherwise.",
    )
    quota_bytes: Bytes = Field(
        default=0,
        ge=0,
        le=_CAPACITY,
        description="Most bytes that one namespace may keep: messages, documents, facts and artifacts as they were "
        "given. What the files take is more. 0: no limit. The access file may say otherwise.",
    )
    max_namespace_calls: Calls = Field(
        default=0,
        ge=0,
        le=65_536,
        description="Most calls of one namespace, and of one token's name, in progress together, so that the flood of "
        "one leaves room for the others. 0: half of max_concurrent_calls with an access file, all of them without.",
    )
    max_unsent_bytes: Bytes = Field(
        default=128 * MIB,
        ge=8 * MIB,
        le=64 * GIB,
        description="Most bytes of answers that wait for callers who read slowly, and, with an access file, of large "
        "requests in progress; beyond it large ones are refused, to be tried again. One namespace gets half.",
    )
    max_deadline_seconds: Seconds = Field(
        default=300.0,
        gt=0,
        le=86_400,
        description="Longest that a call may take, whatever its deadline says. Streams may take longer.",
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
