"""Moves a tool result out of the window."""

from dataclasses import dataclass, replace
from hashlib import blake2b

from memsidecar.domain.errors import InvalidField, NotFound
from memsidecar.domain.ids import MAX_ID_BYTES
from memsidecar.domain.message import Role
from memsidecar.domain.pruning import truncate_middle
from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts.artifact import StoredArtifact
from memsidecar.layers.working.window_update import WindowUpdater, truncated_copy
from memsidecar.stores.contract import Journal, MessageVersions, UpdateWindow
from memsidecar.tokens.contract import Counter
from memsidecar.v1.message_pb2 import Message

FIELD = "offload_message_id"
_MARK_TOKENS = 16
"What the mark of a cut costs, about."
_TRIES = 4


@dataclass(frozen=True)
class Offloader:
    """The artifact is stored first and the preview is shown after, so that a crash in between loses nothing."""

    journal: Journal
    trim: WindowUpdater
    counter: Counter
    keep_tokens: int

    def find(self, key: SessionKey, message_id: str) -> MessageVersions:
        found = self.journal.message(key, message_id)
        if found is None:
            raise NotFound(f"there is no message {message_id!r} in this session")
        if found.original.role != Role.TOOL:
            raise InvalidField(FIELD, "is not a tool message")
        return found

    def fill(self, artifact: StoredArtifact, found: MessageVersions, own_id: str) -> StoredArtifact:
        """The artifact with the message in it; under an id made from the message's, unless it has one of its own."""
        message = Message.FromString(found.original.body)
        return replace(
            artifact,
            id=own_id or id_of(message.id),
            source=artifact.source or message.name,
            content=message.content,
            tokens=self.counter.count(message.content),
            message_id=message.id,
        )

    def show_preview(self, key: SessionKey, artifact: StoredArtifact, preview_tokens: int) -> None:
        """In place of the message, if it is in the window and the preview is shorter."""
        text = self._preview(artifact, preview_tokens or self.keep_tokens)
        if text is not None:
            self.trim(key, lambda: self._plan(key, artifact.message_id, text))

    def _plan(self, key: SessionKey, message_id: str, text: str) -> UpdateWindow | None:
        found = self.journal.message(key, message_id)
        if found is None:
            return None
        standing = UpdateWindow(key, found.head.version)
        message = Message.FromString(found.displayed.body)
        if found.displayed.pruned or message.content == text:
            return standing
        short = truncated_copy(text, found.displayed, message, self.counter)
        return replace(standing, shortened=[short]) if short.tokens < found.original.tokens else standing

    def _preview(self, artifact: StoredArtifact, most_tokens: int) -> str | None:
        """None where the whole is no longer than that."""
        line = f"[the whole is artifact {artifact.id}]"
        keep = most_tokens - self.counter.count(line) - _MARK_TOKENS
        if artifact.tokens <= most_tokens:
            return None
        for _ in range(_TRIES):
            short = (
                truncate_middle(artifact.content, keep, lambda text: self._count(artifact, text)) if keep > 0 else None
            )
            if short is None:
                break
            text = f"{short.rstrip()}\n{line}"
            excess = self.counter.count(text) - most_tokens
            if excess <= 0:
                return text
            keep -= excess
        return line

    def _count(self, artifact: StoredArtifact, text: str) -> int:
        """The whole was counted already, and is by far the longest."""
        return artifact.tokens if text is artifact.content else self.counter.count(text)


def id_of(message_id: str) -> str:
    """The same each time, so that a call may be repeated."""
    made = f"message/{message_id}"
    return made if len(made.encode()) <= MAX_ID_BYTES else f"message/{blake2b(message_id.encode()).hexdigest()}"
