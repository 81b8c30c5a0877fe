"""Counter protocol; token count of a message."""

import re
from collections.abc import Sequence
from typing import Protocol

# A provider adds three framing tokens to each message (start, separator, end), and one token for its role.
MESSAGE_OVERHEAD = 4

# A name has its own tokens and one separator.
NAME_OVERHEAD = 1

# A tool call has its name and arguments, framed like a message. Its id is not sent to the model.
TOOL_CALL_OVERHEAD = 3

# No pattern of a vocabulary matches across these places; a test compares the counts.
_INDEPENDENT_LINE = re.compile(r"(?<=\n)(?=[-#<0-9A-Za-z])")

ToolCall = tuple[str, str, str]
"""id, name, arguments (JSON text)."""


class Counter(Protocol):
    """Counts the tokens of a text, for one tokenizer.

    Promises: thread-safe. The same text always has the same count. The count of an empty text is 0. The text of a
    special token ("<|endoftext|>") is counted as plain text. `count` raises for no text, except CorruptedVocabulary if
    the vocabulary cannot be loaded.
    """

    @property
    def name(self) -> str:
        """Name in a receipt, for example "o200k_base", "claude estimate x 1.08", "module:function"."""

    @property
    def exact(self) -> bool:
        """Whether counts are those of the tokenizer itself. Estimates are calibrated."""

    @property
    def adds_lines(self) -> bool:
        """Whether the counts of `independent_lines` add up to that of the text. Rounded estimates do not."""

    @property
    def ready(self) -> bool:
        """Whether `count` returns at once; else the first call loads a vocabulary."""

    def warm(self) -> None:
        """Load the vocabulary, if it is not loaded; a second caller waits for the first."""

    def count(self, text: str) -> int:
        """Return the tokens of the text alone, without the framing of a message (see `count_message`)."""


def independent_lines(text: str) -> list[str]:
    """Split a text where a line begins that no tokenizer of tiktoken joins with the line break before it."""
    return _INDEPENDENT_LINE.split(text)


class Counters(Protocol):
    """The counters of one sidecar. A vocabulary is loaded by its counter's first count. Thread-safe."""

    default: Counter
    """The server's counter, by which every stored count was made."""

    def for_model(self, model: str, factor: float = 1.0) -> Counter:
        """Return the model's counter; the default one for an empty name. An exact counter ignores the factor."""


def count_message(
    counter: Counter,
    *,
    role: str,  # noqa: ARG001  every role is one token, which is part of MESSAGE_OVERHEAD
    content: str,
    name: str,
    tool_calls: Sequence[ToolCall],
) -> int:
    """Return the tokens of one message in a request. The overheads are the same for exact counters and estimates."""
    tokens = MESSAGE_OVERHEAD + counter.count(content)
    if name:
        tokens += NAME_OVERHEAD + counter.count(name)
    for _, function, arguments in tool_calls:
        tokens += TOOL_CALL_OVERHEAD + counter.count(function) + counter.count(arguments)
    return tokens
