"""The memory of LlamaIndex, with its own agent, chat engine and models for tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import (
    AudioBlock,
    CacheControl,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM
from llama_index.core.memory import ChatMemoryBuffer

from adapters.shapes import blobs, filled_texts, ids, many, objects, texts
from memsidecar_client import Client, Role, ToolCall, new_id
from memsidecar_client.adapters.llamaindex import MemsidecarMemory

# Its workflows look at all that an agent has, and meet what pydantic deprecates.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince20"),
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecatedSince211"),
]


def memory_of(client: Client, session_id: str, user_id: str = "", **fields: Any) -> MemsidecarMemory:
    return MemsidecarMemory.from_defaults(client=client, session_id=session_id, user_id=user_id, **fields)


def called(call_id: str, city: str) -> ToolCallBlock:
    return ToolCallBlock(tool_call_id=call_id, tool_name="weather", tool_kwargs={"city": city})


def said(*blocks: Any) -> ChatMessage:
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=list(blocks))


def weather(city: str) -> str:
    """The weather in a city."""
    return {"Lisbon": "21 degrees and sunny", "Porto": "17 degrees and rain"}[city]


class Script:
    """A fake model with fixed answers that records its prompts."""

    def __init__(self, *answers: ChatMessage) -> None:
        self.answers = list(answers)
        self.seen: list[list[ChatMessage]] = []

    def __call__(self, messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        self.seen.append(list(messages))
        return self.answers.pop(0)


def agent(script: Script) -> FunctionAgent:
    model = MockFunctionCallingLLM(response_generator=script)
    return FunctionAgent(tools=[weather], llm=model, system_prompt="You tell the weather.")


async def test_two_turns_with_tools(client: Client, session_id: str) -> None:
    script = Script(
        said(called("c1", "Lisbon"), called("c2", "Porto")),
        said(TextBlock(text="Sunny in Lisbon, rain in Porto.")),
        said(TextBlock(text="Let me look."), called("c3", "Lisbon")),
        said(TextBlock(text="Still sunny.")),
    )
    memory = memory_of(client, session_id)
    own = ChatMemoryBuffer.from_defaults(token_limit=100_000)
    await agent(script).run("How is the weather in Lisbon and Porto?", memory=memory)
    assert str(await agent(script).run("And now?", memory=memory)) == "Still sunny."
    roles = ["user", "assistant", "tool", "tool", "assistant", "user", "assistant", "tool", "assistant"]
    assert [message.role.value for message in memory.get_all()] == roles
    own.put_messages(memory.get_all())
    assert memory.get() == own.get()
    assert [message.content for message in script.seen[-1][-4:]] == [
        "Sunny in Lisbon, rain in Porto.",
        "And now?",
        "Let me look.",
        "21 degrees and sunny",
    ]


async def test_an_agent_sees_messages_of_another_session(client: Client, session_id: str, user_id: str) -> None:
    before = memory_of(client, f"{session_id}-1", user_id)
    await agent(Script(said(TextBlock(text="Noted.")))).run("I live in Lisbon, near the river.", memory=before)
    script = Script(said(called("c1", "Lisbon")), said(TextBlock(text="Sunny.")))
    memory = memory_of(client, session_id, user_id, token_limit=2_000)
    await agent(script).run("How is the weather where I live?", memory=memory)
    assert all("near the river" in str(shown) for shown in script.seen)
    assert [message.role.value for message in memory.get_all()] == ["user", "assistant", "tool", "assistant"]


def test_get_is_inside_the_budget(client: Client, session_id: str) -> None:
    memory = memory_of(client, session_id, token_limit=1_000, request={"system_prompt": "Be kind."})
    roles = (MessageRole.USER, MessageRole.ASSISTANT)
    memory.put_messages([ChatMessage(f"{at} " + "word " * 60, role=role) for at in range(40) for role in roles])
    shown = memory.get("What was number 7?")
    assert 2 < len(shown) < 20
    assert shown[0].role == MessageRole.SYSTEM
    assert "Be kind." in str(shown[0].content)
    assert len(memory.get_all()) == 80
    assert len(memory.get(max_tokens=2_000)) > len(shown)
    assert len(memory.get(initial_token_count=500)) < len(shown)


def test_a_chat_engine(client: Client, session_id: str) -> None:
    memory = memory_of(client, session_id)
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=memory)
    engine.chat("Hello.")
    assert [message.role.value for message in engine.chat_history] == ["user", "assistant"]
    engine.reset()
    assert memory.get_all() == []


def test_calls_and_results_are_in_the_fields_of_the_contract(client: Client, session_id: str) -> None:
    older = {"tool_calls": [{"id": "c2", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]}
    memory_of(client, session_id).put_messages(
        [
            said(ThinkingBlock(content="Which city?"), called("c1", "Lisbon")),
            ChatMessage("Sunny.", role=MessageRole.TOOL, additional_kwargs={"tool_call_id": "c1", "name": "weather"}),
            ChatMessage(role=MessageRole.ASSISTANT, additional_kwargs=older),
        ]
    )
    one, two, three = client.iter_messages(session_id=session_id)
    assert [one.role, one.content, one.reasoning] == [Role.ROLE_ASSISTANT, "", "Which city?"]
    calls = [(call.id, call.name, call.arguments_json) for message in (one, three) for call in message.tool_calls]
    assert calls == [("c1", "weather", '{"city": "Lisbon"}'), ("c2", "weather", "{}")]
    assert [two.role, two.tool_call_id, two.name, two.content] == [Role.ROLE_TOOL, "c1", "weather", "Sunny."]


async def test_a_growing_list_stores_only_new_messages(client: Client, session_id: str) -> None:
    memory = memory_of(client, session_id)
    messages = [ChatMessage(f"text {at}") for at in range(4)]
    await memory.aset(messages[:2])
    first = [message.id for message in client.iter_messages(session_id=session_id)]
    await memory.aset(messages)
    assert [message.id for message in client.iter_messages(session_id=session_id)][:2] == first
    assert await memory.aget_all() == messages
    await memory.aset(messages[1:])
    assert await memory.aget_all() == messages[1:]
    await memory.aput(messages[0])
    assert len(await memory.aget()) == 4
    await memory.areset()
    assert await memory.aget_all() == []


def test_messages_of_other_programs_are_read_as_messages(client: Client, session_id: str) -> None:
    client.add(session_id=session_id, role="user", content="Weather?")
    client.add(
        session_id=session_id,
        role="assistant",
        tool_calls=[ToolCall(id="c1", name="weather", arguments_json='{"city": "Lisbon"}')],
    )
    client.add(session_id=session_id, role="tool", content="Sunny.", tool_call_id="c1")
    assert memory_of(client, session_id).get_all() == [
        ChatMessage("Weather?"),
        said(called("c1", "Lisbon")),
        ChatMessage("Sunny.", role=MessageRole.TOOL, additional_kwargs={"tool_call_id": "c1"}),
    ]


def test_files_are_stored_by_path_or_content(client: Client, session_id: str, tmp_path: Path) -> None:
    file = tmp_path / "image.png"
    file.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    memory = memory_of(client, session_id)
    with file.open("rb") as opened:
        blocks = [ImageBlock(path=file), ImageBlock(image=opened, image_mimetype="image/png")]
        memory.put(ChatMessage(blocks=blocks))
    by_path, held = memory.get_all()[0].blocks
    assert isinstance(by_path, ImageBlock)
    assert isinstance(held, ImageBlock)
    assert by_path.path == file
    assert held.resolve_image().read() == file.read_bytes()


def test_it_names_itself(client: Client, session_id: str) -> None:
    memory = memory_of(client, session_id)
    assert memory.to_dict()["class_name"] == MemsidecarMemory.class_name()
    with pytest.raises(ValueError, match="session_id"):
        MemsidecarMemory.from_defaults(client=client)


addresses = st.sampled_from(["https://example.com/a.png", "https://example.com/"])
text_blocks = st.builds(TextBlock, text=texts)
images = st.one_of(st.builds(ImageBlock, image=blobs), st.builds(ImageBlock, url=addresses, detail=texts))
documents = st.builds(DocumentBlock, data=blobs, title=texts, document_mimetype=st.just("text/plain"))
blocks = st.one_of(
    text_blocks,
    images,
    documents,
    st.builds(AudioBlock, audio=blobs, format=st.just("wav")),
    st.builds(VideoBlock, video=blobs, video_mimetype=st.just("video/mp4")),
    st.builds(CachePoint, cache_control=st.builds(CacheControl, type=texts)),
    st.builds(CitableBlock, title=texts, source=texts, content=st.lists(text_blocks | images, max_size=2)),
    st.builds(
        CitationBlock,
        cited_content=text_blocks,
        source=texts,
        title=texts,
        additional_location_info=st.dictionaries(texts, st.integers(), max_size=2),
    ),
    st.builds(ThinkingBlock, content=st.one_of(st.none(), texts), additional_information=objects),
    st.builds(
        ToolCallBlock, tool_call_id=st.one_of(st.none(), ids), tool_name=texts, tool_kwargs=st.one_of(texts, objects)
    ),
)
messages = st.builds(
    ChatMessage,
    role=st.sampled_from(MessageRole),
    blocks=st.lists(blocks, max_size=4),
    additional_kwargs=st.one_of(objects, st.fixed_dictionaries({"tool_call_id": filled_texts})),
)


@many
@given(given_messages=st.lists(messages, min_size=1, max_size=4))
def test_messages_are_returned_unchanged(client: Client, given_messages: list[ChatMessage]) -> None:
    memory = memory_of(client, new_id())
    memory.put_messages(given_messages)
    assert memory.get_all() == given_messages
