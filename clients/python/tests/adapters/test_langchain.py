"""The chat message history of LangChain, with its own runnables and models for tests."""

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    trim_messages,
)
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableLambda, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.tools import tool

from adapters.shapes import ids, many, maybe, objects, texts
from memsidecar_client import Client, Role, ToolCall, errors, new_id
from memsidecar_client.adapters.langchain import MemsidecarChatMessageHistory

# LangChain marks all of its message histories as deprecated, and has them until 2.0.
pytestmark = pytest.mark.filterwarnings("ignore:.*deprecated.*")


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}[city]


def call(call_id: str, city: str) -> dict[str, Any]:
    return {"id": call_id, "name": "weather", "args": {"city": city}, "type": "tool_call"}


def answering(model: GenericFakeChatModel) -> RunnableLambda[Any, Any]:
    """Run an agent's loop: call the model, use tools, and return all messages."""

    def answer(given: dict[str, list[BaseMessage]]) -> list[BaseMessage]:
        said: list[BaseMessage] = []
        while True:
            reply = model.invoke([*given["history"], *given["input"], *said])
            said.append(reply)
            if not reply.tool_calls:
                return said
            said += [weather.invoke(tool_call) for tool_call in reply.tool_calls]

    return RunnableLambda(answer)


@pytest.mark.parametrize("waits", [True, False])
def test_two_turns_with_tools(client: Client, session_id: str, waits: bool) -> None:
    answers = [
        AIMessage("", tool_calls=[call("c1", "Lisbon"), call("c2", "Porto")], id="a1"),
        AIMessage("Sunny in Lisbon, rain in Porto.", id="a2"),
        AIMessage("Let me look.", tool_calls=[call("c3", "Lisbon")], id="a3"),
        AIMessage("Still sunny.", id="a4"),
    ]
    chain = RunnableWithMessageHistory(
        answering(GenericFakeChatModel(messages=iter(answers))),
        lambda session_id: MemsidecarChatMessageHistory(session_id, client),
        input_messages_key="input",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": session_id}}

    def said(question: str) -> Any:
        asked = {"input": [HumanMessage(question)]}
        return asyncio.run(chain.ainvoke(asked, config)) if waits else chain.invoke(asked, config)

    assert len(said("How is the weather in Lisbon and Porto?")) == 4
    assert said("And now?")[-1].content == "Still sunny."
    history = MemsidecarChatMessageHistory(session_id, client).messages
    assert [message.type for message in history] == ["human", "ai", "tool", "tool", "ai", "human", "ai", "tool", "ai"]
    assert [message for message in history if isinstance(message, AIMessage)] == answers
    assert trim_messages(history, max_tokens=4, token_counter=len, start_on="human") == history[5:]


def test_calls_and_results_are_in_the_fields_of_the_contract(client: Client, session_id: str) -> None:
    failed = ToolMessage("No such city.", tool_call_id="c1", name="weather", status="error", artifact={"code": 404})
    broken: Any = {"id": "c2", "name": "weather", "args": "{city", "error": "no JSON", "type": "invalid_tool_call"}
    called = AIMessage(
        [{"type": "reasoning", "reasoning": "Which city?"}, {"type": "text", "text": "Let me look."}],
        tool_calls=[call("c1", "Atlantis")],
        invalid_tool_calls=[broken],
    )
    history = MemsidecarChatMessageHistory(session_id, client)
    history.add_messages([called, failed])
    assistant, result = client.iter_messages(session_id=session_id)
    assert [assistant.role, assistant.content, assistant.reasoning] == [
        Role.ROLE_ASSISTANT,
        "Let me look.",
        "Which city?",
    ]
    assert [(each.id, each.name, each.arguments_json) for each in assistant.tool_calls] == [
        ("c1", "weather", '{"city": "Atlantis"}'),
        ("c2", "weather", "{city"),
    ]
    assert [result.role, result.tool_call_id, result.name, result.content] == [
        Role.ROLE_TOOL,
        "c1",
        "weather",
        "No such city.",
    ]
    assert history.messages == [called, failed]


def test_a_message_is_stored_once(client: Client, session_id: str) -> None:
    history = MemsidecarChatMessageHistory(session_id, client)
    said = HumanMessage("yes")
    history.add_messages([said, said])
    history.add_message(said)
    assert history.messages == [said]
    assert said.id
    history.add_user_message("yes")
    assert [message.content for message in history.messages] == ["yes", "yes"]
    with pytest.raises(errors.IdConflict):
        history.add_message(HumanMessage("no", id=said.id))
    history.clear()
    assert history.messages == []
    history.add_messages([])
    history.add_message(said)
    assert str(history) == "Human: yes"


async def test_the_asynchronous_methods(client: Client, session_id: str) -> None:
    history = MemsidecarChatMessageHistory(session_id, client)
    await history.aadd_messages([HumanMessage("Hello.", id="h1")])
    assert await history.aget_messages() == [HumanMessage("Hello.", id="h1")]
    assert [message.content for message in await history.acontext()] == ["Hello."]
    await history.aclear()
    assert await history.aget_messages() == []


def test_a_chain_with_the_memory_of_another_session(client: Client, session_id: str, user_id: str) -> None:
    MemsidecarChatMessageHistory(f"{session_id}-1", client, user_id=user_id).add_messages(
        [HumanMessage("I live in Lisbon, near the river."), AIMessage("Noted.")]
    )
    seen: list[list[BaseMessage]] = []

    def history_of(session_id: str) -> MemsidecarChatMessageHistory:
        return MemsidecarChatMessageHistory(session_id, client, user_id=user_id)

    def remembered(asked: dict[str, Any]) -> list[BaseMessage]:
        return history_of(session_id).context(asked["question"], max_tokens=2_000, system_prompt="Be kind.")

    def model(prompt: Any) -> AIMessage:
        seen.append(prompt.to_messages())
        return AIMessage("In Lisbon.")

    prompt = ChatPromptTemplate.from_messages([MessagesPlaceholder("history"), ("human", "{question}")])
    chain = RunnableWithMessageHistory(
        RunnablePassthrough.assign(history=RunnableLambda(remembered)) | prompt | RunnableLambda(model),
        history_of,
        input_messages_key="question",
        history_messages_key="history",
    )
    config: Any = {"configurable": {"session_id": session_id}}
    chain.invoke({"question": "Where do I live?"}, config)
    assert seen[0][0].type == "system"
    assert "Be kind." in seen[0][0].text
    assert "near the river" in str(seen[0])
    assert [message.content for message in history_of(session_id).messages] == ["Where do I live?", "In Lisbon."]


def test_a_context_is_inside_its_budget_and_ends_with_the_question(client: Client, session_id: str) -> None:
    history = MemsidecarChatMessageHistory(session_id, client)
    history.add_messages([kind(f"{at} " + "word " * 60) for at in range(40) for kind in (HumanMessage, AIMessage)])
    context = history.context("What now?", append_query=True, max_tokens=1_000)
    assert 2 < len(context) < 20
    assert isinstance(context[-1], HumanMessage)
    assert context[-1].content == "What now?"


QUESTION = "Which of these stations should I look at?"
LOOP = [f"station {at} " + "word " * 388 for at in range(13)]
LOG = ["\n".join(f"line {at} of the log says that all is well" for at in range(2_000))]


def station_calls(results: list[str]) -> list[AIMessage]:
    calls: list[Any] = [
        {"id": f"call_{number}", "name": "station", "args": {"number": number}, "type": "tool_call"}
        for number in range(len(results))
    ]
    return [AIMessage("", tool_calls=[tool_call]) for tool_call in calls]


def verify_prompt(prompt: list[BaseMessage], question: str, max_tokens: int) -> None:
    """Check the question, calls directly before their results, and the budget, in words: here each is a token."""
    assert [str(message.text) for message in prompt if isinstance(message, HumanMessage)].count(question) == 1
    answers = [message for message in prompt if isinstance(message, AIMessage)]
    calls = [tool_call["id"] for message in answers for tool_call in message.tool_calls]
    assert [message.tool_call_id for message in prompt if isinstance(message, ToolMessage)] == calls
    for before, message in pairwise(prompt):
        if isinstance(message, ToolMessage):
            assert isinstance(before, AIMessage)
    assert sum(len(message.text.split()) for message in prompt) <= max_tokens


@pytest.mark.parametrize("max_tokens", [400, 2_000, 8_000, 32_000])
@pytest.mark.parametrize("results", [LOOP, LOG], ids=["loop", "large"])
def test_large_results_stay_inside_the_budget_now_and_later(
    client: Client, session_id: str, user_id: str, results: list[str], max_tokens: int
) -> None:
    @tool
    def station(number: int) -> str:
        """The data of a station."""
        return results[number]

    answers = [*station_calls(results), AIMessage("The last one."), AIMessage("Because."), AIMessage("Yes.")]
    model = GenericFakeChatModel(messages=iter(answers))
    history = MemsidecarChatMessageHistory(session_id, client, user_id=user_id)
    for question, answer in ((QUESTION, "The last one."), ("Why that one?", "Because."), ("Sure?", "Yes.")):
        history.add_message(HumanMessage(question))
        while True:
            prompt = history.context(question, max_tokens=max_tokens, system_prompt="Be brief.")
            verify_prompt(prompt, question, max_tokens)
            reply = model.invoke(prompt)
            history.add_message(reply)
            if not reply.tool_calls:
                break
            history.add_messages([station.invoke(tool_call) for tool_call in reply.tool_calls])
        assert reply.text == answer
    assert [message.text for message in history.messages if isinstance(message, ToolMessage)] == results


def test_a_preview_of_a_result_in_blocks_is_a_text(client: Client, session_id: str) -> None:
    history = MemsidecarChatMessageHistory(session_id, client)
    blocks: list[Any] = [{"type": "text", "text": "The log:"}, {"type": "text", "text": LOG[0]}]
    history.add_messages([HumanMessage(QUESTION), *station_calls(LOG), ToolMessage(blocks, tool_call_id="call_0")])
    result = history.context(max_tokens=2_000)[-1]
    assert isinstance(result, ToolMessage)
    assert isinstance(result.content, str)
    assert result.content.startswith("The log:\nline 0 of the log")
    assert "tokens left out" in result.content
    assert history.messages[-1].content == blocks


def test_messages_of_other_programs_are_read_as_messages(client: Client, session_id: str) -> None:
    client.add(session_id=session_id, role="user", content="Weather?", message_id="m1")
    client.add(
        session_id=session_id,
        role="assistant",
        message_id="m2",
        tool_calls=[ToolCall(id="c1", name="weather", arguments_json='{"city": "Lisbon"}')],
    )
    client.add(session_id=session_id, role="tool", content="Sunny.", tool_call_id="c1", message_id="m3")
    assert MemsidecarChatMessageHistory(session_id, client).messages == [
        HumanMessage("Weather?", id="m1"),
        AIMessage("", id="m2", tool_calls=[call("c1", "Lisbon")]),
        ToolMessage("Sunny.", id="m3", tool_call_id="c1"),
    ]


blocks = st.one_of(
    texts,
    st.fixed_dictionaries({"type": st.just("text"), "text": texts}),
    st.fixed_dictionaries({"type": st.just("image_url"), "image_url": st.fixed_dictionaries({"url": texts})}),
    st.fixed_dictionaries(
        {"type": st.just("image"), "mime_type": st.just("image/png"), "base64": st.just("iVBORw0KGgo" * 9_000)}
    ),
    st.fixed_dictionaries({"type": st.just("reasoning"), "reasoning": texts}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": texts, "signature": texts}),
    st.fixed_dictionaries({"type": st.just("tool_use"), "id": ids, "name": ids, "input": objects}),
)
contents = st.one_of(texts, st.lists(blocks, max_size=4))
common: dict[str, Any] = {
    "content": contents,
    "additional_kwargs": objects,
    "response_metadata": objects,
    "name": maybe(ids),
    "id": maybe(ids),
}
calls = st.lists(
    st.fixed_dictionaries(
        {"id": st.one_of(st.none(), ids), "name": ids, "args": objects, "type": st.just("tool_call")}
    ),
    max_size=3,
)
broken_calls = st.lists(
    st.fixed_dictionaries(
        {
            "id": ids,
            "name": st.one_of(st.none(), ids),
            "args": texts,
            "error": texts,
            "type": st.just("invalid_tool_call"),
        }
    ),
    max_size=2,
)
usage = st.fixed_dictionaries({"input_tokens": st.just(3), "output_tokens": st.just(4), "total_tokens": st.just(7)})
ai = {**common, "tool_calls": calls, "invalid_tool_calls": broken_calls, "usage_metadata": maybe(usage)}
messages = st.one_of(
    st.builds(HumanMessage, **common),
    st.builds(SystemMessage, **common),
    st.builds(AIMessage, **ai),
    st.builds(AIMessageChunk, content=contents, response_metadata=objects),
    st.builds(ChatMessage, **common, role=st.sampled_from(["assistant", "system", "critic"])),
    st.builds(FunctionMessage, **{**common, "name": ids}),
    st.builds(
        ToolMessage,
        **common,
        tool_call_id=ids,
        artifact=maybe(objects),
        status=st.sampled_from(["success", "error"]),
    ),
)


@many
@given(said=st.lists(messages, min_size=1, max_size=4, unique_by=lambda message: message.id or id(message)))
def test_messages_are_returned_unchanged(client: Client, said: list[BaseMessage]) -> None:
    history = MemsidecarChatMessageHistory(new_id(), client)
    history.add_messages(said)
    assert history.messages == said
    assert [type(message) for message in history.messages] == [type(message) for message in said]
