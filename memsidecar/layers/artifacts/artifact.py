"""Artifact: its record, and the validation of an artifact that a client puts."""

import time
from dataclasses import dataclass
from hashlib import blake2b

from google.protobuf.struct_pb2 import Struct

from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.ids import MAX_ID_BYTES, new_id, optional_id
from memsidecar.domain.session import SessionKey
from memsidecar.layers.field_checks import check_metadata, check_time
from memsidecar.stores.contract import Owner, Record
from memsidecar.tokens.contract import Counter
from memsidecar.v1 import knowledge_pb2 as pb
from memsidecar.v1.knowledge_pb2 import Artifact

MAX_SOURCE_BYTES = 1_024


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """Stored artifact. `metadata` is an encoded Struct; `expire_time_us` is None if it never expires.

    `message_id` is the id of the tool message whose content was offloaded to this artifact, else empty.
    """

    id: str
    source: str
    content: str
    create_time_us: int
    tokens: int
    expire_time_us: int | None = None
    metadata: bytes = b""
    message_id: str = ""

    @property
    def conflict_key(self) -> int:
        return key_of_message(self.message_id) if self.message_id else conflict_key_of(self.id)

    def is_expired(self, now_us: int) -> bool:
        return self.expire_time_us is not None and self.expire_time_us < now_us

    def to_record(self, session_id: str) -> Record:
        """Return the record. An offloaded message is erased with the messages, other artifacts with the session."""
        body = pb.Artifact(
            source=self.source,
            content=self.content,
            tokens=self.tokens,
            message_id=self.message_id,
            metadata=Struct.FromString(self.metadata) if self.metadata else None,
        )
        if self.expire_time_us is not None:
            body.expire_time.FromMicroseconds(self.expire_time_us)
        encoded = body.SerializeToString(deterministic=True)
        erased_with = session_id if self.message_id else ""
        return Record(self.id, self.conflict_key, erased_with, self.create_time_us, encoded)


def artifact_of(record: Record) -> StoredArtifact:
    body = pb.Artifact.FromString(record.body)
    return StoredArtifact(
        id=record.id,
        source=body.source,
        content=body.content,
        create_time_us=record.time_us,
        tokens=body.tokens,
        expire_time_us=body.expire_time.ToMicroseconds() if body.HasField("expire_time") else None,
        metadata=body.metadata.SerializeToString(deterministic=True),
        message_id=body.message_id,
    )


def owner_of(key: SessionKey) -> Owner:
    return Owner(key.namespace, session_id=key.session_id)


def conflict_key_of(artifact_id: str) -> int:
    return int.from_bytes(blake2b(artifact_id.encode(), digest_size=8).digest(), "big", signed=True)


def id_of(message_id: str) -> str:
    """Return an artifact id that depends on the message id only, so that a call can be repeated."""
    artifact_id = f"message/{message_id}"
    if len(artifact_id.encode()) <= MAX_ID_BYTES:
        return artifact_id
    return f"message/{blake2b(message_id.encode()).hexdigest()}"


def key_of_message(message_id: str) -> int:
    """Return the conflict key of the artifacts that hold an offloaded message, whatever their ids are.

    The erasure of the message finds them by it.
    """
    return conflict_key_of(id_of(message_id))


@dataclass(frozen=True)
class ArtifactValidator:
    """Validates and counts artifacts.

    Counting a megabyte takes a tenth of a second: it must not run on the event loop. `check` may.
    """

    counter: Counter
    max_content_bytes: int

    def check(self, artifact: Artifact, offloads: bool) -> None:
        """Check all that needs no token count; raise InvalidField or TooLarge."""
        optional_id("artifact.id", artifact.id)
        if len(artifact.source.encode()) > MAX_SOURCE_BYTES:
            raise InvalidField("artifact.source", f"is longer than {MAX_SOURCE_BYTES} bytes")
        self._check_content(artifact.content, offloads)
        if artifact.HasField("metadata"):
            check_metadata("artifact.metadata", artifact.metadata)
        _times_us(artifact)

    def _check_content(self, content: str, offloads: bool) -> None:
        if bool(content) == offloads:
            problem = "must be empty: it will be that of the message" if offloads else "is required"
            raise InvalidField("artifact.content", problem)
        size = len(content.encode())
        if size > self.max_content_bytes:
            raise TooLarge(f"artifact.content has {size} bytes; an artifact may have {self.max_content_bytes}")

    def __call__(self, artifact: Artifact) -> StoredArtifact:
        """Return the artifact to store. It must have passed `check`."""
        artifact.DiscardUnknownFields()
        create_time_us, expire_time_us = _times_us(artifact)
        return StoredArtifact(
            id=artifact.id or new_id(),
            source=artifact.source,
            content=artifact.content,
            create_time_us=create_time_us,
            tokens=self.counter.count(artifact.content),
            expire_time_us=expire_time_us,
            metadata=artifact.metadata.SerializeToString(deterministic=True),
        )


def _times_us(artifact: Artifact) -> tuple[int, int | None]:
    """Return create time and expire time."""
    create_time_us = time.time_ns() // 1000
    if artifact.HasField("create_time"):
        create_time_us = check_time("artifact.create_time", artifact.create_time)
    if not artifact.HasField("expire_time"):
        return create_time_us, None
    expire_time_us = check_time("artifact.expire_time", artifact.expire_time)
    if expire_time_us <= create_time_us:
        raise InvalidField("artifact.expire_time", "must be after create_time")
    return create_time_us, expire_time_us
