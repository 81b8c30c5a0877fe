"""The session of the OpenAI Agents SDK, with its own runner and a model that is written down."""

import asyncio
import inspect
import json
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any, cast

import pytest
from agents import (
    Agent,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    Session,
    SessionSettings,
    SQLiteSession,
    Usage,
    function_tool,
)
from agents.items import TResponseInputItem, TResponseOutputItem
from agents.run_config import CallModelData, ModelInputData
from hypothesis import given
from hypothesis import strategies as st
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Summary

from adapters.shapes import ids, jsons, many, texts
from memsidecar_client import Client, Role, new_id
from memsidecar_client.adapters.openai_agents import MemsidecarSession


def item(**fields: Any) -> TResponseInputItem:
    return cast(TResponseInputItem, fields)


def text(said: str) -> ResponseOutputMessage:
    content = ResponseOutputText(text=said, type="output_text", annotations=[])
    return ResponseOutputMessage(
        id=f"msg_{new_id()}", type="message", role="assistant", status="completed", content=[content]
    )


def call(call_id: str, city: str) -> ResponseFunctionToolCall:
    arguments = f'{{"city": "{city}"}}'
    return ResponseFunctionToolCall(
        id=f"fc_{new_id()}", call_id=call_id, name="weather", arguments=arguments, type="function_call"
    )


def thought(said: str) -> ResponseReasoningItem:
    return ResponseReasoningItem(
        id=f"rs_{new_id()}", type="reasoning", summary=[Summary(text=said, type="summary_text")]
    )


class WrittenModel(Model):
    """A fake model with fixed answers that records its prompts."""

    def __init__(self, *answers: list[TResponseOutputItem]) -> None:
        self.answers = list(answers)
        self.seen: list[list[dict[str, Any]]] = []
        self.instructions: list[str | None] = []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:
        self.seen.append(list(input))
        self.instructions.append(system_instructions)
        return ModelResponse(output=self.answers.pop(0), usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


@function_tool
def weather(city: str) -> str:
    return {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}[city]


def assistant(model: Model) -> Agent[Any]:
    return Agent(name="assistant", instructions="You tell the weather.", model=model, tools=[weather])


async def test_two_turns_with_tools_are_the_same_as_with_the_sdks_own_session(client: Client, session_id: str) -> None:
    answers: tuple[list[TResponseOutputItem], ...] = (
        [thought("Two cities."), call("c1", "Lisbon"), call("c2", "Porto")],
        [text("Sunny in Lisbon, rain in Porto.")],
        [call("c3", "Lisbon")],
        [text("Still sunny.")],
    )
    histories: list[list[TResponseInputItem]] = []
    shown: list[list[list[dict[str, Any]]]] = []
    sessions: list[Session] = [MemsidecarSession(session_id, client), SQLiteSession(session_id)]
    for session in sessions:
        model = WrittenModel(*answers)
        for question in ("How is the weather in Lisbon and Porto?", "And now?"):
            await Runner.run(assistant(model), question, session=session)
        histories.append(await session.get_items())
        shown.append(model.seen)
    assert histories[0] == histories[1]
    assert len(histories[0]) == 11
    assert shown[0] == shown[1]


async def test_calls_and_outputs_are_in_the_fields_of_the_contract(client: Client, session_id: str) -> None:
    model = WrittenModel([thought("Lisbon."), call("c1", "Lisbon")], [text("Sunny.")])
    await Runner.run(assistant(model), "Weather?", session=MemsidecarSession(session_id, client))
    question, thinking, called, result, answer = client.iter_messages(session_id=session_id)
    assert [question.role, question.content] == [Role.ROLE_USER, "Weather?"]
    assert thinking.reasoning == "Lisbon."
    assert [(item.id, item.name, item.arguments_json) for item in called.tool_calls] == [
        ("c1", "weather", '{"city": "Lisbon"}')
    ]
    assert [result.role, result.tool_call_id, result.content] == [Role.ROLE_TOOL, "c1", "21 degrees and sunny"]
    assert [answer.role, answer.content] == [Role.ROLE_ASSISTANT, "Sunny."]


async def test_the_filter_adds_messages_of_another_session(client: Client, session_id: str, user_id: str) -> None:
    first = MemsidecarSession(f"{session_id}-1", client, user_id=user_id)
    await Runner.run(assistant(WrittenModel([text("Noted.")])), "I live in Lisbon, near the river.", session=first)
    second = MemsidecarSession(session_id, client, user_id=user_id)
    config = RunConfig(call_model_input_filter=second.memory_filter(max_tokens=2_000))
    model = WrittenModel([text("Hello.")], [thought("Lisbon"), call("c1", "Lisbon")], [text("Sunny.")])
    await Runner.run(assistant(model), "Good morning!", session=second, run_config=config)
    await Runner.run(assistant(model), "How is the weather where I live?", session=second, run_config=config)
    for shown in model.seen[1:]:
        questions = [item for item in shown if item.get("content") == "How is the weather where I live?"]
        assert len(questions) == 1
        assert "near the river" in str(shown) + str(model.instructions)
        assert [item["role"] for item in shown if "Good morning!" in str(item.get("content"))] == ["user"]
    assert model.seen[2][-2:] == [
        {**model.seen[2][-2], "type": "function_call", "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": "21 degrees and sunny"},
    ]
    assert all("You tell the weather." in str(item) for item in model.instructions)
    assert len(await second.get_items()) == 7


async def test_the_filter_omits_items_that_only_the_provider_can_read(client: Client, session_id: str) -> None:
    session = MemsidecarSession(session_id, client)
    stored = [
        item(role="user", content="Hello."),
        item(type="reasoning", id="rs_1", summary=[]),
        item(type="web_search_call", id="ws_1", status="completed", action={"type": "search", "query": "x"}),
        item(type="function_call", id="fc_1", call_id="c1", name="weather", arguments="{}"),
        item(type="function_call_output", call_id="c1", output="Sunny."),
        item(type="computer_call", id="cu_1", call_id="c2", status="completed", action={"type": "wait"}),
    ]
    await session.add_items(stored)
    model = WrittenModel([text("Done.")])
    config = RunConfig(call_model_input_filter=session.memory_filter())
    await Runner.run(assistant(model), "Go on.", session=session, run_config=config)
    seen = [(item.get("type"), item.get("id")) for item in model.seen[0]]
    assert seen[:4] == [
        (None, None),
        ("function_call", None),
        ("function_call_output", None),
        ("computer_call", "cu_1"),
    ]


async def test_the_filter_keeps_a_long_history_inside_the_budget(client: Client, session_id: str) -> None:
    session = MemsidecarSession(session_id, client)
    past = [
        item(role=role, content=f"{role} says {at} " + "word " * 60)
        for at in range(40)
        for role in ("user", "assistant")
    ]
    await session.add_items(past)
    model = WrittenModel([text("Done.")])
    config = RunConfig(call_model_input_filter=session.memory_filter(max_tokens=1_000))
    await Runner.run(assistant(model), "Go on.", session=session, run_config=config)
    assert 2 < len(model.seen[0]) < 20
    assert model.seen[0][-1]["content"] == "Go on."


QUESTION = "Which of these stations should I look at?"
LOOP = [f"station {at} " + "word " * 388 for at in range(13)]
LOG = ["\n".join(f"line {at} of the log says that all is well" for at in range(2_000))]


@function_tool
def station(number: int) -> str:
    return RESULTS[number]


RESULTS: list[str] = []


def station_call(number: int) -> list[TResponseOutputItem]:
    called = ResponseFunctionToolCall(
        id=f"fc_{new_id()}",
        call_id=f"call_{number}",
        name="station",
        arguments=f'{{"number": {number}}}',
        type="function_call",
    )
    return [thought(f"Station {number}."), called]


def verify_input(shown: list[dict[str, Any]], question: str, max_tokens: int) -> None:
    """Check the question, calls directly before their outputs, and the budget, in words: here each is a token."""
    assert [item.get("content") for item in shown if item.get("role") == "user"].count(question) == 1
    calls = [item["call_id"] for item in shown if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in shown if item.get("type") == "function_call_output"]
    assert calls == outputs
    assert max(Counter(calls).values(), default=1) == 1
    kinds = [item.get("type") for item in shown]
    assert all(kinds[at + 1] == "function_call_output" for at, kind in enumerate(kinds) if kind == "function_call")
    assert all(kinds[at + 1] == "function_call" for at, kind in enumerate(kinds) if kind == "reasoning")
    assert len(str([item.get("content") or item.get("output") for item in shown]).split()) <= max_tokens


@pytest.mark.parametrize("max_tokens", [400, 2_000, 8_000, 32_000])
@pytest.mark.parametrize("results", [LOOP, LOG], ids=["loop", "large"])
async def test_large_results_stay_inside_the_budget_now_and_later(
    client: Client, session_id: str, user_id: str, results: list[str], max_tokens: int
) -> None:
    RESULTS[:] = results
    answers = [station_call(number) for number in range(len(results))]
    model = WrittenModel(*answers, [text("The last one.")], [text("Because of its log.")], [text("Yes.")])
    agent: Agent[Any] = Agent(name="assistant", instructions="Be brief.", model=model, tools=[station])
    session = MemsidecarSession(session_id, client, user_id=user_id)
    config = RunConfig(call_model_input_filter=session.memory_filter(max_tokens=max_tokens))
    await Runner.run(agent, QUESTION, session=session, run_config=config, max_turns=20)
    for number, shown in enumerate(model.seen):
        verify_input(shown, QUESTION, max_tokens)
        if number:
            assert shown[-1]["call_id"] == f"call_{number - 1}"
    for later in ("Why that one?", "Are you sure?"):
        answer = await Runner.run(agent, later, session=session, run_config=config)
        assert answer.final_output in ("Because of its log.", "Yes.")
        verify_input(model.seen[-1], later, max_tokens)
        assert model.seen[-1][-1]["content"] == later
    stored = cast(list[dict[str, Any]], await session.get_items())
    assert [item["output"] for item in stored if item.get("type") == "function_call_output"] == results


async def test_a_result_is_whole_where_the_budget_allows_it(client: Client, session_id: str) -> None:
    RESULTS[:] = LOOP
    model = WrittenModel(station_call(0), [text("Done.")])
    agent: Agent[Any] = Agent(name="assistant", model=model, tools=[station])
    session = MemsidecarSession(session_id, client)
    config = RunConfig(call_model_input_filter=session.memory_filter(max_tokens=8_000))
    await Runner.run(agent, QUESTION, session=session, run_config=config)
    assert model.seen[1][-1]["output"] == LOOP[0]
    assert [item.get("type") for item in model.seen[1]][-3:] == ["reasoning", "function_call", "function_call_output"]


async def test_the_filter_works_for_a_run_that_stores_nothing(client: Client, session_id: str) -> None:
    session = MemsidecarSession(session_id, client)
    await session.add_items([item(role="user", content=QUESTION), item(role="assistant", content="The last one.")])
    RESULTS[:] = LOG
    model = WrittenModel(station_call(0), [text("Done.")])
    agent: Agent[Any] = Agent(name="assistant", model=model, tools=[station])
    config = RunConfig(call_model_input_filter=session.memory_filter(max_tokens=8_000))
    await Runner.run(agent, QUESTION, run_config=config)
    said = [item.get("content") for item in model.seen[0]]
    assert said == [QUESTION, "The last one.", QUESTION]
    assert model.seen[1][-1]["output"] == LOG[0]


async def test_previews_of_earlier_outputs_have_the_kind_that_their_call_requires(
    client: Client, session_id: str
) -> None:
    session = MemsidecarSession(session_id, client)
    screenshot = {"type": "computer_screenshot", "image_url": "data:image/png;base64," + "iVBORw0KGgo" * 9_000}
    await session.add_items(
        [
            item(role="user", content="Read the log."),
            item(type="custom_tool_call", call_id="c1", name="cat", input="log.txt"),
            item(type="custom_tool_call_output", call_id="c1", output=LOG[0]),
            item(type="computer_call", id="cu_1", call_id="c2", status="completed", action={"type": "screenshot"}),
            item(type="computer_call_output", call_id="c2", output=screenshot),
            item(role="assistant", content="All is well."),
        ]
    )
    context = client.build_context(session_id=session_id, max_tokens=32_000)
    previews = [message.tool_call_id for message in context.messages if "tokens left out" in message.content]
    assert previews == ["c1", "c2"]
    model = WrittenModel([text("Yes.")])
    config = RunConfig(call_model_input_filter=session.memory_filter(max_tokens=32_000))
    await Runner.run(assistant(model), "Really?", session=session, run_config=config)
    kinds = [item.get("type") for item in model.seen[0] if "call_id" in item]
    assert kinds == ["custom_tool_call", "custom_tool_call_output"]
    output = next(item["output"] for item in model.seen[0] if item.get("type") == "custom_tool_call_output")
    assert output.startswith("line 0")
    assert "tokens left out" in output


async def test_a_large_screenshot_and_large_arguments_of_the_turn(client: Client, session_id: str) -> None:
    session = MemsidecarSession(session_id, client)
    screenshot = {"type": "computer_screenshot", "image_url": "data:image/png;base64," + "iVBORw0KGgo" * 9_000}
    turn = [
        item(role="user", content=QUESTION),
        item(type="computer_call", id="cu_1", call_id="c1", status="completed", action={"type": "screenshot"}),
        item(type="computer_call_output", call_id="c1", output=screenshot),
        item(type="function_call", call_id="c2", name="write", arguments=json.dumps({"text": LOG[0]})),
        item(type="function_call_output", call_id="c2", output="Written."),
    ]
    await session.add_items(turn)
    asked = ModelInputData(input=[*turn], instructions=None)
    data: CallModelData[Any] = CallModelData(model_data=asked, agent=assistant(WrittenModel()), context=None)
    filled = session.memory_filter(max_tokens=2_000)(data)
    shown = (await filled if inspect.isawaitable(filled) else filled).input
    assert [shown[0], *shown[-1:]] == [turn[0], turn[-1]]
    *_, called, _ = cast(list[dict[str, Any]], shown)
    assert "tokens left out" in json.loads(called["arguments"])["left_out"]
    assert all(entry in turn for entry in shown[:-2])


async def test_the_methods_of_a_session(client: Client, session_id: str) -> None:
    session = MemsidecarSession(session_id, client)
    assert isinstance(session, Session)
    assert await session.pop_item() is None
    assert await session.get_items() == []
    await session.add_items([])
    items = [item(role="user", content=f"text {at}") for at in range(5)]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(limit=2) == items[-2:]
    assert await session.get_items(limit=0) == []
    assert await session.get_items(limit=99) == items
    limited = MemsidecarSession(session_id, client, session_settings=SessionSettings(limit=3))
    assert await limited.get_items() == items[-3:]
    assert await session.pop_item() == items[-1]
    assert await session.pop_item() == items[-2]
    assert await session.get_items() == items[:3]
    assert await session.get_items(limit=2) == items[1:3]
    await session.clear_session()
    assert await session.get_items() == []
    await session.add_items(items)
    assert await session.get_items() == items


async def test_an_item_with_an_id_is_stored_once(client: Client, session_id: str) -> None:
    session = MemsidecarSession(session_id, client)
    said = [item(id="msg_1", type="message", role="assistant", status="completed", content=[])]
    await session.add_items(said)
    await session.add_items(said)
    assert await session.get_items() == said
    fake = [item(id="__fake_id__", role="assistant", content="yes") for _ in range(2)]
    await session.add_items(fake)
    assert len(await session.get_items()) == 3


async def test_messages_of_other_programs_are_read_as_items(client: Client, session_id: str) -> None:
    client.store_interaction(session_id=session_id, user_message="Hello.", assistant_message="Hello!")
    session = MemsidecarSession(session_id, client)
    assert await session.get_items() == [
        {"role": "user", "content": "Hello."},
        {"role": "assistant", "content": "Hello!"},
    ]
    assert await session.pop_item() == {"role": "assistant", "content": "Hello!"}
    assert len(await session.get_items()) == 1


parts = st.one_of(
    st.fixed_dictionaries({"type": st.just("input_text"), "text": texts}),
    st.fixed_dictionaries(
        {"type": st.just("output_text"), "text": texts, "annotations": st.lists(jsons(), max_size=2)}
    ),
    st.fixed_dictionaries({"type": st.just("refusal"), "refusal": texts}),
    st.fixed_dictionaries(
        {
            "type": st.just("input_image"),
            "detail": st.just("auto"),
            "image_url": st.sampled_from(
                ["https://example.com/a.png", "data:image/png;base64," + "iVBORw0KGgo" * 9_000]
            ),
        }
    ),
    st.fixed_dictionaries({"type": st.just("input_file"), "file_data": texts, "filename": texts}),
)
contents = st.one_of(texts, st.lists(parts, max_size=4))
items = st.one_of(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "system", "developer"]), "content": contents},
        optional={"type": st.just("message"), "status": st.just("completed")},
    ),
    st.fixed_dictionaries(
        {"type": st.just("function_call"), "call_id": ids, "name": ids, "arguments": texts},
        optional={"status": st.just("completed"), "namespace": ids},
    ),
    st.fixed_dictionaries({"type": st.just("function_call_output"), "call_id": ids, "output": contents}),
    st.fixed_dictionaries(
        {
            "type": st.just("reasoning"),
            "summary": st.lists(st.fixed_dictionaries({"type": st.just("summary_text"), "text": texts}), max_size=2),
            "encrypted_content": st.one_of(st.none(), texts),
        }
    ),
    st.fixed_dictionaries({"type": st.just("web_search_call"), "status": st.just("completed"), "action": jsons()}),
    st.fixed_dictionaries({"type": st.just("computer_call"), "call_id": ids, "action": jsons()}),
    st.fixed_dictionaries({"type": st.just("computer_call_output"), "call_id": ids, "output": jsons()}),
    st.fixed_dictionaries({"type": st.just("custom_tool_call"), "call_id": ids, "name": ids, "input": texts}),
    st.fixed_dictionaries({"type": st.just("item_reference")}),
)


@many
@given(given_items=st.lists(items, min_size=1, max_size=5))
def test_items_are_returned_unchanged(client: Client, given_items: list[Any]) -> None:
    session = MemsidecarSession(new_id(), client)
    asyncio.run(session.add_items(given_items))
    assert asyncio.run(session.get_items()) == given_items
