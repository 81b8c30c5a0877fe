"""Counter protocol; cost of a message."""

from collections.abc import Sequence
from typing import Protocol

# A provider wraps each message in three framing tokens (start, separator, end) and writes its role as one token.
MESSAGE_OVERHEAD = 4

# A name is its own tokens and one separator.
NAME_OVERHEAD = 1

# A tool call is its name and arguments, wrapped like a message. Its id is the client's bookkeeping and costs nothing.
TOOL_CALL_OVERHEAD = 3

ToolCall = tuple[str, str, str]
"""id, name, arguments (JSON text)."""


class Counter(Protocol):
    """Counts the tokens of a text, for one tokenizer.

    Promises: safe to call from any thread, and the same text always has the same count. Empty text is 0. Text that
    spells a special token ("<|endoftext|>") is counted as the plain text it is. `count` never raises on any text;
    the one exception is a vocabulary that cannot be loaded (DamagedVocabulary).
    """

    @property
    def name(self) -> str:
        """As a receipt shows it: "o200k_base", "cl100k_base", "chars/4", "chars/4 x 1.08", "module:function"."""

    @property
    def exact(self) -> bool:
        """Whether a count is what the tokenizer itself would say. Estimates are subject to calibration."""

    @property
    def ready(self) -> bool:
        """Whether `count` answers at once; else the first call loads what it needs, which takes a moment."""

    def warm(self) -> None:
        """Load what `count` needs, if it is not loaded; a second caller waits for the first."""

    def count(self, text: str) -> int:
        """The tokens of the text alone, without the framing of a message (see `message.py`)."""


class Counters(Protocol):
    """The counters of one sidecar. Asking for one loads no vocabulary; its first count does. Thread-safe."""

    default: Counter
    """The server's own, by which every stored count was made."""

    def for_model(self, model: str, factor: float = 1.0) -> Counter:
        """The model's counter; the default one for an empty name. An exact counter ignores the factor."""


def count_message(
    counter: Counter,
    *,
    role: str,  # noqa: ARG001  a message is counted whole; that every role costs one token is decided here
    content: str,
    name: str,
    tool_calls: Sequence[ToolCall],
) -> int:
    """The tokens of one message in a request.

    An estimating counter is applied to the same texts; the overheads are added as they are.
    """
    tokens = MESSAGE_OVERHEAD + counter.count(content)
    if name:
        tokens += NAME_OVERHEAD + counter.count(name)
    for _, function, arguments in tool_calls:
        tokens += TOOL_CALL_OVERHEAD + counter.count(function) + counter.count(arguments)
    return tokens
