"""An artifact as it is kept: the contract's own encoding, beside what the journal knows of every note."""

from dataclasses import dataclass
from hashlib import blake2b

from google.protobuf.struct_pb2 import Struct

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import Note, Owner
from memsidecar.v1 import knowledge_pb2 as pb


@dataclass(frozen=True, slots=True)
class StoredArtifact:
    """`metadata` is an encoded Struct. `message_id` is of the message that it holds in place of the window, else empty.

    `expire_time_us` is None where it never expires.
    """

    id: str
    source: str
    content: str
    create_time_us: int
    tokens: int
    expire_time_us: int | None = None
    metadata: bytes = b""
    message_id: str = ""

    def is_expired(self, now_us: int) -> bool:
        return self.expire_time_us is not None and self.expire_time_us < now_us

    def note(self, session_id: str) -> Note:
        """What holds a message is erased with the messages; what a tool left behind, with the session only."""
        body = pb.Artifact(
            source=self.source,
            content=self.content,
            tokens=self.tokens,
            message_id=self.message_id,
            metadata=Struct.FromString(self.metadata) if self.metadata else None,
        )
        if self.expire_time_us is not None:
            body.expire_time.FromMicroseconds(self.expire_time_us)
        source = session_id if self.message_id else ""
        return Note(self.id, slot_of(self.id), source, self.create_time_us, body.SerializeToString(deterministic=True))


def artifact_of(note: Note) -> StoredArtifact:
    body = pb.Artifact.FromString(note.body)
    return StoredArtifact(
        id=note.id,
        source=body.source,
        content=body.content,
        create_time_us=note.time_us,
        tokens=body.tokens,
        expire_time_us=body.expire_time.ToMicroseconds() if body.HasField("expire_time") else None,
        metadata=body.metadata.SerializeToString(deterministic=True),
        message_id=body.message_id,
    )


def owner_of(key: SessionKey) -> Owner:
    return Owner(key.namespace, session_id=key.session_id)


def slot_of(artifact_id: str) -> int:
    return int.from_bytes(blake2b(artifact_id.encode(), digest_size=8).digest(), "big", signed=True)
