"""A memory of LlamaIndex (`llama-index-core`) stored in a sidecar.

memory = MemsidecarMemory.from_defaults(client=client, session_id="s1", user_id="ana", token_limit=8_000)
await agent.run("Where do I live?", memory=memory)
"""

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any, Self

from memsidecar_client import Client, Message, Role, ToolCall
from memsidecar_client.adapters import _contract
from memsidecar_client.adapters._conversation import Conversation, Draft, Stored
from memsidecar_client.adapters._extras import missing

try:
    from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
    from llama_index.core.bridge.pydantic import AnyUrl, PrivateAttr
    from llama_index.core.memory import BaseMemory
except ImportError as error:
    raise missing("llamaindex", error) from error

ROLES = {
    MessageRole.SYSTEM: Role.ROLE_SYSTEM,
    MessageRole.DEVELOPER: Role.ROLE_SYSTEM,
    MessageRole.USER: Role.ROLE_USER,
    MessageRole.ASSISTANT: Role.ROLE_ASSISTANT,
    MessageRole.CHATBOT: Role.ROLE_ASSISTANT,
    MessageRole.MODEL: Role.ROLE_ASSISTANT,
    MessageRole.TOOL: Role.ROLE_TOOL,
    MessageRole.FUNCTION: Role.ROLE_TOOL,
}
NAMES = {
    Role.ROLE_SYSTEM: MessageRole.SYSTEM,
    Role.ROLE_USER: MessageRole.USER,
    Role.ROLE_ASSISTANT: MessageRole.ASSISTANT,
    Role.ROLE_TOOL: MessageRole.TOOL,
}


class MemsidecarMemory(BaseMemory):
    """LlamaIndex's memory: `get` answers what BuildContext builds, inside of `token_limit`; `get_all` is the list.

    session_id: The session in the sidecar, too.
    user_id: Whose it is. With it, `get` finds what was said in the user's other sessions.
    namespace: Empty means "default".
    token_limit: Of everything that `get` answers. 0: the sidecar's default.
    request: More fields of BuildContext: `model`, `system_prompt`, `reserve_output_tokens` ...
    """

    session_id: str
    user_id: str = ""
    namespace: str = ""
    token_limit: int = 0
    request: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it

    _conversation: Conversation = PrivateAttr()

    def __init__(self, client: Client, **fields: Any) -> None:
        super().__init__(**fields)
        self._conversation = Conversation(client, "llamaindex", self.session_id, self.user_id, self.namespace)

    @classmethod
    def class_name(cls) -> str:
        return "MemsidecarMemory"

    @classmethod
    def from_defaults(cls, **fields: Any) -> Self:
        return cls(**fields)

    def get(self, input: str | None = None, initial_token_count: int = 0, **request: Any) -> list[ChatMessage]:
        """What the model should see, retrieved for `input`, or for the newest thing that the user said.

        initial_token_count: Tokens of what a chat engine puts before it, out of `token_limit`.
        request: Fields of BuildContext, for this call.
        """
        asked = {"max_tokens": self.token_limit, **self.request, **request}
        asked["reserve_output_tokens"] = asked.get("reserve_output_tokens", 0) + initial_token_count
        context = self._conversation.context(query=input or "", **asked)
        return self._conversation.restored(context.messages, _messages)

    def get_all(self) -> list[ChatMessage]:
        """Return all messages, pruned ones included."""
        return [message for stored in self._conversation.everything() for message in _messages(stored)]

    def put(self, message: ChatMessage) -> None:
        self.put_messages([message])

    def put_messages(self, messages: list[ChatMessage]) -> None:
        if messages:
            self._conversation.add([_draft(message) for message in messages])

    def set(self, messages: list[ChatMessage]) -> None:
        """Replace the stored list. A list that extends the stored one only appends."""
        known = self.get_all()
        if known != messages[: len(known)]:
            self.reset()
            known = []
        self.put_messages(messages[len(known) :])

    def reset(self) -> None:
        """Erase all messages. Facts stay."""
        self._conversation.clear()


def _draft(message: ChatMessage) -> Draft:
    whole = _plain_values(message.model_dump())
    return Draft(_fields(message, whole), whole)


def _plain_values(value: Any) -> Any:
    """Addresses and paths as texts. pydantic's own JSON would change texts that are not UTF-8."""
    if isinstance(value, dict):
        return {key: _plain_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain_values(item) for item in value]
    return str(value) if isinstance(value, PurePath | AnyUrl) else value


def _fields(message: ChatMessage, whole: dict[str, Any]) -> Message:
    more = whole["additional_kwargs"]
    blocks = whole["blocks"]
    return _contract.message(
        ROLES[message.role],
        [_text(block) for block in blocks if block["block_type"] not in ("thinking", "tool_call")],
        name=_text_at(more, "name"),
        reasoning="\n".join(block["content"] or "" for block in blocks if block["block_type"] == "thinking"),
        tool_calls=_calls(whole),
        tool_call_id=_text_at(more, "tool_call_id"),
    )


def _calls(whole: Mapping[str, Any]) -> list[ToolCall]:
    """Return the tool calls from blocks, or from the keyword of older integrations, in OpenAI's chat format."""
    blocks = [block for block in whole["blocks"] if block["block_type"] == "tool_call"]
    if blocks:
        return [
            _contract.tool_call(block["tool_call_id"], block["tool_name"], block["tool_kwargs"]) for block in blocks
        ]
    given = whole["additional_kwargs"].get("tool_calls")
    calls = [call for call in given if isinstance(call, dict)] if isinstance(given, list) else []
    functions = [(call, call["function"]) for call in calls if isinstance(call.get("function"), dict)]
    return [
        _contract.tool_call(_text_at(call, "id"), _text_at(function, "name"), function.get("arguments") or "")
        for call, function in functions
    ]


def _text(block: Mapping[str, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else f"[{block.get('title') or block['block_type']}]"


def _text_at(values: Mapping[str, Any], key: str) -> str:
    value = values.get(key)
    return value if isinstance(value, str) else ""


def _messages(stored: Stored) -> list[ChatMessage]:
    """Return the message as it was stored, or built from the contract's fields."""
    if stored.whole is not None:
        return [ChatMessage.model_validate(stored.whole)]
    return [_plain(stored.message)]


def _plain(message: Message) -> ChatMessage:
    text = _contract.said(message)
    blocks: list[Any] = [TextBlock(text=text)] if text else []
    blocks += [
        ToolCallBlock(tool_call_id=call.id, tool_name=call.name, tool_kwargs=_contract.arguments_of(call))
        for call in message.tool_calls
    ]
    more = {"tool_call_id": message.tool_call_id} if message.role == Role.ROLE_TOOL else {}
    return ChatMessage(role=NAMES[message.role], blocks=blocks, additional_kwargs=more)
