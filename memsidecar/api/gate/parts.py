"""What a request may unfold to: two bytes on the wire can be a message of a hundred and seventy in memory."""

from typing import Any

from google.protobuf.message import Message

from memsidecar.domain.errors import TooLarge

MOST_PARTS = 200_000


def check_parts(request: Message, most: int) -> None:
    """Before anybody keeps it: of all repeated fields together, also of what stands one level below."""
    count = _repeated(request)
    if count <= most:
        count += sum(_repeated(part) for part in _below(request))
    if count > most:
        raise TooLarge(f"the request has {count} parts; {most} are allowed")


def _repeated(message: Message) -> int:
    return sum(len(value) for field, value in message.ListFields() if field.is_repeated)


def _below(message: Message) -> list[Any]:
    parts: list[Any] = []
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        parts.extend(value if field.is_repeated else (value,))
    return parts
