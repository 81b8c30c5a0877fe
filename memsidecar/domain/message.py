"""Role, Flag, Draft, StoredMessage; varint."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import NamedTuple


class Role(IntEnum):
    """The numbers are the contract's."""

    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    TOOL = 4


class Flag(IntFlag):
    """What pruning needs to know of a message without decoding it."""

    NONE = 0
    PRUNED = 1
    IMPORTANT = 2
    QUESTION = 4
    SHORTENED = 8


@dataclass(slots=True)
class Draft:
    """A validated message that has no sequence yet.

    `body` is the encoded message, complete but for its sequence. `fingerprint` covers what makes two bodies
    under one id the same: role, content, name, tool calls and tool_call_id.
    """

    id: str
    role: int
    tokens: int
    time_us: int
    body: bytes
    fingerprint: bytes
    flags: int = 0
    score: float | None = None
    calls: Sequence[str] = ()
    answers: str = ""
    vector: bytes | None = None


class StoredMessage(NamedTuple):
    """A message of a session. `exchange` is the sequence of the call it belongs to (its own, for a call), else 0.

    `body` is empty where only the figures were asked for.
    """

    sequence: int
    role: int
    tokens: int
    exchange: int
    flags: int
    score: float | None
    time_us: int
    body: bytes

    @property
    def pruned(self) -> bool:
        return bool(self.flags & Flag.PRUNED)


def varint(number: int) -> bytes:
    """An unsigned number in groups of seven bits, the lowest first."""
    if number <= 0x7F:
        return bytes((number,))
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
