"""A session of the OpenAI Agents SDK (`openai-agents`) stored in a sidecar.

session = MemsidecarSession("s1", client, user_id="ana")
config = RunConfig(call_model_input_filter=session.memory_filter(max_tokens=8_000))
await Runner.run(agent, "Where do I live?", session=session, run_config=config)
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from memsidecar_client import Client, Message, Role
from memsidecar_client.adapters import _contract
from memsidecar_client.adapters._conversation import Conversation, Draft, Stored
from memsidecar_client.adapters._extras import missing

try:
    from agents.items import TResponseInputItem
    from agents.memory import SessionSettings
    from agents.models.fake_id import FAKE_RESPONSES_ID
    from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
except ImportError as error:
    raise missing("openai-agents", error) from error

Item = Mapping[str, Any]

ROLES = {
    "user": Role.ROLE_USER,
    "assistant": Role.ROLE_ASSISTANT,
    "system": Role.ROLE_SYSTEM,
    "developer": Role.ROLE_SYSTEM,
}
NAMES = {role: name for name, role in ROLES.items() if name != "developer"}


class MemsidecarSession:
    """The SDK's `Session`. One item is one message of the sidecar; calls and their outputs are in the contract's own
    fields. An item with an id of the provider's own is stored once, however often it is added.

    session_id: The session in the sidecar, too.
    user_id: Whose it is. With it, `memory_filter` finds what was said in the user's other sessions.
    namespace: Empty means "default".
    """

    session_settings: SessionSettings | None

    def __init__(
        self,
        session_id: str,
        client: Client,
        *,
        user_id: str = "",
        namespace: str = "",
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._conversation = Conversation(client, "openai-agents", session_id, user_id, namespace)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the items of the window, or its newest `limit` items; pruned items are outside the window."""
        if limit is None and self.session_settings is not None:
            limit = self.session_settings.limit
        if limit is None:
            stored = await asyncio.to_thread(self._conversation.window)
        else:
            stored = await asyncio.to_thread(self._conversation.newest, limit)
        return [item for record in stored for item in _items(record)]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        if items:
            await asyncio.to_thread(self._conversation.add, [_draft(cast(Item, item)) for item in items])

    async def pop_item(self) -> TResponseInputItem | None:
        """Remove the newest item from the session; see ADAPTERS.md for what the sidecar still stores."""
        return await asyncio.to_thread(self._pop)

    async def clear_session(self) -> None:
        """Erase all items. Facts stay."""
        await asyncio.to_thread(self._conversation.clear)

    def memory_filter(self, **request: Any) -> CallModelInputFilter:
        """For `RunConfig.call_model_input_filter`: the model sees what BuildContext answers, in place of the whole
        history. Of the turn under way it sees the question whole, large results as previews, and the newest exchanges
        as far as the budget allows. Nothing of it is stored.

        request: Fields of BuildContext: `max_tokens`, `model`, `reserve_output_tokens`, `tool_schemas_json` ...
        """

        async def filled(data: CallModelData[Any]) -> ModelInputData:
            return await asyncio.to_thread(self._filled, data.model_data, request)

        return filled

    def _pop(self) -> TResponseInputItem | None:
        newest = self._conversation.newest(1)
        if not newest:
            return None
        self._conversation.withdraw(newest[0].message)
        return _items(newest[0])[-1]

    def _filled(self, asked: ModelInputData, request: dict[str, Any]) -> ModelInputData:
        begin = _begin_of_turn(asked.input)
        if begin is None:
            return asked
        turn = _Turn([cast(Item, item) for item in asked.input[begin:]])
        request = {**request, "query": turn.question.content, "system_prompt": asked.instructions or ""}
        shown = list(self._conversation.context(**request).messages)
        place = turn.place_in(shown)
        if place is None:
            # The run has not stored the question yet.
            shown = list(self._conversation.context(**request, append_query=True).messages)
            place = len(shown) - 1
        before, after = shown[:place], shown[place + 1 :]
        instructions = asked.instructions
        if before and before[0].role == Role.ROLE_SYSTEM:
            instructions = before.pop(0).content
        past = _for_the_model(self._conversation.restored(before, _items))
        return ModelInputData(input=[*past, *turn.as_shown(after)], instructions=instructions)


class _Turn:
    """The turn under way as the run has it: the question, and all items after it.

    The run stores it while it goes on. A context shows the question whole, and the rest as far as the budget allows:
    large results as previews, without the oldest exchanges.
    """

    def __init__(self, items: Sequence[Item]) -> None:
        self._items = items
        self._messages = [_message(item) for item in items]
        self.question = self._messages[0]

    def place_in(self, shown: Sequence[Message]) -> int | None:
        """Return the position of the question in a context, or None if the context has another turn."""
        users = (at for at in range(len(shown) - 1, -1, -1) if _is_said_by_user(shown[at]))
        place = next(users, None)
        if place is None or shown[place].content != self.question.content:
            return None
        own = {key for message in self._messages for key in _keys(message)}
        return place if all(own & _keys(message) for message in shown[place + 1 :]) else None

    def as_shown(self, after: Sequence[Message]) -> list[TResponseInputItem]:
        """Return the items as the context shows them after the question. Items that are not stored yet stay as they
        are. An item that only the provider can read, such as a thought, stays with the item that follows it.
        """
        results = {message.tool_call_id: message.content for message in after if message.role == Role.ROLE_TOOL}
        calls = {call.id: call.arguments_json for message in after for call in message.tool_calls}
        newest = self._newest_stored(after)
        items: list[Item] = []
        follower_stays = True
        for at in range(len(self._items) - 1, -1, -1):
            item, message = self._items[at], self._messages[at]
            shown: Item | None = item
            if 0 < at <= newest and message.role == Role.ROLE_TOOL:
                shown = _with_text(item, message.content, results.get(message.tool_call_id))
            elif 0 < at <= newest and message.tool_calls:
                call = message.tool_calls[0]
                shown = _with_text(item, call.arguments_json, calls.get(call.id))
            elif not _is_readable(item):
                shown = item if follower_stays else None
            follower_stays = shown is not None
            if shown is not None:
                items.append(shown)
        return cast(list[TResponseInputItem], items[::-1])

    def _newest_stored(self, after: Sequence[Message]) -> int:
        """Return the position of the newest message of the context: it is never left out."""
        wanted = _keys(after[-1]) if after else set()
        places = (at for at in range(len(self._messages) - 1, 0, -1) if wanted & _keys(self._messages[at]))
        return next(places, 0)


def _is_said_by_user(message: Message) -> bool:
    return message.role == Role.ROLE_USER and not message.synthetic


def _keys(message: Message) -> set[tuple[str, str]]:
    """Return what identifies a message of a turn, also as a preview: the ids of its calls, or its own id or text."""
    if message.role == Role.ROLE_TOOL:
        return {("result", message.tool_call_id)}
    if message.tool_calls:
        return {("call", call.id) for call in message.tool_calls}
    return {("said", message.content)} | ({("id", message.id)} if message.id else set())


TEXT_KEYS = {
    "function_call": "arguments",
    "custom_tool_call": "input",
    "function_call_output": "output",
    "custom_tool_call_output": "output",
}
"""Items that can have a preview in place of their text, and its key. Others, such as screenshots, stay whole."""


def _with_text(item: Item, own: str, shown: str | None) -> Item | None:
    """Return an item with the text that the context shows of it; None if the context leaves it out."""
    if shown is None:
        return None
    key = TEXT_KEYS.get(str(item.get("type")))
    return item if shown == own or key is None else {**item, key: shown}


def _draft(item: Item) -> Draft:
    return Draft(_message(item), dict(item))


def _message(item: Item) -> Message:
    kind = item.get("type") or "message"
    own_id = item.get("id")
    message_id = own_id if isinstance(own_id, str) and own_id != FAKE_RESPONSES_ID else ""
    call_id = item.get("call_id")
    if kind == "message":
        return _contract.message(ROLES[item["role"]], _texts(item.get("content")), message_id=message_id)
    if isinstance(call_id, str) and kind.endswith("_output"):
        texts = _texts(item.get("output"))
        return _contract.message(Role.ROLE_TOOL, texts, message_id=message_id, tool_call_id=call_id)
    if isinstance(call_id, str):
        call = _contract.tool_call(call_id, item.get("name") or kind, _arguments(item))
        return _contract.message(Role.ROLE_ASSISTANT, [], message_id=message_id, tool_calls=[call])
    thought = "\n".join(_texts(item.get("summary"))) if kind == "reasoning" else ""
    return _contract.message(Role.ROLE_ASSISTANT, [f"[{kind}]"], message_id=message_id, reasoning=thought)


def _arguments(item: Item) -> Any:
    """Return the arguments of a call: `arguments` of functions, `input` of custom tools, `action` of others."""
    known = (item[key] for key in ("arguments", "input", "action", "operation") if item.get(key) is not None)
    return next(known, "")


def _texts(content: Any) -> list[str]:
    """Return the text of a content: a text, or parts with texts, images and files."""
    if isinstance(content, str):
        return [content]
    if isinstance(content, Sequence):
        return [_text(part) for part in content]
    return [] if content is None else [json.dumps(content)]


def _text(part: Any) -> str:
    if not isinstance(part, Mapping):
        return str(part)
    said = part.get("text") or part.get("refusal") or part.get("transcript")
    return said if isinstance(said, str) else f"[{part.get('filename') or part.get('type') or 'part'}]"


def _items(stored: Stored) -> list[TResponseInputItem]:
    """Return the item as it was added, or built from the contract's fields."""
    if stored.whole is not None:
        return [stored.whole]
    message = stored.message
    if message.role == Role.ROLE_TOOL:
        output = {"type": "function_call_output", "call_id": message.tool_call_id, "output": _contract.said(message)}
        return [cast(TResponseInputItem, output)]
    items: list[dict[str, Any]] = []
    if _contract.said(message) or not message.tool_calls:
        items.append({"role": NAMES[message.role], "content": _contract.said(message)})
    items += [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments_json}
        for call in message.tool_calls
    ]
    return cast(list[TResponseInputItem], items)


def _begin_of_turn(items: Sequence[TResponseInputItem]) -> int | None:
    places = (at for at in range(len(items) - 1, -1, -1) if cast(Item, items[at]).get("role") == "user")
    return next(places, None)


def _for_the_model(items: list[TResponseInputItem]) -> list[TResponseInputItem]:
    """Messages and calls with their outputs. Thoughts and searches of earlier turns are left out: only the provider can
    read them. One that meets the id of an answer asks for the thought before it, so these ids go, too. A preview of an
    output is a text, so it replaces the output of a function or of a custom tool. Other calls need their own kind of
    output: with a preview they are left out.
    """
    readable = [cast(Item, item) for item in items if _is_readable(cast(Item, item))]
    kinds = {item["call_id"]: item["type"] for item in readable if _is_call(item)}
    left_out = {item["call_id"] for item in readable if not _fits_its_call(item, kinds)}
    kept = (_like_its_call(item, kinds) for item in readable if item.get("call_id") not in left_out)
    return [cast(TResponseInputItem, _without_id(item)) for item in kept]


def _is_readable(item: Item) -> bool:
    return "role" in item or "call_id" in item


def _is_call(item: Item) -> bool:
    return "call_id" in item and not str(item["type"]).endswith("_output")


def _fits_its_call(item: Item, kinds: Mapping[str, str]) -> bool:
    call_kind = kinds.get(item.get("call_id") or "", "function_call")
    return item.get("type") != "function_call_output" or call_kind in ("function_call", "custom_tool_call")


def _like_its_call(item: Item, kinds: Mapping[str, str]) -> Item:
    is_custom = item.get("type") == "function_call_output" and kinds.get(item["call_id"]) == "custom_tool_call"
    return {**item, "type": "custom_tool_call_output"} if is_custom else item


def _without_id(item: Item) -> dict[str, Any]:
    optional = item.get("type") in (None, "message", "function_call", "custom_tool_call")
    return {key: value for key, value in item.items() if key != "id" or not optional}
