"""Sessions and memory of Strands Agents (`strands-agents`) stored in a sidecar.

    sessions = RepositorySessionManager("s1", MemsidecarSessionRepository(client, user_id="ana"))
    memory = MemoryManager(stores=[MemsidecarMemoryStore(client, session_id="s1", user_id="ana")])
    agent = Agent(model, session_manager=sessions, memory_manager=memory)

The repository keeps messages and states. The store is the way of memory into a question: what BuildContext composes of
facts, summary, documents and what was said before.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any, cast

from memsidecar_client import Client, Message, Role
from memsidecar_client.adapters import _contract
from memsidecar_client.adapters._conversation import Conversation, Draft
from memsidecar_client.adapters._extras import missing

try:
    from strands.memory.types import MemoryEntry, MemoryStore, Metadata, SearchOptions
    from strands.multiagent import MultiAgentBase
    from strands.session.session_repository import SessionRepository
    from strands.types.content import ContentBlock
    from strands.types.content import Message as StrandsMessage
    from strands.types.exceptions import SessionException
    from strands.types.session import Session, SessionAgent, SessionMessage
except ImportError as error:
    raise missing("strands", error) from error

DEFAULT_AGENT = "default"
"""Strands' id of an agent without an id."""

SESSION = "session"


class MemsidecarSessionRepository(SessionRepository):
    """Keeps sessions of Strands. The conversation of the agent "default" is the session of that name in the sidecar,
    that of another agent is "<session>/<agent>". States of agents are attachments that no context shows.

    user_id: Whose sessions. With it, memory goes from one session to the next.
    namespace: Empty means "default".
    """

    def __init__(self, client: Client, *, user_id: str = "", namespace: str = "") -> None:
        self._client = client
        self._user_id = user_id
        self._namespace = namespace

    def create_session(self, session: Session, **_: Any) -> Session:
        if self.read_session(session.session_id) is not None:
            raise SessionException(f"Session {session.session_id} already exists")
        self._put_state(session.session_id, SESSION, session.to_dict())
        return session

    def read_session(self, session_id: str, **_: Any) -> Session | None:
        state = self._state(session_id, SESSION)
        return Session.from_dict(state) if state is not None else None

    def create_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        self._put_state(session_id, _agent_state(session_agent.agent_id), session_agent.to_dict())

    def read_agent(self, session_id: str, agent_id: str, **_: Any) -> SessionAgent | None:
        state = self._state(session_id, _agent_state(agent_id))
        return SessionAgent.from_dict(state) if state is not None else None

    def update_agent(self, session_id: str, session_agent: SessionAgent, **_: Any) -> None:
        before = self.read_agent(session_id, session_agent.agent_id)
        if before is None:
            raise SessionException(f"Agent {session_agent.agent_id} in session {session_id} does not exist")
        session_agent.created_at = before.created_at
        self._put_state(session_id, _agent_state(session_agent.agent_id), session_agent.to_dict())

    def create_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any) -> None:
        ids = f"{session_message.message_id}"
        self._conversation(session_id, agent_id).add(list(_drafts(session_message, ids)))

    def read_message(self, session_id: str, agent_id: str, message_id: int, **_: Any) -> SessionMessage | None:
        found = self.list_messages(session_id, agent_id)
        return next((message for message in found if message.message_id == message_id), None)

    def update_message(self, session_id: str, agent_id: str, session_message: SessionMessage, **_: Any) -> None:
        """Puts another message in the place of one; of a redacted one the original text is not kept. See ADAPTERS.md
        for what the sidecar still knows of it.
        """
        conversation = self._conversation(session_id, agent_id)
        before = [
            stored
            for stored in conversation.everything()
            if stored.whole and stored.whole["message_id"] == session_message.message_id
        ]
        if not before:
            raise SessionException(f"Message {session_message.message_id} does not exist")
        session_message.created_at = before[0].whole["created_at"]
        conversation.add(list(_drafts(session_message, f"{session_message.message_id}/{session_message.updated_at}")))
        for stored in before:
            conversation.withdraw(stored.message)

    def list_messages(
        self, session_id: str, agent_id: str, limit: int | None = None, offset: int = 0, **_: Any
    ) -> list[SessionMessage]:
        """Return all messages, pruned ones included: the agent's conversation manager counts from the first one."""
        stored = [
            record for record in self._conversation(session_id, agent_id).everything() if record.whole is not None
        ]
        stored.sort(key=lambda record: (record.whole["message_id"], record.message.sequence))
        messages = [
            _session_message([record.whole for record in parts])
            for _, parts in groupby(stored, key=lambda record: record.whole["message_id"])
        ]
        return messages[offset : None if limit is None else offset + limit]

    def create_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **_: Any) -> None:
        self._put_state(session_id, _group_state(multi_agent.id), multi_agent.serialize_state())

    def read_multi_agent(self, session_id: str, multi_agent_id: str, **_: Any) -> dict[str, Any] | None:
        return self._state(session_id, _group_state(multi_agent_id))

    def update_multi_agent(self, session_id: str, multi_agent: MultiAgentBase, **_: Any) -> None:
        if self.read_multi_agent(session_id, multi_agent.id) is None:
            raise SessionException(f"MultiAgent {multi_agent.id} in session {session_id} does not exist")
        self.create_multi_agent(session_id, multi_agent)

    def _conversation(self, session_id: str, agent_id: str) -> Conversation:
        own = session_id if agent_id == DEFAULT_AGENT else f"{session_id}/{agent_id}"
        return Conversation(self._client, "strands", own, self._user_id, self._namespace)

    def _state(self, session_id: str, name: str) -> dict[str, Any] | None:
        text = self._conversation(session_id, DEFAULT_AGENT).attachments.all().get(name)
        return None if text is None else cast(dict[str, Any], json.loads(text))

    def _put_state(self, session_id: str, name: str, state: dict[str, Any]) -> None:
        self._conversation(session_id, DEFAULT_AGENT).attachments.put(name, json.dumps(state))


class MemsidecarMemoryStore(MemoryStore):
    """What the sidecar knows, for Strands' MemoryManager: injected before the model is asked, or searched by a tool.

    session_id, user_id, namespace: As the repository has them. What the session still has in its window is not
        repeated.
    request: Fields of BuildContext: `max_tokens`, `profile`, `sections` ...
    """

    def __init__(
        self,
        client: Client,
        *,
        session_id: str,
        user_id: str = "",
        namespace: str = "",
        name: str = "memsidecar",
        description: str | None = "What is known about the user, and what was said in earlier conversations.",
        writable: bool = False,
        **request: Any,
    ) -> None:
        self.name = name
        self.description = description
        self.max_search_results = None
        self.writable = writable
        self.extraction = None
        self._client = client
        self._conversation = Conversation(client, "strands", session_id, user_id, namespace)
        self._request = request

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:  # noqa: ARG002
        """Return one entry: the token budget limits it, not a number of results."""
        context = await asyncio.to_thread(self._conversation.context, query=query, **self._request)
        about = {"total_tokens": context.total_tokens}
        return [MemoryEntry(content=context.memory_text, metadata=about)] if context.memory_text else []

    async def add(self, content: str, metadata: Metadata | None = None) -> None:
        """Keeps a text as a document of the user, found from then on in all their sessions. The same text twice is one
        document.
        """
        place = self._conversation.place
        await asyncio.to_thread(
            self._client.put_document,
            namespace=place["namespace"],
            user_id=place["user_id"],
            session_id="" if place["user_id"] else place["session_id"],
            document_id=hashlib.sha256(content.encode()).hexdigest(),
            text=content,
            source=self.name,
            metadata=metadata,
        )


def _agent_state(agent_id: str) -> str:
    return f"agent/{agent_id}"


def _group_state(multi_agent_id: str) -> str:
    return f"multi_agent/{multi_agent_id}"


def _drafts(session_message: SessionMessage, ids: str) -> Iterator[Draft]:
    """A message of Strands may hold results of several tools. Each is a message of its own in the contract; every part
    has its blocks, the first one all else.
    """
    message = session_message.to_message()
    about = {
        "message_id": session_message.message_id,
        "created_at": session_message.created_at,
        "updated_at": session_message.updated_at,
        "redacted": session_message.redact_message is not None,
        "message": {key: value for key, value in message.items() if key != "content"},
    }
    for number, blocks in enumerate(_parts(message["content"])):
        fields = _fields(message["role"], blocks, f"{ids}/{number}")
        yield Draft(fields, {**about, "blocks": blocks})


def _parts(blocks: list[ContentBlock]) -> Iterator[list[ContentBlock]]:
    rest: list[ContentBlock] = []
    for block in blocks:
        if "toolResult" not in block:
            rest.append(block)
            continue
        if rest:
            yield rest
        rest = []
        yield [block]
    if rest or not blocks:
        yield rest


def _fields(role: str, blocks: list[ContentBlock], message_id: str) -> Message:
    if len(blocks) == 1 and "toolResult" in blocks[0]:
        result = blocks[0]["toolResult"]
        texts = [_result_text(dict(content)) for content in result["content"]]
        return _contract.message(Role.ROLE_TOOL, texts, message_id=message_id, tool_call_id=result["toolUseId"])
    uses = [block["toolUse"] for block in blocks if "toolUse" in block]
    thoughts = [block["reasoningContent"] for block in blocks if "reasoningContent" in block]
    return _contract.message(
        Role.ROLE_ASSISTANT if role == "assistant" else Role.ROLE_USER,
        [_text(dict(block)) for block in blocks if "toolUse" not in block and "reasoningContent" not in block],
        message_id=message_id,
        reasoning="\n".join(thought.get("reasoningText", {}).get("text", "") for thought in thoughts),
        tool_calls=[_contract.tool_call(use["toolUseId"], use["name"], use["input"]) for use in uses],
    )


def _text(block: dict[str, Any]) -> str:
    if "text" in block:
        return str(block["text"])
    if "guardContent" in block:
        return str(block["guardContent"]["text"]["text"])
    if "citationsContent" in block:
        return "".join(part.get("text", "") for part in block["citationsContent"].get("content", []))
    return " ".join(f"[{kind}]" for kind in block)


def _result_text(content: dict[str, Any]) -> str:
    return json.dumps(content["json"]) if "json" in content else _text(content)


def _session_message(parts: list[dict[str, Any]]) -> SessionMessage:
    first = parts[0]
    blocks = [block for part in parts for block in part["blocks"]]
    message = cast(StrandsMessage, {**first["message"], "content": blocks})
    return SessionMessage(
        message=message,
        message_id=first["message_id"],
        redact_message=message if first["redacted"] else None,
        created_at=first["created_at"],
        updated_at=first["updated_at"],
    )
