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
        history, and then the turn under way as the run has it. Nothing of it is stored.

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
        turn = asked.input[begin:]
        question = _draft(cast(Item, turn[0])).message.content
        context = self._conversation.context(
            query=question, append_query=True, system_prompt=asked.instructions or "", **request
        )
        shown = list(context.messages)[:-1]
        instructions = asked.instructions
        if shown and shown[0].role == Role.ROLE_SYSTEM:
            instructions = shown.pop(0).content
        past = self._conversation.restored(_without(turn, shown), _items)
        return ModelInputData(input=[*_for_the_model(past), *turn], instructions=instructions)


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


def _without(turn: Sequence[TResponseInputItem], shown: list[Message]) -> list[Message]:
    """The run stores a turn while it is under way, so its beginning may be in the context, too. What the sidecar
    composed for it stays.
    """
    own = [_likeness(_message(cast(Item, item))) for item in turn]
    begin = max((at for at, message in enumerate(shown) if _likeness(message) == own[0]), default=len(shown))
    composed = [message for message in shown[begin:] if message.synthetic]
    if all(message.synthetic or _likeness(message) in own for message in shown[begin:]):
        return shown[:begin] + composed
    return shown


def _likeness(message: Message) -> tuple[object, ...]:
    calls = tuple((call.id, call.name, call.arguments_json) for call in message.tool_calls)
    return message.role, message.content, message.tool_call_id, calls


def _for_the_model(items: list[TResponseInputItem]) -> list[TResponseInputItem]:
    """Messages and calls with their outputs. Thoughts and searches of earlier turns are left out: only the provider can
    read them. One that meets the id of an answer asks for the thought before it, so these ids go, too.
    """
    readable = (cast(Item, item) for item in items if "role" in item or "call_id" in item)
    return [cast(TResponseInputItem, _without_id(item)) for item in readable]


def _without_id(item: Item) -> dict[str, Any]:
    optional = item.get("type") in (None, "message", "function_call", "custom_tool_call")
    return {key: value for key, value in item.items() if key != "id" or not optional}
