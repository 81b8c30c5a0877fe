"""Readers of chat JSON: OpenAI, Anthropic, LangChain, the data export of ChatGPT, and plain JSON lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from memsidecar.cli.foreign_chat import (
    ROLES,
    ForeignChat,
    WrongFormat,
    first_id,
    first_text,
    is_assistant,
    metadata_of,
    naming,
    object_of,
    objects_of,
    required,
    set_time,
    text_of,
    tool_call,
)
from memsidecar.v1.message_pb2 import Message, ToolCall

_SESSION_KEYS = ("session_id", "conversation_id", "thread_id", "sessionId", "conversationId", "threadId")
_USER_KEYS = ("user_id", "user", "userId")
_MESSAGE_KEYS = ("id", "message_id", "messageId")
_TIME_KEYS = ("create_time", "created_at", "timestamp", "createTime", "createdAt")
_LANGCHAIN_TYPES = {
    "HumanMessage": "human",
    "AIMessage": "ai",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "function",
    "ChatMessage": "chat",
    "RemoveMessage": "remove",
}
_LANGCHAIN_THOUGHTS = ("reasoning", "thinking")
_LANGCHAIN_CALLS = ("tool_use", "tool_call", "function_call", "invalid_tool_call")
"Parts that repeat `tool_calls`."
_NO_NAME = "none"
_IS_ERROR = {"is_error": True}
"The metadata of a tool result that is an error."
_ALL = "all"
_UNSPOKEN = ("thoughts", "reasoning_recap", "user_editable_context", "model_editable_context")


def read_plain(value: object) -> ForeignChat:
    """Read one message of plain JSON lines: role, content, and optional fields."""
    line = object_of(value, "a message")
    conversation = ForeignChat(first_id(line, _SESSION_KEYS), first_id(line, _USER_KEYS))
    _add_openai(conversation, line)
    for message in conversation.messages:
        message.id = first_id(line, _MESSAGE_KEYS)
        set_time(message, next((line[key] for key in _TIME_KEYS if key in line), None))
        if (metadata := metadata_of(line.get("metadata"))) is not None:
            message.metadata.CopyFrom(metadata)
    return conversation


def read_openai(value: object) -> ForeignChat:
    """Read a chat of the Chat Completions API: its list of messages, or an object with `messages`."""
    given = _conversation(value)
    chat = _named(given)
    _add_each(chat, given, _add_openai)
    return chat


def _conversation(value: object) -> dict[str, Any]:
    return {"messages": value} if isinstance(value, list) else object_of(value, "a conversation")


def _named(given: dict[str, Any]) -> ForeignChat:
    return ForeignChat(first_id(given, (*_SESSION_KEYS, "id")), first_id(given, _USER_KEYS))


def _add_each(chat: ForeignChat, given: dict[str, Any], add: Callable[[ForeignChat, dict[str, Any]], None]) -> None:
    messages = required(given, "messages")
    if not isinstance(messages, list):
        raise WrongFormat("messages is not a list")
    for number, message in enumerate(messages, 1):
        with naming(str(number)):
            add(chat, object_of(message, "a message"))


def _add_openai(conversation: ForeignChat, message: dict[str, Any]) -> None:
    calls = [_openai_call(call) for call in objects_of(message.get("tool_calls"), "tool_calls")]
    if message.get("function_call"):
        calls.append(_openai_call(object_of(message["function_call"], "function_call")))
    answers = first_id(message, ("tool_call_id", "name") if message.get("role") == "function" else ("tool_call_id",))
    role = required(message, "role")
    content = text_of(message.get("content"), joined=is_assistant(role))
    conversation.add(
        role,
        content or text_of(message.get("refusal")) or _audio_text(message.get("audio")),
        name=first_text(message, ("name",)),
        tool_calls=calls,
        tool_call_id=answers,
        reasoning=first_text(message, ("reasoning_content", "reasoning")),
    )


def _openai_call(call: dict[str, Any]) -> ToolCall:
    """Return a call of a function or of a custom tool; older ones have no object of their own."""
    kind = "custom" if call.get("type") == "custom" else "function"
    called = object_of(call.get(kind, call), f"a {kind}")
    arguments = called.get("input" if kind == "custom" else "arguments")
    return tool_call(first_id(call, ("id",)), called.get("name"), "" if arguments is None else arguments)


def _audio_text(audio: object) -> str:
    """Return what was said in an audio answer."""
    return first_text(audio, ("transcript",)) or "[audio]" if isinstance(audio, dict) else ""


def read_anthropic(value: object) -> ForeignChat:
    """Read a request of the Messages API: `messages` of content blocks, and `system`; or the list of messages."""
    given = _conversation(value)
    chat = _named(given)
    if system := text_of(given.get("system")):
        chat.add("system", system)
    _add_each(chat, given, _add_anthropic)
    return chat


def _add_anthropic(conversation: ForeignChat, message: dict[str, Any]) -> None:
    role, content = required(message, "role"), message.get("content")
    if isinstance(content, list):
        _add_blocks(conversation, role, objects_of(content, "content"))
    else:
        conversation.add(role, text_of(content))


def _add_blocks(conversation: ForeignChat, role: object, blocks: Sequence[dict[str, Any]]) -> None:
    """Add the messages of content blocks in their order: each tool result is one, and so is the text between them."""
    before = len(conversation.messages)
    rest: list[dict[str, Any]] = []
    calls: list[ToolCall] = []
    thoughts: list[str] = []
    for block in blocks:
        match block.get("type"):
            case "tool_result":
                if text := text_of(rest):
                    conversation.add(role, text)
                rest = []
                _add_result(conversation, block)
            case "tool_use":
                calls.append(tool_call(first_id(block, ("id",)), block.get("name"), block.get("input")))
            case "thinking":
                thoughts.append(first_text(block, ("thinking",)))
            case "redacted_thinking":
                pass
            case _:
                rest.append(block)
    text = text_of(rest, joined=is_assistant(role))
    if text or calls or thoughts or len(conversation.messages) == before:
        conversation.add(role, text, tool_calls=calls, reasoning="\n".join(filter(None, thoughts)))


def _add_result(conversation: ForeignChat, block: dict[str, Any]) -> None:
    result = conversation.add("tool", text_of(block.get("content")), tool_call_id=first_id(block, ("tool_use_id",)))
    if block.get("is_error"):
        result.metadata.update(_IS_ERROR)


def read_langchain(value: object) -> ForeignChat:
    """Read messages as `messages_to_dict` or `dumpd` of LangChain write them."""
    given = _conversation(value)
    chat = _named(given)
    _add_each(chat, given, lambda chat, message: _add_langchain(chat, *_langchain_parts(message)))
    return chat


def _langchain_parts(message: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the type of a message and its fields."""
    if message.get("type") == "constructor":
        names = message.get("id")
        name = str(names[-1]) if isinstance(names, list) and names else ""
        return _LANGCHAIN_TYPES.get(name.removesuffix("Chunk"), name), object_of(required(message, "kwargs"), "kwargs")
    kind = str(message.get("type"))
    data = object_of(required(message, "data"), "data")
    return _LANGCHAIN_TYPES.get(kind.removesuffix("Chunk"), kind), data


def _add_langchain(conversation: ForeignChat, kind: str, data: dict[str, Any]) -> None:
    """Add a message. A role of one's own is that of a user with this name. `remove` is an instruction, no message."""
    if kind == "remove":
        return
    own = first_text(data, ("role",)) if kind == "chat" else ""
    role = (own if own.lower() in ROLES else "user") if kind == "chat" else kind
    calls = [
        tool_call(first_id(call, ("id",)), call.get("name") or _NO_NAME, call.get("args"))
        for key in ("tool_calls", "invalid_tool_calls")  # an invalid one is answered with an error
        for call in objects_of(data.get(key), key)
    ]
    content, reasoning = data.get("content"), ""
    if isinstance(content, list):
        typed = [(part.get("type") if isinstance(part, dict) else "text", part) for part in content]
        thoughts = (first_text(part, (name,)) for name, part in typed if name in _LANGCHAIN_THOUGHTS)
        reasoning = "\n".join(filter(None, thoughts))
        content = [part for name, part in typed if name not in (*_LANGCHAIN_THOUGHTS, *_LANGCHAIN_CALLS)]
    message = conversation.add(
        role,
        text_of(content),
        id=first_id(data, ("id",)),
        name=first_text(data, ("name",)) or own,
        tool_calls=calls,
        tool_call_id=first_id(data, ("tool_call_id",)),
        reasoning=reasoning,
    )
    if data.get("status") == "error":
        message.metadata.update(_IS_ERROR)


def read_chatgpt(value: object) -> ForeignChat:
    """Read a conversation of conversations.json: the path through its tree that ends at `current_node`."""
    given = object_of(value, "a conversation")
    mapping = object_of(required(given, "mapping"), "mapping")
    conversation = ForeignChat(first_id(given, ("conversation_id", "id")))
    title = first_text(given, ("title",))
    call_id = ""
    nodes = (node for node in _path(mapping, given.get("current_node")) if node.get("message") is not None)
    time = given.get("create_time")
    for number, node in enumerate(nodes, 1):
        message = object_of(node["message"], "message")
        time = message.get("create_time") or time  # without its own time: that of the message before
        with naming(first_id(message, ("id",)) or str(number)):
            call_id = _add_chatgpt(conversation, {**message, "create_time": time}, title, call_id)
    return conversation


def _path(mapping: dict[str, Any], leaf: object) -> list[dict[str, Any]]:
    """Return the nodes from the root to the leaf; without a leaf, to the last node that has no children."""
    nodes = {name: object_of(node, "a node") for name, node in mapping.items()}
    childless = [name for name, node in nodes.items() if not node.get("children")]
    name = leaf if isinstance(leaf, str) and leaf in nodes else next(reversed(childless), "")
    path: list[dict[str, Any]] = []
    while name in nodes:
        node = nodes.pop(name)  # so that a cycle ends
        path.append(node)
        name = first_text(node, ("parent",))
    return path[::-1]


def _add_chatgpt(conversation: ForeignChat, given: dict[str, Any], title: str, call_id: str) -> str:
    """Add a message; return the id of the tool call that it makes. Hidden messages are left out.

    A call of a tool has the tool as its recipient. The next message of that tool is its result.
    """
    author, metadata = object_of(given.get("author"), "author"), given.get("metadata")
    hidden = isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation")
    content = _chatgpt_text(object_of(given.get("content"), "content"))
    role, recipient = author.get("role"), first_text(given, ("recipient",)) or _ALL
    is_result = role == "tool" and call_id
    if hidden or not (content.strip() or is_result):
        return call_id
    fields: dict[str, Any] = {"id": first_text(given, ("id",)), "name": first_text(author, ("name",))}
    made = ""
    if role == "assistant" and recipient != _ALL:
        made = fields["id"] or recipient
        fields["tool_calls"], content = [tool_call(made, recipient, content)], ""
    elif role == "tool":
        fields["tool_call_id"] = call_id
    _describe(conversation.add(role, content, **fields), given, title)
    return made


def _describe(message: Message, given: dict[str, Any], title: str) -> None:
    set_time(message, given.get("create_time"))
    details = given.get("metadata")
    model = first_text(details, ("model_slug",)) if isinstance(details, dict) else ""
    message.metadata.update({key: value for key, value in (("title", title), ("model", model)) if value})


def _chatgpt_text(content: dict[str, Any]) -> str:
    """Return the text of a content: its parts, or the text of code and its output. Thoughts are left out."""
    if content.get("content_type") in _UNSPOKEN:
        return ""
    parts = content.get("parts")
    if isinstance(parts, list):
        return text_of([part for part in parts if part is not None])
    return first_text(content, ("text", "result"))
