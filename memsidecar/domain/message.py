"""Messages: roles, labels of speakers, flags, drafts before a commit, stored messages after it."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum, IntFlag
from typing import NamedTuple


class Role(IntEnum):
    """Author of a message. The numbers are those of the proto enum."""

    SYSTEM = 1
    USER = 2
    ASSISTANT = 3
    TOOL = 4


_ROLE_LABELS: dict[int, str] = {role: role.name.capitalize() for role in Role}
_ROLE_WORDS = ("user", "assistant", "system", "tool", "developer", "human", "ai")
_COLON = re.compile("[:\u02d0\u2236\ua789]")
_ROLE_LABEL = re.compile(
    rf"[^\w:]*(?:{'|'.join(_ROLE_WORDS)})[^\w:]*(?:(?:partly\s+)?superseded\s+later[^\w:]*)?:", re.IGNORECASE
)
_BRACKETS = ("Ps", "Pe")
MAX_LABEL_CHARACTERS = 40
_EXAMINED_CHARACTERS = 80
_UNSEEN = ("Cc", "Cf", "Cn", "Co", "Cs")
"Categories of characters that are not seen."


def speaker_label(name: str, role: int) -> str:
    """Return the speaker's name where it can stand before a colon and is not taken for a role, else the role.

    It has no brackets: a context marks outdated messages with them, after the label.
    """
    seen = re.sub("[:<>]", " ", _folded(name, _UNSEEN))
    label = " ".join("".join(" " if unicodedata.category(each) in _BRACKETS else each for each in seen).split())
    is_role = label.casefold() in _ROLE_WORDS or begins_with_role(name) or begins_with_role(f"{label}:")
    if is_role or not label[:1].isalnum() or len(label) > MAX_LABEL_CHARACTERS:
        return _ROLE_LABELS.get(role, "User")
    return label


def begins_with_role(text: str) -> bool:
    """Tell whether a text begins like what a speaker said: "Assistant: I agreed."."""
    return _ROLE_LABEL.match(_folded(text.lstrip()[:_EXAMINED_CHARACTERS], (*_UNSEEN, "Mn"))) is not None


def _folded(text: str, removed: Sequence[str]) -> str:
    """Return a text in ordinary widths, with one kind of colon and space, without characters of some categories."""
    if text.isascii() and text.isprintable():
        return text
    folded = unicodedata.normalize("NFKC", text)
    seen = [
        " " if each.isspace() else each
        for each in folded
        if each.isspace() or unicodedata.category(each) not in removed
    ]
    return _COLON.sub(":", "".join(seen))


class Flag(IntFlag):
    """Properties of a message that pruning reads without decoding the body.

    LEARNED: an import has stored the facts of the message, too. They are not extracted again.
    """

    NONE = 0
    PRUNED = 1
    IMPORTANT = 2
    QUESTION = 4
    SHORTENED = 8
    LEARNED = 16


@dataclass(slots=True)
class Draft:
    """Validated message without a sequence.

    `body` is the encoded message without its sequence. `fingerprint` is a hash of the fields that must be equal for two
    messages with the same id: role, content, name, tool calls and tool_call_id. `calls` are the ids of the tool calls
    that the message makes; `answers` is the id of the tool call that it answers.
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
    """Message of a session as the journal returns it.

    `exchange` is the sequence of the message whose tool call it answers (its own, if it makes the call), else 0.
    `body` is empty if the query asked for no bodies.
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
    """Encode an unsigned number as protobuf does: groups of seven bits, the lowest first."""
    if number <= 0x7F:
        return bytes((number,))
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    encoded.append(number)
    return bytes(encoded)
