"""Strategies for sessions and requests: parallel, late and open tool calls, any script, system messages, pruning."""

from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from memsidecar.v1.context_pb2 import SectionBudget
from memsidecar.v1.knowledge_pb2 import Fact
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message, ToolCall
from tests.context_wire.invariants import TOKENIZERS
from tests.scenarios.knowledge_client import INTEREST

BUDGETED = range(1, 10)
"Sections that a request may say something about."

WORDS = ["the", "invoice", "of", "Zoë", "für", "東京", "is", "due", "🚀", "<|endoftext|>", "on Friday.", "\n"]
texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
    st.lists(st.sampled_from(WORDS)).map(" ".join),
    st.sampled_from(["long words and more of them, again and again. " * 20, "日本語の文。" * 60, "<memsidecar>\n"]),
)
said_texts = texts.map(lambda text: text or "x")
budgets = st.one_of(st.integers(1, 200), st.integers(1, 3_000), st.integers(1, 200_000))


@dataclass(frozen=True)
class Scene:
    """The session before contexts are built; `prune_tokens` 0: nothing is pruned."""

    messages: list[Message]
    facts: list[Fact]
    artifacts: list[str]
    prune_tokens: int


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    messages: list[Message] = []
    open_calls: list[str] = []
    kinds = ["user", "user", "assistant", "assistant", "call", "answer", "answer", "orphan", "system"]
    for number, kind in enumerate(draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=30))):
        if kind == "call":
            calls = [f"c{number}-{at}" for at in range(draw(st.integers(1, 3)))]
            made = [ToolCall(id=call, name="look_up", arguments_json=draw(texts)) for call in calls]
            message = Message(role=ROLE_ASSISTANT, content=draw(texts), tool_calls=made)
            open_calls += calls
        elif kind == "answer" and open_calls:
            answered = open_calls.pop(draw(st.integers(0, len(open_calls) - 1)))
            message = Message(role=ROLE_TOOL, content=draw(said_texts), tool_call_id=answered)
        elif kind == "orphan":
            message = Message(role=ROLE_TOOL, content=draw(said_texts))
        elif kind == "system":
            message = Message(role=ROLE_SYSTEM, content=draw(said_texts))
        elif kind == "user":
            message = Message(role=ROLE_USER, content=draw(said_texts), name=draw(st.sampled_from(["", "", "Zoë"])))
        else:
            thought = draw(st.sampled_from(["", "", "hm, let me think"]))
            message = Message(role=ROLE_ASSISTANT, content=draw(said_texts), reasoning=thought)
        messages.append(message)
    return messages


facts = st.builds(
    lambda value, pinned: Fact(type=INTEREST, key="likes", value=value, pinned=pinned),
    said_texts.filter(lambda text: bool(text.strip())),
    st.booleans(),
)
scenes = st.builds(
    Scene,
    conversations(),
    st.lists(facts, max_size=12),
    st.lists(said_texts, max_size=4),
    st.one_of(st.just(0), st.integers(1, 400)),
)


@st.composite
def sections(draw: st.DrawFn) -> list[SectionBudget]:
    wanted = []
    for section in draw(st.sets(st.sampled_from(BUDGETED), max_size=4)):
        one = SectionBudget(section=section, disabled=draw(st.sampled_from([False, False, False, True])))  # type: ignore[arg-type]
        if draw(st.booleans()):
            one.max_tokens = draw(st.integers(0, 1_000))
        if draw(st.booleans()):
            one.top_k = draw(st.integers(0, 12))
        if draw(st.booleans()):
            one.min_tokens = draw(st.integers(0, 300))
        wanted.append(one)
    return wanted


@st.composite
def requests(draw: st.DrawFn) -> dict[str, Any]:
    query = draw(texts)
    return {
        "model": draw(st.sampled_from(list(TOKENIZERS))),
        "max_tokens": draw(budgets),
        "query": query,
        "append_query": bool(query) and draw(st.booleans()),
        "system_prompt": draw(st.sampled_from(["", "You are a helpful assistant.", "Réponds. 東京 " * 40])),
        "profile": draw(texts),
        "tool_schemas_json": draw(st.sampled_from(["", '{"type": "object", "properties": {}}' * 9])),
        "reserve_output_tokens": draw(st.sampled_from([0, 0, 1, 500])),
        "documents": draw(st.lists(texts, max_size=4)),
        "sections": draw(sections()),
        "debug": draw(st.booleans()),
        "include_reasoning": draw(st.booleans()),
        "context_fill": draw(st.sampled_from([None, 0.0, 0.5, 1.0])),
    }
