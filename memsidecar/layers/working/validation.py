"""Message validation: a message of a request becomes a validated, counted, encoded Draft."""

import math
import time
from array import array
from dataclasses import dataclass
from hashlib import blake2b

from memsidecar.domain.errors import InvalidField, TooLarge
from memsidecar.domain.ids import check_id, new_id
from memsidecar.domain.message import Draft, Flag, Role
from memsidecar.layers.field_checks import MICROSECONDS, check_metadata, check_score, check_time, is_important
from memsidecar.tokens.contract import Counter, count_message
from memsidecar.v1.message_pb2 import Message

ROLE_NAMES: dict[int, str] = {
    Role.SYSTEM: "system",
    Role.USER: "user",
    Role.ASSISTANT: "assistant",
    Role.TOOL: "tool",
}
MAX_TOOL_CALLS = 1_024
_IMPORTANT, _QUESTION = int(Flag.IMPORTANT), int(Flag.QUESTION)  # arithmetic on the enum itself is slow


@dataclass(frozen=True)
class MessageValidator:
    """Validates messages and makes drafts. `counter` is the server's default one: all stored counts are by it."""

    counter: Counter
    max_message_bytes: int
    vector_dimensions: int = 256

    @property
    def ready(self) -> bool:
        """Whether the counter answers without delay."""
        return self.counter.ready

    def __call__(self, message: Message, field: str) -> Draft:
        """Return the draft of a message; raise InvalidField or TooLarge. The message is modified."""
        message.DiscardUnknownFields()
        self._check(message, field)
        vector = _take_vector(message, field, self.vector_dimensions)
        message.id = message.id or new_id()
        time_us = _stamp(message)
        message.ClearField("sequence")
        message.ClearField("synthetic")
        message.tokens = tokens_of(message, self.counter)
        body = message.SerializeToString()
        if len(body) > self.max_message_bytes:
            raise TooLarge(f"{field} has {len(body)} bytes; a message may have {self.max_message_bytes}")
        return Draft(
            id=message.id,
            role=message.role,
            tokens=message.tokens,
            time_us=time_us,
            body=body,
            fingerprint=fingerprint(message),
            flags=flags_of(message),
            score=message.evaluation_score if message.HasField("evaluation_score") else None,
            calls=[call.id for call in message.tool_calls],
            answers=message.tool_call_id,
            vector=vector,
        )

    def _check(self, message: Message, field: str) -> None:
        if int(message.role) not in ROLE_NAMES:
            raise InvalidField(f"{field}.role", "must be ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT or ROLE_TOOL")
        # Before tokens are counted: oversized messages must not cost CPU.
        if len(message.content) > self.max_message_bytes:
            size = len(message.content.encode())
            raise TooLarge(f"{field}.content has {size} bytes; a message may have {self.max_message_bytes}")
        if not message.content and not (int(message.role) == Role.ASSISTANT and message.tool_calls):
            raise InvalidField(f"{field}.content", "may be empty only for an assistant message with tool calls")
        if message.id:
            check_id(f"{field}.id", message.id)
        if message.name:
            check_id(f"{field}.name", message.name)
        if message.tool_call_id or message.tool_calls:
            _check_tools(message, field)
        if message.HasField("create_time"):
            check_time(f"{field}.create_time", message.create_time)
        if message.HasField("evaluation_score"):
            check_score(f"{field}.evaluation_score", message.evaluation_score)
        if message.HasField("metadata"):
            check_metadata(f"{field}.metadata", message.metadata)


def _check_tools(message: Message, field: str) -> None:
    if message.tool_call_id:
        check_id(f"{field}.tool_call_id", message.tool_call_id)
        if int(message.role) != Role.TOOL:
            raise InvalidField(f"{field}.tool_call_id", "is for tool messages only")
    if not message.tool_calls:
        return
    if int(message.role) != Role.ASSISTANT:
        raise InvalidField(f"{field}.tool_calls", "is for assistant messages only")
    if len(message.tool_calls) > MAX_TOOL_CALLS:
        raise InvalidField(f"{field}.tool_calls", f"has more than {MAX_TOOL_CALLS} calls")
    for position, call in enumerate(message.tool_calls):
        check_id(f"{field}.tool_calls[{position}].id", call.id)
        check_id(f"{field}.tool_calls[{position}].name", call.name)


def _take_vector(message: Message, field: str, dimensions: int) -> bytes | None:
    """Remove the client's vector from the message and return it. It is stored apart, because no read returns it."""
    if not message.vector:
        return None
    vector = array("f", message.vector)
    if len(vector) != dimensions:
        raise InvalidField(f"{field}.vector", f"has {len(vector)} dimensions; {dimensions} are configured")
    if not all(map(math.isfinite, vector)):
        raise InvalidField(f"{field}.vector", "contains a number that is not finite")
    message.ClearField("vector")
    return vector.tobytes()


def _stamp(message: Message) -> int:
    if not message.HasField("create_time"):
        now_ns = time.time_ns()
        message.create_time.seconds, message.create_time.nanos = divmod(now_ns, 1_000_000_000)
        return now_ns // 1000
    return message.create_time.seconds * MICROSECONDS + message.create_time.nanos // 1000


def flags_of(message: Message) -> int:
    """Return the flags that let pruning judge the message without decoding it."""
    flags = 0
    if message.HasField("metadata") and is_important(message.metadata):
        flags |= _IMPORTANT
    if int(message.role) == Role.USER and _has_question_mark(message.content):
        flags |= _QUESTION
    return flags


def _has_question_mark(content: str) -> bool:
    return "?" in content or "\uff1f" in content or "\u061f" in content


def tokens_of(message: Message, counter: Counter) -> int:
    return count_message(
        counter,
        role=ROLE_NAMES[message.role],
        content=message.content,
        name=message.name,
        tool_calls=[(call.id, call.name, call.arguments_json) for call in message.tool_calls],
    )


def fingerprint(message: Message) -> bytes:
    """Return a hash of the fields that must be equal for two messages with the same id."""
    content, name, answers = message.content, message.name, message.tool_call_id
    # Lengths before texts, so that different messages never give the same bytes.
    text = f"{message.role},{len(content)},{len(name)},{len(answers)};{content}{name}{answers}"
    for call in message.tool_calls:
        text += f"{len(call.id)},{len(call.name)};{call.id}{call.name}{len(call.arguments_json)};{call.arguments_json}"
    return blake2b(text.encode(), digest_size=16).digest()
