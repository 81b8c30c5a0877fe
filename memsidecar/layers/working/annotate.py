"""Annotate: set the evaluation score and merge the metadata of a stored message."""

from dataclasses import dataclass

from google.protobuf.struct_pb2 import Struct

from memsidecar.domain.errors import InvalidField
from memsidecar.domain.message import Flag, StoredMessage
from memsidecar.domain.session import SessionKey
from memsidecar.layers.field_checks import check_metadata, check_score, merge_metadata
from memsidecar.layers.working.validation import flags_of
from memsidecar.stores.contract import (
    JournalWriter,
    MessageUpdated,
    Revision,
    UpdateMessage,
    submit_and_wait,
)
from memsidecar.v1.message_pb2 import Message

_PRESERVED_FLAGS = Flag.PRUNED | Flag.SHORTENED


@dataclass(frozen=True)
class MessageAnnotator:
    journal: JournalWriter

    def __call__(
        self, key: SessionKey, user_id: str, message_id: str, score: float | None, metadata: Struct | None
    ) -> StoredMessage:
        if score is None and metadata is None:
            raise InvalidField("evaluation_score", "give a score, metadata, or both")
        if score is not None:
            check_score("evaluation_score", score)
        if metadata is not None:
            metadata.DiscardUnknownFields()
            check_metadata("metadata", metadata)
        command = UpdateMessage(key, user_id, message_id, lambda stored: _annotate(stored, score, metadata))
        updated: MessageUpdated = submit_and_wait(self.journal, command)
        return updated.message


def _annotate(stored: StoredMessage, score: float | None, metadata: Struct | None) -> Revision:
    message = Message.FromString(stored.body)
    if score is not None:
        message.evaluation_score = score
    if metadata is not None:
        merge_metadata(message.metadata, metadata)
        check_metadata("metadata", message.metadata)
    flags = flags_of(message) | stored.flags & _PRESERVED_FLAGS
    return Revision(
        message.SerializeToString(),
        int(flags),
        message.evaluation_score if message.HasField("evaluation_score") else None,
    )
