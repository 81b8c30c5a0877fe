"""Offload: store a tool result as an artifact and show a preview of it in the window."""

from dataclasses import dataclass, replace

from memsidecar.domain.errors import InvalidField, NotFound
from memsidecar.domain.message import Role
from memsidecar.domain.pruning import truncate_middle
from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts.artifact import StoredArtifact, id_of
from memsidecar.layers.working.window_update import WindowUpdater, truncated_copy
from memsidecar.stores.contract import MessageReader, MessageVersions, UpdateWindow
from memsidecar.tokens.contract import Counter
from memsidecar.v1.message_pb2 import Message

FIELD = "offload_message_id"
_MARKER_TOKENS = 16
"""Estimated tokens of the marker that `truncate_middle` inserts."""
_MAX_ATTEMPTS = 4


@dataclass(frozen=True)
class Offloader:
    """The caller stores the artifact before it calls `show_preview`, so that a crash between the two loses nothing."""

    journal: MessageReader
    window_updater: WindowUpdater
    counter: Counter
    keep_tokens: int

    def find(self, key: SessionKey, message_id: str) -> MessageVersions:
        versions = self.journal.message(key, message_id)
        if versions is None:
            raise NotFound(f"there is no message {message_id!r} in this session")
        if versions.original.role != Role.TOOL:
            raise InvalidField(FIELD, "is not a tool message")
        return versions

    def fill(self, artifact: StoredArtifact, versions: MessageVersions, own_id: str) -> StoredArtifact:
        """Return the artifact with the content of the message; its id is `own_id`, else derived from the message's."""
        message = Message.FromString(versions.original.body)
        return replace(
            artifact,
            id=own_id or id_of(message.id),
            source=artifact.source or message.name,
            content=message.content,
            tokens=self.counter.count(message.content),
            message_id=message.id,
        )

    def show_preview(self, key: SessionKey, artifact: StoredArtifact, preview_tokens: int) -> None:
        """Replace the message in the window by a preview, if it is in the window and the preview is shorter."""
        text = self._preview(artifact, preview_tokens or self.keep_tokens)
        if text is not None:
            self.window_updater(key, lambda: self._plan(key, artifact.message_id, text))

    def _plan(self, key: SessionKey, message_id: str, text: str) -> UpdateWindow | None:
        versions = self.journal.message(key, message_id)
        if versions is None:
            return None
        unchanged = UpdateWindow(key, versions.head.version)
        message = Message.FromString(versions.displayed.body)
        if versions.displayed.pruned or message.content == text:
            return unchanged
        preview = truncated_copy(text, versions.displayed, message, self.counter)
        is_shorter = preview.tokens < versions.original.tokens
        return replace(unchanged, shortened=[preview]) if is_shorter else unchanged

    def _preview(self, artifact: StoredArtifact, max_tokens: int) -> str | None:
        """Return a preview of at most `max_tokens`, if possible; None if the content itself fits."""
        if artifact.tokens <= max_tokens:
            return None
        reference = f"[the whole is artifact {artifact.id}]"
        keep = max_tokens - self.counter.count(reference) - _MARKER_TOKENS
        for _ in range(_MAX_ATTEMPTS):
            if keep <= 0:
                break
            truncated = truncate_middle(artifact.content, keep, lambda text: self._count(artifact, text))
            if truncated is None:
                break
            preview = f"{truncated.rstrip()}\n{reference}"
            excess = self.counter.count(preview) - max_tokens
            if excess <= 0:
                return preview
            keep -= excess
        return reference

    def _count(self, artifact: StoredArtifact, text: str) -> int:
        """Count a text; the whole content, by far the longest, is counted already."""
        return artifact.tokens if text is artifact.content else self.counter.count(text)
