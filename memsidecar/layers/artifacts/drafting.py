"""From an artifact as it was sent to one that can be stored: checked, counted, under an id."""

import time
from dataclasses import dataclass

from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.ids import new_id, optional_id
from memsidecar.layers.artifacts.artifact import StoredArtifact
from memsidecar.layers.working.drafting import check_time
from memsidecar.layers.working.metadata import check_metadata
from memsidecar.tokens.contract import Counter
from memsidecar.v1.knowledge_pb2 import Artifact

MAX_SOURCE_BYTES = 1_024


@dataclass(frozen=True)
class Drafting:
    """Counting a megabyte takes a tenth of a second: never on the event loop. `check` alone may be called there."""

    counter: Counter
    max_content_bytes: int

    def check(self, artifact: Artifact, offloads: bool) -> None:
        """All that can be said without counting; raises InvalidField or TooLarge."""
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
        """The draft of an artifact that was checked."""
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
    """When it was made, and when it ends."""
    create_time_us = time.time_ns() // 1000
    if artifact.HasField("create_time"):
        create_time_us = check_time("artifact.create_time", artifact.create_time)
    if not artifact.HasField("expire_time"):
        return create_time_us, None
    expire_time_us = check_time("artifact.expire_time", artifact.expire_time)
    if expire_time_us <= create_time_us:
        raise InvalidField("artifact.expire_time", "must be after create_time")
    return create_time_us, expire_time_us
