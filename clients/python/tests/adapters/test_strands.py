"""Sessions and memory of Strands Agents, with its own agent and a model that is written down."""

from collections.abc import AsyncIterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strands import Agent, tool
from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.memory import MemoryManager
from strands.models import Model
from strands.multiagent import GraphBuilder
from strands.session.file_session_manager import FileSessionManager
from strands.session.repository_session_manager import RepositorySessionManager
from strands.session.session_manager import SessionManager
from strands.types.exceptions import SessionException
from strands.types.session import Session, SessionAgent, SessionMessage, SessionType

from adapters.shapes import blobs, ids, jsons, many, objects, texts
from memsidecar_client import Client, Role, new_id
from memsidecar_client.adapters.strands import MemsidecarMemoryStore, MemsidecarSessionRepository

Blocks = list[dict[str, Any]]


class WrittenModel(Model):
    """A fake model with fixed answers that records its prompts."""

    def __init__(self, *answers: Blocks) -> None:
        self.answers = list(answers)
        self.seen: list[Any] = []

    def update_config(self, **_: Any) -> None:
        raise NotImplementedError

    def get_config(self) -> dict[str, Any]:
        return {}

    def structured_output(self, *_: Any, **__: Any) -> Any:
        raise NotImplementedError

    async def stream(self, messages: Any, *_: Any, **__: Any) -> AsyncIterable[Any]:
        self.seen.append([dict(message) for message in messages])
        blocks = self.answers.pop(0)
        yield {"messageStart": {"role": "assistant"}}
        for block in blocks:
            for event in _events(block):
                yield event
        yield {"messageStop": {"stopReason": "tool_use" if "toolUse" in blocks[-1] else "end_turn"}}


def _events(block: dict[str, Any]) -> list[Any]:
    start: dict[str, Any] = {}
    delta: dict[str, Any] = block
    if "toolUse" in block:
        use = block["toolUse"]
        start = {"toolUse": {"toolUseId": use["toolUseId"], "name": use["name"]}}
        delta = {"toolUse": {"input": use["input"]}}
    return [
        {"contentBlockStart": {"start": start}},
        {"contentBlockDelta": {"delta": delta}},
        {"contentBlockStop": {}},
    ]


def text(said: str) -> dict[str, Any]:
    return {"text": said}


def use(use_id: str, city: str) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": use_id, "name": "weather", "input": f'{{"city": "{city}"}}'}}


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}[city]


def agent(model: WrittenModel, sessions: SessionManager[Any] | None, **options: Any) -> Agent:
    return Agent(model, tools=[weather], session_manager=sessions, callback_handler=None, **options)


def plain(messages: Any) -> list[Any]:
    """Return a state without values that Strands generates each time: tracking ids and times."""
    return [(message["role"], message["content"]) for message in messages]


def test_two_turns_with_tools_are_the_same_as_in_files(client: Client, session_id: str, tmp_path: Any) -> None:
    answers = (
        [text("Let me look."), use("c1", "Lisbon"), use("c2", "Atlantis")],
        [text("Sunny in Lisbon; there is no Atlantis.")],
        [use("c3", "Lisbon")],
        [text("Still sunny.")],
    )
    repository = MemsidecarSessionRepository(client)
    ways: list[Any] = [
        lambda: RepositorySessionManager(session_id, repository),
        lambda: FileSessionManager(session_id, storage_dir=str(tmp_path)),
    ]
    told: list[Any] = []
    for way in ways:
        model = WrittenModel(*answers)
        agent(model, way(), state={"city": "Lisbon"})("How is the weather in Lisbon and Atlantis?")
        again = agent(model, way())
        answer = again("And now?")
        assert str(answer).strip() == "Still sunny."
        assert again.state.get("city") == "Lisbon"
        told.append(
            (plain(again.messages), [plain(shown) for shown in model.seen], plain(agent(model, way()).messages))
        )
    assert told[0] == told[1]
    assert len(told[0][0]) == 8


def test_uses_and_results_are_in_the_fields_of_the_contract(client: Client, session_id: str) -> None:
    sessions = RepositorySessionManager(session_id, MemsidecarSessionRepository(client))
    model = WrittenModel([use("c1", "Lisbon"), use("c2", "Atlantis")], [text("Sunny.")])
    agent(model, sessions)("Weather?")
    question, uses, agent_record, two, answer = client.iter_messages(session_id=session_id)
    assert [question.role, question.content] == [Role.ROLE_USER, "Weather?"]
    assert [(call.id, call.name, call.arguments_json) for call in uses.tool_calls] == [
        ("c1", "weather", '{"city": "Lisbon"}'),
        ("c2", "weather", '{"city": "Atlantis"}'),
    ]
    assert {agent_record.tool_call_id, two.tool_call_id} == {"c1", "c2"}
    assert agent_record.role == two.role == Role.ROLE_TOOL
    assert "21 degrees and sunny" in {agent_record.content, two.content}
    assert [answer.role, answer.content] == [Role.ROLE_ASSISTANT, "Sunny."]


def test_memory_of_another_session_is_injected_and_not_stored(client: Client, session_id: str, user_id: str) -> None:
    repository = MemsidecarSessionRepository(client, user_id=user_id)
    first = RepositorySessionManager(f"{session_id}-1", repository)
    agent(WrittenModel([text("Noted.")]), first)("I live in Lisbon, near the river.")
    store = MemsidecarMemoryStore(client, session_id=session_id, user_id=user_id, max_tokens=2_000)
    memory = MemoryManager(stores=[store], search_tool_config=False)
    model = WrittenModel([use("c1", "Lisbon")], [text("Sunny.")])
    second = agent(model, RepositorySessionManager(session_id, repository), memory_manager=memory)
    second("How is the weather where I live?")
    assert "near the river" in str(model.seen[0])
    assert "near the river" not in str(second.messages)
    assert "near the river" not in str(list(client.iter_messages(session_id=session_id)))


async def test_memories_are_found_in_every_session(client: Client, session_id: str, user_id: str) -> None:
    store = MemsidecarMemoryStore(client, session_id=session_id, user_id=user_id, writable=True)
    assert await store.search("Where is the key?") == []
    for _ in range(2):
        await store.add("The key is under the blue stone.", {"by": "test"})
    assert len(list(client.iter_documents(user_id=user_id))) == 1
    other = MemsidecarMemoryStore(client, session_id=f"{session_id}-2", user_id=user_id)
    assert "blue stone" in (await other.search("Where is the key?"))[0].content


def test_a_sliding_window_continues_after_a_restart(client: Client, session_id: str) -> None:
    def again(model: WrittenModel) -> Agent:
        sessions = RepositorySessionManager(session_id, MemsidecarSessionRepository(client))
        return agent(model, sessions, conversation_manager=SlidingWindowConversationManager(window_size=4))

    model = WrittenModel(*([text(f"Answer {at}.")] for at in range(6)))
    for at in range(3):
        again(model)(f"Question {at}?")
    client.prune(session_id=session_id, max_tokens=1)
    before = again(model)
    assert [message["content"][0]["text"] for message in before.messages] == [
        "Question 1?",
        "Answer 1.",
        "Question 2?",
        "Answer 2.",
    ]


def test_a_redacted_message_is_not_read_again(client: Client, session_id: str) -> None:
    repository = MemsidecarSessionRepository(client)
    sessions = RepositorySessionManager(session_id, repository)
    second = agent(WrittenModel([text("Fine.")]), sessions)
    second("My number is 4711.")
    question = repository.list_messages(session_id, "default")[0]
    question.redact_message = {"role": "user", "content": [{"text": "[redacted]"}]}
    repository.update_message(session_id, "default", question)
    found = repository.list_messages(session_id, "default")
    assert [message.message_id for message in found] == [0, 1]
    assert found[0].to_message()["content"] == [{"text": "[redacted]"}]
    assert found[0].created_at == question.created_at
    assert repository.read_message(session_id, "default", 0) == found[0]
    assert repository.read_message(session_id, "default", 7) is None
    with pytest.raises(SessionException):
        repository.update_message(session_id, "default", SessionMessage(question.message, 7))


def test_several_agents_and_their_states(client: Client, session_id: str) -> None:
    repository = MemsidecarSessionRepository(client)
    session = Session(session_id, SessionType.AGENT)
    assert repository.read_session(session_id) is None
    repository.create_session(session)
    assert repository.read_session(session_id) == session
    with pytest.raises(SessionException):
        repository.create_session(session)
    for name in ("default", "critic"):
        assert repository.read_agent(session_id, name) is None
        with pytest.raises(SessionException):
            repository.update_agent(session_id, SessionAgent(name, {}, {}))
        repository.create_agent(session_id, SessionAgent(name, {"raw": "x" * 30_000}, {}))
        repository.create_message(session_id, name, SessionMessage({"role": "user", "content": [{"text": name}]}, 0))
    repository.update_agent(session_id, SessionAgent("critic", {"n": 1}, {"__name__": "x"}))
    agents = [repository.read_agent(session_id, name) for name in ("default", "critic")]
    assert [agent_record and agent_record.state for agent_record in agents] == [{"raw": "x" * 30_000}, {"n": 1}]
    assert [repository.list_messages(session_id, name)[0].message["content"] for name in ("default", "critic")] == [
        [{"text": "default"}],
        [{"text": "critic"}],
    ]
    assert [message.content for message in client.iter_messages(session_id=f"{session_id}/critic")] == ["critic"]


def test_the_state_of_a_graph(client: Client, session_id: str) -> None:
    repository = MemsidecarSessionRepository(client)
    builder = GraphBuilder()
    builder.add_node(agent(WrittenModel([text("Done.")]), None, name="worker"), "worker")
    builder.set_entry_point("worker")
    builder.set_max_node_executions(3)
    builder.set_session_manager(RepositorySessionManager(session_id, repository))
    graph = builder.build()
    graph("Work.")
    state = repository.read_multi_agent(session_id, graph.id)
    assert state is not None
    assert state["status"] == "completed"
    graph.id = "another"
    with pytest.raises(SessionException):
        repository.update_multi_agent(session_id, graph)


def block(**kinds: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(dict(kinds))


def media(kind: str) -> st.SearchStrategy[dict[str, Any]]:
    return block(format=st.just(kind), source=st.one_of(block(bytes=blobs), block(location=block(type=texts))))


result_contents = st.one_of(
    block(text=texts), block(json=jsons()), block(image=media("png")), block(document=media("pdf"))
)
results = block(
    toolResult=st.fixed_dictionaries(
        {
            "toolUseId": ids,
            "status": st.sampled_from(["success", "error"]),
            "content": st.lists(result_contents, max_size=3),
        }
    )
)
blocks = st.one_of(
    block(text=texts),
    block(image=media("png")),
    block(document=media("pdf")),
    block(video=media("mp4")),
    block(cachePoint=block(type=st.just("default"))),
    block(guardContent=block(text=block(text=texts))),
    block(
        citationsContent=block(citations=st.lists(objects, max_size=1), content=st.lists(block(text=texts), max_size=2))
    ),
    block(reasoningContent=block(reasoningText=block(text=texts, signature=texts))),
    block(reasoningContent=block(redactedContent=blobs)),
    block(toolUse=block(toolUseId=ids, name=ids, input=jsons())),
    results,
)
messages = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant"]), "content": st.lists(blocks, max_size=5)},
    optional={"tracking_id": ids, "metadata": objects},
)


@many
@given(given_messages=st.lists(messages, min_size=1, max_size=4))
def test_messages_are_returned_unchanged(client: Client, given_messages: list[Any]) -> None:
    repository = MemsidecarSessionRepository(client)
    session_id = new_id()
    stored = [SessionMessage(message, at) for at, message in enumerate(given_messages)]
    for message in [*stored, stored[-1]]:
        repository.create_message(session_id, "default", message)
    assert repository.list_messages(session_id, "default") == stored
    assert repository.list_messages(session_id, "default", limit=2, offset=1) == stored[1:3]
