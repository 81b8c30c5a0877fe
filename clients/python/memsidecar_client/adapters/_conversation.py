"""A session of the sidecar as a list of a framework's messages."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memsidecar_client import BuildContextResponse, Client, Message, new_id
from memsidecar_client.adapters._attachments import Attachments
from memsidecar_client.adapters._contract import Place
from memsidecar_client.adapters._frames import frame_of, whole_of
from memsidecar_client.errors import MemsidecarError

FRAME = "frame"
"""The key of a message's metadata with its frame. Empty: the frame is an attachment with the message's id."""

FRAMED_CHARACTERS = "framed_characters"
"""The key of the length of content and arguments, to which the frame points. A context may show a shorter preview."""

FRAMEWORK = "framework"
WITHDRAWN = "withdrawn"

MAX_FRAME_BYTES = 14_000
"""In bytes, of the 16,384 that the metadata may have."""

BATCH_BYTES = 3_000_000
BATCH_MESSAGES = 10_000


@dataclass(frozen=True)
class Draft:
    """A message in the contract's fields, and the framework's whole message. A missing id is generated."""

    message: Message
    whole: Any


@dataclass(frozen=True)
class Stored:
    """A stored message. `whole` is None if another program stored it or the sidecar shortened it."""

    message: Message
    whole: Any


class Conversation:
    def __init__(self, client: Client, framework: str, session_id: str, user_id: str = "", namespace: str = "") -> None:
        self._client = client
        self._framework = framework
        self.place = Place(namespace=namespace, user_id=user_id, session_id=session_id)
        self.attachments = Attachments(client, self.place)
        self._unanswered: dict[bytes, list[str]] = {}

    def add(self, drafts: Sequence[Draft]) -> None:
        """Appends them. After an error the same ones may be added again, and none is stored twice: they keep the ids
        that they got.
        """
        frames = [frame_of(draft.whole, _texts(draft.message)) for draft in drafts]
        key = _sum(drafts, frames)
        ids = self._unanswered.pop(key, None) or [draft.message.id or new_id() for draft in drafts]
        try:
            messages = [self._framed(*item) for item in zip(drafts, frames, ids, strict=True)]
            for batch in _batches(messages):
                self._client.add_batch(**self.place, messages=batch)
        except MemsidecarError:
            self._unanswered[key] = ids
            raise

    def window(self) -> list[Stored]:
        return self._read(self._client.iter_messages(**self.place, page_size=1000))

    def everything(self) -> list[Stored]:
        """Return all messages, pruned ones included."""
        return self._read(self._client.iter_messages(**self.place, page_size=1000, include_pruned=True))

    def newest(self, number: int) -> list[Stored]:
        """Return the messages of the window, oldest first."""
        if number < 1:
            return []
        found = self._client.get_recent(**self.place, n=number)
        if found.truncated or any(_withdrawn(message) for message in found.messages):
            return self.window()[-number:]
        return self._read(found.messages)

    def withdraw(self, message: Message) -> None:
        """Takes one message out of what is read here. It is marked, not erased: ForgetMessage is in the contract, and
        not in the sidecar yet.
        """
        self._client.annotate(**self.place, message_id=message.id, metadata={WITHDRAWN: True, FRAME: None})
        if self._is_attached(message):
            self.attachments.delete([message.id])

    def clear(self) -> None:
        self._client.clear(**self.place)
        self.attachments.delete()

    def context(self, **request: Any) -> BuildContextResponse:
        """BuildContext without what was withdrawn."""
        context = self._client.build_context(**self.place, **request)
        kept = [message for message in context.messages if not _withdrawn(message)]
        del context.messages[:]
        context.messages.extend(kept)
        return context

    def restored(self, messages: Iterable[Message], restore: Callable[[Stored], list[Any]]) -> list[Any]:
        """Convert the messages of a context."""
        return [item for stored in self._read(messages) for item in restore(stored)]

    def _framed(self, draft: Draft, frame: str, message_id: str) -> Message:
        if len(frame) > MAX_FRAME_BYTES:
            self.attachments.put(message_id, frame)
            frame = ""
        message = Message()
        message.CopyFrom(draft.message)
        message.id = message_id
        message.metadata.update(
            {FRAMEWORK: self._framework, FRAME: frame, FRAMED_CHARACTERS: _framed_characters(message)}
        )
        return message

    def _read(self, messages: Iterable[Message]) -> list[Stored]:
        kept = [message for message in messages if not _withdrawn(message)]
        attached = self.attachments.all() if any(self._is_attached(message) for message in kept) else {}
        return [Stored(message, self._whole(message, attached)) for message in kept]

    def _whole(self, message: Message, attached: dict[str, str]) -> Any:
        if not self._is_ours(message):
            return None
        frame = str(message.metadata[FRAME]) or attached.get(message.id)
        return None if frame is None else whole_of(frame, _texts(message))

    def _is_attached(self, message: Message) -> bool:
        return self._is_ours(message) and not message.metadata[FRAME]

    def _is_ours(self, message: Message) -> bool:
        """Return whether the message has a frame of this framework, and the texts to which the frame points."""
        fields = message.metadata.fields
        if FRAME not in fields or fields[FRAMEWORK].string_value != self._framework:
            return False
        return not message.synthetic and fields[FRAMED_CHARACTERS].number_value == _framed_characters(message)


def _texts(message: Message) -> list[str]:
    return [message.content, message.reasoning, *(call.arguments_json for call in message.tool_calls)]


def _framed_characters(message: Message) -> int:
    """Return a length without the reasoning, which a context leaves out by default."""
    return len(message.content) + sum(len(call.arguments_json) for call in message.tool_calls)


def _sum(drafts: Sequence[Draft], frames: Sequence[str]) -> bytes:
    """Return a checksum of messages."""
    known = hashlib.sha256()
    for draft, frame in zip(drafts, frames, strict=True):
        known.update(repr((draft.message.SerializeToString(), frame)).encode())
    return known.digest()


def _withdrawn(message: Message) -> bool:
    return WITHDRAWN in message.metadata.fields


def _batches(messages: list[Message]) -> Iterator[list[Message]]:
    """Yield batches that fit into one request."""
    batch: list[Message] = []
    size = 0
    for message in messages:
        if batch and (size + message.ByteSize() > BATCH_BYTES or len(batch) == BATCH_MESSAGES):
            yield batch
            batch, size = [], 0
        batch.append(message)
        size += message.ByteSize()
    if batch:
        yield batch
