"""The tools add_messages, search_messages, recent_messages and forget_session."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from google.protobuf.timestamp_pb2 import Timestamp
from pydantic import BaseModel, Field

from memsidecar.domain.ids import new_id
from memsidecar.mcp_server.sidecar_client import SidecarClient
from memsidecar.mcp_server.tool import (
    ADDS,
    ERASES,
    MAX_RESULT_BYTES,
    READS,
    Arguments,
    JsonDecoded,
    SessionId,
    Tool,
    ToolResult,
    degradation_notes,
    parenthesized,
    take_fitting,
    truncate,
)
from memsidecar.v1 import memory_pb2, message_pb2, session_pb2

Role = Literal["user", "assistant"]
MAX_RECENT_SESSIONS = 10
MIN_SCORE = 0.05
"A hit below it has next to nothing in common with the query, and would mislead the model."


class NewMessage(Arguments):
    role: Role = Field(description="Who said it.")
    content: str = Field(min_length=1, description="Content of the message, verbatim. Plain text.")
    name: str = Field(default="", description="The speaker's name, where several people talk.")


class AddMessages(Arguments):
    messages: Annotated[list[NewMessage], JsonDecoded] = Field(
        min_length=1, max_length=100, description="In the order in which they were said; all are stored, or none."
    )
    session_id: SessionId


class MessagesAdded(ToolResult):
    session_id: str = Field(description="The conversation that they were added to.")
    message_ids: list[str] = Field(description="In the order of the messages.")
    tokens: int = Field(description="Of all of them.")

    def text(self) -> str:
        return (
            f"Remembered in the session {self.session_id} (messages: {len(self.message_ids)}, tokens: {self.tokens})."
        )


async def add(sidecar: SidecarClient, arguments: AddMessages) -> MessagesAdded:
    session_id = arguments.session_id or sidecar.session_id
    request = memory_pb2.AddBatchRequest(
        namespace=sidecar.namespace,
        user_id=sidecar.user_id,
        session_id=session_id,
        messages=[
            message_pb2.Message(id=new_id(), role=_role(message.role), content=message.content, name=message.name)
            for message in arguments.messages
        ],
    )
    response: memory_pb2.AddBatchResponse = await sidecar.call(sidecar.messages.AddBatch, request)
    return MessagesAdded(
        session_id=session_id,
        message_ids=[added.message_id for added in response.results],
        tokens=sum(added.tokens for added in response.results),
    )


class ShownMessage(BaseModel):
    """One message, as it is shown."""

    session_id: str = Field(description="The conversation that it belongs to.")
    message_id: str
    role: str = Field(description="user, assistant, system or tool.")
    name: str = Field(description="The speaker; empty where there is no name.")
    said_at: datetime
    content: str = Field(description="Shortened where it is long; it says so at its end.")
    relevance: float = Field(
        default=0.0, description="The probability that it helps with the query, from 0 to 1; 0 where none was asked."
    )

    def line(self) -> str:
        speaker = f"{self.role} {self.name}" if self.name else self.role
        return f"[{self.said_at:%Y-%m-%d %H:%M} UTC, {speaker}, session {self.session_id}] {self.content}"


class MessageSearchResult(ToolResult):
    messages: list[ShownMessage] = Field(description="Best first.")
    more: bool = Field(description="There are more than these: ask for more, or more narrowly.")
    notes: list[str] = Field(description="What was missing when this was answered. Empty when all is well.")

    def text(self) -> str:
        lines = [f"{at}. {message.line()}" for at, message in enumerate(self.messages, 1)] or ["Nothing was found."]
        if self.more:
            lines.append("(There are more than these.)")
        return "\n".join([*lines, *parenthesized(self.notes)])


class SearchMessages(Arguments):
    query: str = Field(
        min_length=1, description="What to look for: a question, a few words, or an exact piece of text."
    )
    mode: Literal["hybrid", "keyword", "semantic", "substring"] = Field(
        default="hybrid",
        description="hybrid: words and meaning together. keyword: words alone. semantic: meaning alone. substring: the "
        "exact text anywhere in a message, newest first.",
    )
    limit: int = Field(default=5, ge=1, le=20, description="How many messages at most.")
    session_id: str = Field(default="", description="Look in this conversation only. Leave it out to look in all.")
    after: datetime | None = Field(
        default=None, description="Only what was said later than this: a date or time such as 2027-01-31T18:00."
    )
    before: datetime | None = Field(default=None, description="Only what was said earlier than this, in the same form.")


async def search(sidecar: SidecarClient, arguments: SearchMessages) -> MessageSearchResult:
    request = memory_pb2.SearchRequest(
        namespace=sidecar.namespace,
        user_id=sidecar.user_id,
        session_id=arguments.session_id,
        query=arguments.query,
        mode=f"SEARCH_MODE_{arguments.mode.upper()}",
        scope=message_pb2.SCOPE_SESSION if arguments.session_id else message_pb2.SCOPE_USER,
        limit=arguments.limit,
        min_score=MIN_SCORE,
        after=_time(arguments.after),
        before=_time(arguments.before),
    )
    response: memory_pb2.SearchResponse = await sidecar.call(sidecar.messages.Search, request)
    hits = [_shown(hit.session_id, hit.message, round(hit.relevance, 3)) for hit in response.hits]
    shown = take_fitting(hits, ShownMessage.line)
    more = len(shown) < len(hits) or bool(response.next_page_token)
    return MessageSearchResult(messages=shown, more=more, notes=degradation_notes(response.degraded))


class RecentMessages(Arguments):
    limit: int = Field(default=10, ge=1, le=50, description="How many messages at most, the newest.")
    session_id: str = Field(
        default="", description="Of this conversation only. Leave it out for the newest of all conversations."
    )


class RecentResult(ToolResult):
    messages: list[ShownMessage] = Field(description="Oldest first, one conversation after the other.")
    more: bool = Field(description="Older ones were left out.")

    def text(self) -> str:
        lines = [message.line() for message in self.messages] or ["Nothing has been said yet."]
        return "\n".join(["(There are older ones.)", *lines] if self.more else lines)


async def recent(sidecar: SidecarClient, arguments: RecentMessages) -> RecentResult:
    sessions = [arguments.session_id] if arguments.session_id else await _latest_sessions(sidecar)
    newest_first: list[ShownMessage] = []
    for session_id in sessions:
        if len(newest_first) <= arguments.limit:
            newest_first += reversed(await _newest(sidecar, session_id, arguments.limit + 1 - len(newest_first)))
    shown = take_fitting(newest_first[: arguments.limit], ShownMessage.line)
    return RecentResult(messages=shown[::-1], more=len(shown) < len(newest_first))


async def _latest_sessions(sidecar: SidecarClient) -> list[str]:
    request = session_pb2.ListSessionsRequest(
        namespace=sidecar.namespace, user_id=sidecar.user_id, page_size=MAX_RECENT_SESSIONS
    )
    response: session_pb2.ListSessionsResponse = await sidecar.call(sidecar.sessions.ListSessions, request)
    return [session.session_id for session in response.sessions]


async def _newest(sidecar: SidecarClient, session_id: str, limit: int) -> list[ShownMessage]:
    request = memory_pb2.GetRecentRequest(
        namespace=sidecar.namespace,
        user_id=sidecar.user_id,
        session_id=session_id,
        n=limit,
        max_tokens=MAX_RESULT_BYTES,
    )
    response: memory_pb2.GetRecentResponse = await sidecar.call(sidecar.messages.GetRecent, request)
    return [_shown(session_id, message) for message in response.messages]


class ForgetSession(Arguments):
    session_id: str = Field(min_length=1, description="The conversation to erase, as the other tools name it.")


class SessionForgotten(ToolResult):
    messages: int = Field(description="How many messages were erased.")
    facts: int = Field(description="How many facts that came from that conversation alone were erased.")

    def text(self) -> str:
        return f"Erased: the conversation (messages: {self.messages}, facts that came from it alone: {self.facts})."


async def forget(sidecar: SidecarClient, arguments: ForgetSession) -> SessionForgotten:
    request = session_pb2.DeleteSessionRequest(
        namespace=sidecar.namespace, user_id=sidecar.user_id, session_id=arguments.session_id
    )
    response: session_pb2.DeleteSessionResponse = await sidecar.call(sidecar.sessions.DeleteSession, request)
    return SessionForgotten(messages=response.receipt.messages, facts=response.receipt.facts)


def _shown(session_id: str, message: message_pb2.Message, relevance: float = 0.0) -> ShownMessage:
    content = message.content or " ".join(f"{call.name}({call.arguments_json})" for call in message.tool_calls)
    return ShownMessage(
        session_id=session_id,
        message_id=message.id,
        role=message_pb2.Role.Name(message.role).removeprefix("ROLE_").lower(),
        name=message.name,
        said_at=message.create_time.ToDatetime(UTC),
        content=truncate(content),
        relevance=relevance,
    )


def _role(role: Role) -> message_pb2.Role:
    return message_pb2.ROLE_USER if role == "user" else message_pb2.ROLE_ASSISTANT


def _time(arguments: datetime | None) -> Timestamp | None:
    if arguments is None:
        return None
    time = Timestamp()
    # A time without a zone is local time.
    time.FromDatetime(arguments.astimezone(UTC))
    return time


MESSAGE_TOOLS = (
    Tool(
        "add_messages",
        "Remember what was said",
        "Store messages of the conversation in the user's long-term memory, word for word. Call it after each exchange "
        "that is worth remembering, with what the user said and what you answered. Once it answers, they are on disk "
        "and every tool finds them; facts about the user are learned from them in the background.",
        AddMessages,
        MessagesAdded,
        ADDS,
        add,
    ),
    Tool(
        "search_messages",
        "Search what was said",
        "Find what was said in earlier conversations, or in this one, by words and by meaning. Use it when the user "
        "refers to something specific from before. For an overview of all that matters for a question, use "
        "build_context instead.",
        SearchMessages,
        MessageSearchResult,
        READS,
        search,
    ),
    Tool(
        "recent_messages",
        "Read the newest messages",
        "Read what was said last, in order. Use it to go on where an earlier conversation ended, or when the user asks "
        "what you talked about last time.",
        RecentMessages,
        RecentResult,
        READS,
        recent,
    ),
    Tool(
        "forget_session",
        "Forget a conversation",
        "Erase one conversation for good: its messages, its summary, and facts that were learned from it alone. It "
        "cannot be undone. Only when the user asks for it.",
        ForgetSession,
        SessionForgotten,
        ERASES,
        forget,
    ),
)
