"""Previews of messages that are too large to be shown whole: head and tail, and the id of the whole message."""

import json
from collections.abc import Callable
from dataclasses import dataclass

from memsidecar.context.window import WindowMessage
from memsidecar.domain.pruning.truncation import truncate_middle
from memsidecar.tokens.contract import MESSAGE_OVERHEAD, NAME_OVERHEAD, TOOL_CALL_OVERHEAD
from memsidecar.v1.message_pb2 import Message

_SEAM_TOKENS = 4
"Head, note and tail may have a few tokens more together than apart."


@dataclass(frozen=True)
class Previewer:
    count: Callable[[str], int]

    def __call__(self, whole: WindowMessage, max_tokens: int) -> WindowMessage:
        """Return the message with at most about `max_tokens` of text; the whole one if a preview is not smaller."""
        if whole.text_tokens <= max_tokens:
            return whole
        message = Message()
        message.CopyFrom(whole.message)
        message.ClearField("reasoning")
        self._shorten_calls(message, max_tokens // 2)
        total = whole.text_tokens - self._tokens_besides_content(whole.message) - self.count(whole.message.reasoning)
        message.content = self._shorten(message, total, max_tokens - self._tokens_besides_content(message))
        message.tokens = self._tokens_besides_content(message) + self.count(message.content) + MESSAGE_OVERHEAD
        shortened = whole._replace(message=message, tokens=message.tokens, shortened=True)
        return shortened if shortened.tokens < whole.tokens else whole

    def _shorten(self, message: Message, total: int, max_tokens: int) -> str:
        """Return the content, which has `total` tokens, as head, note and tail of at most `max_tokens`."""
        content = message.content
        if total <= max_tokens:
            return content

        def note(removed: int) -> str:
            return f"[{removed:,} tokens left out; the whole is message {message.id}]"

        def count(text: str) -> int:
            return total if text is content else self.count(text)

        keep = max_tokens - self.count(note(total)) - _SEAM_TOKENS
        return (truncate_middle(content, keep, count, note) if keep > 0 else None) or note(total)

    def _shorten_calls(self, message: Message, max_tokens: int) -> None:
        """Replace arguments that leave no room for anything else. What replaces them is a JSON object, as they were."""
        for call in message.tool_calls:
            tokens = self.count(call.arguments_json)
            if tokens * len(message.tool_calls) > max_tokens:
                note = f"{tokens:,} tokens left out; the whole is message {message.id}"
                call.arguments_json = min(call.arguments_json, json.dumps({"left_out": note}), key=len)

    def _tokens_besides_content(self, message: Message) -> int:
        name = NAME_OVERHEAD + self.count(message.name) if message.name else 0
        return name + sum(
            TOOL_CALL_OVERHEAD + self.count(call.name) + self.count(call.arguments_json) for call in message.tool_calls
        )
