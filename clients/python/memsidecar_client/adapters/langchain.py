"""A chat message history of LangChain (`langchain-core`) stored in a sidecar.

history = MemsidecarChatMessageHistory("s1", client, user_id="ana")
chain = RunnableWithMessageHistory(prompt | model, lambda session_id: ..., ...)
"""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from memsidecar_client import Client, Message, Role, new_id
from memsidecar_client.adapters import _contract
from memsidecar_client.adapters._conversation import Conversation, Draft, Stored
from memsidecar_client.adapters._extras import missing

try:
    from langchain_core.chat_history import BaseChatMessageHistory
    from langchain_core.messages import (
        AIMessage,
        BaseMessage,
        ChatMessage,
        HumanMessage,
        SystemMessage,
        ToolMessage,
        message_to_dict,
        messages_from_dict,
    )
    from langchain_core.runnables.config import run_in_executor
except ImportError as error:
    raise missing("langchain", error) from error

ROLES_OF_CHAT = {
    "assistant": Role.ROLE_ASSISTANT,
    "ai": Role.ROLE_ASSISTANT,
    "system": Role.ROLE_SYSTEM,
    "developer": Role.ROLE_SYSTEM,
}
THOUGHTS = {"reasoning": "reasoning", "thinking": "thinking"}
"""Reasoning blocks, and the key of their text."""

CALLS = {"tool_use", "tool_call", "function_call", "invalid_tool_call"}
"""Blocks that repeat `tool_calls`."""


class MemsidecarChatMessageHistory(BaseChatMessageHistory):
    """LangChain's chat message history. A message without an id gets one when it is added, on the message itself, so
    that it is stored once, however often it is added.

    session_id: The session in the sidecar, too.
    user_id: Whose it is. With it, `context` finds what was said in the user's other sessions.
    namespace: Empty means "default".
    """

    def __init__(self, session_id: str, client: Client, *, user_id: str = "", namespace: str = "") -> None:
        super().__init__()
        self._conversation = Conversation(client, "langchain", session_id, user_id, namespace)

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """Return the messages of the window, without pruned ones."""
        return [message for stored in self._conversation.window() for message in _messages(stored)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        if messages:
            self._conversation.add([_draft(message) for message in messages])

    def clear(self) -> None:
        """Erase all messages. Facts stay."""
        self._conversation.clear()

    def context(self, query: str = "", **request: Any) -> list[BaseMessage]:
        """What BuildContext answers: what is known, the conversation as far as the budget allows, and what was said
        before that matters for the query. For a prompt's placeholder, in place of `messages`.

        request: Fields of BuildContext: `max_tokens`, `model`, `system_prompt`, `append_query` ...
        """
        built = self._conversation.context(query=query, **request)
        return self._conversation.restored(built.messages, _messages)

    async def acontext(self, query: str = "", **request: Any) -> list[BaseMessage]:
        """See `context`."""
        return await run_in_executor(None, lambda: self.context(query, **request))


def _draft(message: BaseMessage) -> Draft:
    message.id = message.id or new_id()
    return Draft(_fields(message), message_to_dict(message))


def _fields(message: BaseMessage) -> Message:
    texts, thoughts = _texts_and_thoughts(message.content)
    return _contract.message(
        _role(message),
        texts,
        message_id=message.id or "",
        name=message.name or (message.role if isinstance(message, ChatMessage) else ""),
        reasoning="\n".join(thoughts),
        tool_calls=_calls(message) if isinstance(message, AIMessage) else (),
        tool_call_id=message.tool_call_id if isinstance(message, ToolMessage) else "",
    )


def _role(message: BaseMessage) -> Role:
    if isinstance(message, AIMessage):
        return Role.ROLE_ASSISTANT
    if isinstance(message, SystemMessage):
        return Role.ROLE_SYSTEM
    if isinstance(message, ToolMessage) or message.type.lower().startswith("function"):
        return Role.ROLE_TOOL
    if isinstance(message, ChatMessage):
        return ROLES_OF_CHAT.get(message.role, Role.ROLE_USER)
    return Role.ROLE_USER


def _calls(message: AIMessage) -> list[Any]:
    """Return all tool calls, unparsable ones included: they are answered with an error."""
    called = [*message.tool_calls, *message.invalid_tool_calls]
    return [_contract.tool_call(call["id"], call["name"], call["args"] or "") for call in called]


def _texts_and_thoughts(content: str | list[str | dict[Any, Any]]) -> tuple[list[str], list[str]]:
    if isinstance(content, str):
        return [content], []
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    thoughts = [str(block.get(THOUGHTS[block["type"]], "")) for block in blocks if block.get("type") in THOUGHTS]
    hidden = {*THOUGHTS, *CALLS}
    return [_text(block) for block in blocks if block.get("type") not in hidden], thoughts


def _text(block: Mapping[Any, Any]) -> str:
    text = block.get("text")
    return text if isinstance(text, str) else f"[{block.get('type', 'block')}]"


def _messages(stored: Stored) -> list[BaseMessage]:
    """Return the message as it was added, or built from the contract's fields."""
    if stored.whole is not None:
        return messages_from_dict([stored.whole])
    return [_plain(stored.message)]


def _plain(message: Message) -> BaseMessage:
    said: dict[str, Any] = {"content": _contract.said(message), "id": message.id or None, "name": message.name or None}
    if message.role == Role.ROLE_TOOL:
        return ToolMessage(**said, tool_call_id=message.tool_call_id)
    if message.role == Role.ROLE_SYSTEM:
        return SystemMessage(**said)
    if message.role == Role.ROLE_USER:
        return HumanMessage(**said)
    calls = [
        {"id": call.id, "name": call.name, "args": _contract.arguments_of(call), "type": "tool_call"}
        for call in message.tool_calls
    ]
    return AIMessage(**said, tool_calls=cast(Any, calls))
