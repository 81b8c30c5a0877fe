"""What a message costs as a provider counts it: its text and the framing around it."""

from collections.abc import Sequence

from memsidecar.tokens.contract import Counter

# A provider wraps each message in three framing tokens (start, separator, end) and writes its role as one token.
MESSAGE_OVERHEAD = 4

# A name is its own tokens and one separator.
NAME_OVERHEAD = 1

# A tool call is its name and arguments, wrapped like a message. Its id is the client's bookkeeping and costs nothing.
TOOL_CALL_OVERHEAD = 3

ToolCall = tuple[str, str, str]
"""id, name, arguments (JSON text)."""


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
