"""Requests out of keywords and dicts: names of enumerations at any depth, and errors that say where."""

import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any, get_args, get_type_hints

import pytest

from memsidecar_client import (
    AsyncClient,
    Client,
    FactType,
    ImportRequest,
    Message,
    PruneStrategy,
    Role,
    ToolCall,
    _aio_methods,
    _methods,
    new_id,
)
from memsidecar_client._requests import built
from memsidecar_client.dicts import AddStreamRequestDict, ImportRequestDict, MessageDict, RoleName
from runner.sidecar_process import SidecarProcess

NAIVE = datetime(2026, 1, 2, 3, 4, 5)
SPOKEN: list[MessageDict] = [
    {"role": "user", "content": "What is the weather?", "create_time": datetime(2026, 1, 2, tzinfo=UTC)},
    {"role": "assistant", "tool_calls": [{"id": "c1", "name": "weather", "arguments_json": "{}"}]},
    {"role": Role.ROLE_TOOL, "tool_call_id": "c1", "content": "Sunny.", "metadata": {"source": ["sky"]}},
]


def test_messages_may_be_dicts_with_names(sidecar: SidecarProcess) -> None:
    session = new_id()
    with Client(sidecar.address) as memory:
        memory.add_batch(session_id=session, messages=[*SPOKEN, Message(role=Role.ROLE_USER, content="Thanks.")])
        found = memory.get_all(session_id=session).messages
        assert [message.role for message in found] == [
            Role.ROLE_USER,
            Role.ROLE_ASSISTANT,
            Role.ROLE_TOOL,
            Role.ROLE_USER,
        ]
        assert found[0].create_time.ToDatetime(UTC) == datetime(2026, 1, 2, tzinfo=UTC)
        assert list(found[1].tool_calls) == [ToolCall(id="c1", name="weather", arguments_json="{}")]
        assert found[2].metadata == {"source": ["sky"]}


def test_sections_facts_and_policies_may_be_dicts(sidecar: SidecarProcess) -> None:
    session = new_id()
    with Client(sidecar.address) as memory:
        memory.add_batch(session_id=session, user_id=session, messages=SPOKEN)
        memory.put_facts(user_id=session, facts=[{"type": "user_profile", "key": "home", "value": "Lisbon"}])
        assert memory.list_facts(user_id=session).facts[0].type == FactType.FACT_TYPE_USER_PROFILE
        context = memory.build_context(session_id=session, sections=[{"section": "working", "disabled": True}])
        assert all(message.content != "What is the weather?" for message in context.messages)
        answer = memory.set_policy(session_id=session, policy={"strategy": "turns", "auto_prune_tokens": 900})
        assert answer.policy.strategy == PruneStrategy.PRUNE_STRATEGY_TURNS


async def test_the_same_with_asyncio(sidecar: SidecarProcess) -> None:
    session = new_id()
    async with AsyncClient(sidecar.address) as memory:
        await memory.add_batch(session_id=session, messages=SPOKEN)
        assert (await memory.count(session_id=session)).stats.message_count == 3
        with pytest.raises(ValueError, match=r"messages\[1\]\.role: 'boss' is none of system, user, assistant, tool"):
            await memory.add_batch(session_id=session, messages=[SPOKEN[0], {"role": "boss"}])  # type: ignore[list-item]


def test_a_stream_accepts_dicts_and_names_an_invalid_one(sidecar: SidecarProcess) -> None:
    session = new_id()
    with Client(sidecar.address) as memory:
        good: AddStreamRequestDict = {"session_id": session, "message": {"role": "user", "content": "Hello."}}
        bad: Any = {"session_id": session, "message": {"role": "boss"}}
        assert [answer.result.sequence for answer in memory.add_stream([good, good])] == [1, 2]
        with pytest.raises(ValueError, match=r"requests\[1\]\.message\.role: 'boss' is none of"):
            list(memory.add_stream([good, bad]))


async def test_a_stream_accepts_dicts_with_asyncio(sidecar: SidecarProcess) -> None:
    session = new_id()

    async def said(role: Any) -> AsyncIterator[AddStreamRequestDict]:
        yield {"session_id": session, "message": {"role": role, "content": "Hello."}}

    async with AsyncClient(sidecar.address) as memory:
        assert [answer.result.sequence async for answer in memory.add_stream(said("user"))] == [1]
        with pytest.raises(ValueError, match=r"requests\[0\]\.message\.role: 'boss' is none of"):
            [answer async for answer in memory.add_stream(said("boss"))]
        with pytest.raises(TypeError, match=r"requests\[0\]: ImportRequest or dict is wanted, not int"):
            [answer async for answer in memory.import_([5])]  # type: ignore[list-item]


def test_a_vector_may_be_any_iterable() -> None:
    assert list(built(Message, vector=(number / 2 for number in range(3))).vector) == [0, 0.5, 1]
    wrong: list[Any] = [1.0, "b"]
    with Client("127.0.0.1:1") as memory, pytest.raises(TypeError, match=r"^vector\[1\]: float is wanted, not str"):
        memory.add(session_id="s", role="user", content="x", vector=(number for number in wrong))


async def test_requests_that_are_not_iterable_are_rejected() -> None:
    told = "^requests: an iterable is wanted, not int$"
    wrong: Any = 5
    with Client("127.0.0.1:1") as memory:
        for call in (memory.add_stream, memory.import_):
            with pytest.raises(TypeError, match=told):
                call(wrong)
    async with AsyncClient("127.0.0.1:1") as another:
        for begin in (another.add_stream, another.import_):
            with pytest.raises(TypeError, match=told):
                begin(wrong)


def test_an_error_of_an_import_reaches_the_caller(sidecar: SidecarProcess) -> None:
    """The sidecar is paused, so that its own error for an import does not come first."""

    def archived() -> Iterator[ImportRequest | ImportRequestDict]:
        yield {"record": {"message": {"role": "user", "content": "Hello.", "create_time": NAIVE}}}

    sidecar.pause()
    try:
        with (
            Client(sidecar.address) as memory,
            pytest.raises(ValueError, match=r"^requests\[0\]\.record\.message\.create_time: "),
        ):
            list(memory.import_(archived(), timeout=10))
    finally:
        sidecar.resume()


SAID = {"session_id": "s", "role": "user"}
WRONG: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("add", {**SAID, "content": 5}, TypeError, "content: str is wanted, not int"),
    ("add", {**SAID, "message_id": 5}, TypeError, "message_id: str is wanted, not int"),
    ("add", {**SAID, "session_id": 5}, TypeError, "session_id: str is wanted, not int"),
    ("add", {**SAID, "role": "boss"}, ValueError, "role: 'boss' is none of system, user, assistant, tool"),
    ("add", {**SAID, "role": 1.5}, TypeError, "role: "),
    ("add", {**SAID, "content": "\ud800"}, ValueError, "content: 'utf-8' codec"),
    ("add", {**SAID, "create_time": NAIVE}, ValueError, "create_time: 2026-01-02 03:04:05 has no time zone"),
    ("add", {**SAID, "create_time": "now"}, TypeError, "create_time: "),
    ("add", {**SAID, "metadata": 5}, TypeError, "metadata: dict is wanted, not int"),
    ("add", {**SAID, "metadata": {"a": object()}}, ValueError, "metadata: "),
    ("add", {**SAID, "vector": [0.5, "x"]}, TypeError, "vector[1]: float is wanted, not str"),
    ("add", {**SAID, "vector": {0.5: 1, "x": 1}.keys()}, TypeError, "vector[1]: float is wanted, not str"),
    ("add", {**SAID, "vector": 5}, TypeError, "vector: list is wanted, not int"),
    (
        "add",
        {**SAID, "tool_calls": [{"nmae": "x"}]},
        TypeError,
        "tool_calls[0].nmae: ToolCall has no such field; it has",
    ),
    ("put_document", {"document_id": 5, "text": "x"}, TypeError, "document_id: str is wanted, not int"),
    ("add_batch", {"messages": [{}, {"content": 5}]}, TypeError, "messages[1].content: str is wanted, not int"),
    ("add_batch", {"messages": [{"create_time": NAIVE}]}, ValueError, "messages[0].create_time: 2026"),
    ("add_batch", {"messages": [{"rolle": None}]}, TypeError, "messages[0].rolle: Message has no such field"),
    ("add_batch", {"messages": ["hi"]}, TypeError, "messages[0]: Message or dict is wanted, not str"),
    ("add_batch", {"messages": {"role": "user"}}, TypeError, "messages: list is wanted, not dict"),
    ("search", {"query": "x", "roles": "user"}, TypeError, "roles: list is wanted, not str"),
    ("search", {"query": "x", "roles": ["user", "boss"]}, ValueError, "roles[1]: 'boss' is none of system"),
    ("search", {"query": "x", "after": NAIVE}, ValueError, "after: 2026-01-02 03:04:05 has no time zone"),
    ("get_recent", {"n": 2**40}, ValueError, "n: Value out of range"),
    ("build_context", {"documents": "one"}, TypeError, "documents: list is wanted, not str"),
    (
        "build_context",
        {"sections": [{"section": "x"}]},
        ValueError,
        "sections[0].section: 'x' is none of system",
    ),
]


@pytest.mark.parametrize(("method", "given", "kind", "told"), WRONG, ids=[told for *_, told in WRONG])
async def test_an_error_names_the_path(method: str, given: dict[str, Any], kind: type[Exception], told: str) -> None:
    given = {"session_id": "s"} | given
    with Client("127.0.0.1:1") as memory, pytest.raises(kind, match=f"^{re.escape(told)}"):
        getattr(memory, method)(**given)
    async with AsyncClient("127.0.0.1:1") as another:
        with pytest.raises(kind, match=f"^{re.escape(told)}"):
            await getattr(another, method)(**given)


def test_mypy_knows_the_names_of_enumerations() -> None:
    """mypy must reject these calls: an unused `type: ignore` is an error."""
    with Client("127.0.0.1:1") as memory:
        with pytest.raises(ValueError, match="scope"):
            memory.search(query="x", scope="galaxy")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="type"):
            memory.put_facts(user_id="u", facts=[{"type": "gossip", "key": "k", "value": "v"}])  # type: ignore[list-item]
    for methods in (_methods.Methods, _aio_methods.AsyncMethods):
        assert RoleName in get_args(get_type_hints(methods.add)["role"])
    assert get_args(RoleName) == ("system", "user", "assistant", "tool")
