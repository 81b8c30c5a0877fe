"""The examples of the documentation run against a real sidecar, and their requests obey the providers' rules."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from memsidecar.v1 import knowledge_pb2, memory_pb2
from memsidecar.v1.context_pb2 import BuildContextRequest
from memsidecar.v1.message_pb2 import Message, ToolCall
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CLIENT = ROOT / "clients" / "python"
SESSION, OTHER = "tools", "greeting"
QUESTION = "Will it rain in Porto or in Braga tomorrow?"
NO_RESULT = "[no result was recorded]"


def call(call_id: str, name: str, arguments: str) -> ToolCall:
    return ToolCall(id=call_id, name=name, arguments_json=arguments)


# Parallel calls, ids that come again, a late result, a missing one, and one without a call; fewer
# messages than a summary is made of.
TALK = (
    Message(role="ROLE_SYSTEM", content="You know the weather."),
    Message(role="ROLE_USER", name="Rui", content="Is it raining in Porto and Braga?"),
    Message(
        role="ROLE_ASSISTANT",
        content="I look it up.",
        tool_calls=[call("call:0", "rain", '{"city": "Porto"}'), call("call:1", "rain", '{"city": "Braga"}')],
    ),
    Message(role="ROLE_TOOL", tool_call_id="call:1", content='{"rain": false}'),
    Message(role="ROLE_USER", content="Take your time."),
    Message(role="ROLE_TOOL", tool_call_id="call:0", content="yes, a lot"),
    Message(role="ROLE_USER", content="And the wind?"),
    Message(role="ROLE_ASSISTANT", tool_calls=[call("call:0", "wind", "not JSON"), call("call:2", "tide", "[1]")]),
    Message(role="ROLE_TOOL", tool_call_id="call:0", content="[12, 14]"),
    Message(role="ROLE_TOOL", content="alarm: storm"),
    Message(role="ROLE_ASSISTANT", content="There is a storm."),
    Message(role="ROLE_USER", content=QUESTION),
)
STORM = "A chance of rain in Porto and Braga tomorrow means: take the umbrella from the Braga office."


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("examples") / "data", "--index", "volatile") as running:
        until_index_is_ready(running)
        with running.client() as client:
            tell(client)
        yield running


def tell(client: Client) -> None:
    add(client, SESSION, TALK)
    document = knowledge_pb2.Document(id="umbrella", text=STORM)
    client.knowledge.PutDocument(knowledge_pb2.PutDocumentRequest(document=document), timeout=CALL_SECONDS)
    greeting = Message(role="ROLE_ASSISTANT", content="Good morning!")
    add(client, OTHER, [greeting, Message(role="ROLE_USER", content="Good morning.")])


def user_of(session_id: str) -> str:
    """Return the session's own user: no session finds messages of another one."""
    return f"user-of-{session_id}"


def add(client: Client, session_id: str, messages: Sequence[Message]) -> None:
    request = memory_pb2.AddBatchRequest(user_id=user_of(session_id), session_id=session_id, messages=messages)
    client.memory.AddBatch(request, timeout=CALL_SECONDS)


def run(sidecar: SidecarProcess, name: str, *arguments: str) -> str:
    return run_python(sidecar, str(DOCS / "examples" / f"{name}.py"), sidecar.address, *arguments)


def run_python(sidecar: SidecarProcess, *arguments: str) -> str:
    """Return the output of Python with the client, whose default address is the sidecar's."""
    command = [sys.executable, *arguments]
    path = os.pathsep.join([str(CLIENT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "MEMSIDECAR_ADDRESS": sidecar.address}
    done = subprocess.run(command, capture_output=True, text=True, timeout=CALL_SECONDS, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def made(sidecar: SidecarProcess, name: str, session_id: str = SESSION) -> dict[str, Any]:
    """Return what an example prints of a session to which nothing is added any more."""
    return made_now(sidecar, name, session_id)


def made_now(sidecar: SidecarProcess, name: str, session_id: str) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(run(sidecar, name, user_of(session_id), session_id))
    return read


# -- OpenAI


def test_chat_completions_have_every_result_right_behind_its_call(sidecar: SidecarProcess) -> None:
    messages = made(sidecar, "openai_messages")["messages"]
    seen: list[str] = []
    for at, message in enumerate(messages):
        calls = [one["id"] for one in message.get("tool_calls", ())]
        behind = [one.get("tool_call_id") for one in messages[at + 1 : at + 1 + len(calls)]]
        assert behind == calls and (message["content"] is not None or calls)
        seen += calls
    results = [one["tool_call_id"] for one in messages if one["role"] == "tool"]
    assert results == seen and len(set(seen)) == len(seen) == 4


def test_chat_completions_have_the_stored_messages(sidecar: SidecarProcess) -> None:
    messages = made(sidecar, "openai_messages")["messages"]
    assert messages[0] == {"role": "system", "content": "You know the weather."}
    assert messages[1] == {"role": "user", "content": "Rui: Is it raining in Porto and Braga?"}
    assert [message["content"] for message in messages if message["role"] == "tool"] == [
        "yes, a lot",
        '{"rain": false}',
        "[12, 14]",
        NO_RESULT,
    ]
    assert messages[-2]["role"] == "system" and STORM in messages[-2]["content"]
    assert messages[-1] == {"role": "user", "content": QUESTION}


def test_items_of_the_responses_api_have_an_output_for_each_call_behind_it(sidecar: SidecarProcess) -> None:
    items = made(sidecar, "openai_messages")["input"]
    calls = [(at, one["call_id"]) for at, one in enumerate(items) if one.get("type") == "function_call"]
    outputs = {one["call_id"]: at for at, one in enumerate(items) if one.get("type") == "function_call_output"}
    assert len(calls) == len(outputs) == 4
    assert all(at < outputs[call_id] for at, call_id in calls)
    assert all(isinstance(one["arguments"], str) for one in items if one.get("type") == "function_call")


# -- Anthropic


@pytest.mark.parametrize("session_id", [SESSION, OTHER])
def test_roles_alternate_and_the_user_begins(sidecar: SidecarProcess, session_id: str) -> None:
    for messages in (
        made(sidecar, "anthropic_messages", session_id)["messages"],
        made(sidecar, "gemini_contents", session_id)["contents"],
    ):
        roles = [message["role"] for message in messages]
        assert roles[0] == roles[-1] == "user"
        assert all(before != after for before, after in pairwise(roles))


def test_tool_results_stand_first_in_the_message_behind_their_calls(sidecar: SidecarProcess) -> None:
    messages = made(sidecar, "anthropic_messages")["messages"]
    used: list[str] = []
    for before, message in pairwise(messages):
        calls = [block["id"] for block in before["content"] if block["type"] == "tool_use"]
        results = [block["tool_use_id"] for block in message["content"] if block["type"] == "tool_result"]
        kinds = [block["type"] for block in message["content"]]
        assert results == calls and kinds[: len(results)] == ["tool_result"] * len(results)
        used += calls
    assert len(set(used)) == len(used) == 4
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", one) for one in used)


def test_blocks_are_as_anthropic_takes_them(sidecar: SidecarProcess) -> None:
    request = made(sidecar, "anthropic_messages")
    blocks = [block for message in request["messages"] for block in message["content"]]
    assert all(block["text"].strip() for block in blocks if block["type"] == "text")
    inputs = [block["input"] for block in blocks if block["type"] == "tool_use"]
    assert inputs == [{"city": "Porto"}, {"city": "Braga"}, {"arguments": "not JSON"}, {"arguments": [1]}]
    last = [block["text"] for block in request["messages"][-1]["content"]]
    assert STORM in last[-2] and last[-1] == QUESTION


def test_cache_breakpoints_stand_behind_the_system_and_behind_the_stable_prefix(sidecar: SidecarProcess) -> None:
    request = made(sidecar, "anthropic_messages")
    blocks = [block for message in request["messages"] for block in message["content"]]
    marked = [block for block in [*request["system"], *blocks] if "cache_control" in block]
    assert [block["text"] for block in marked] == ["You know the weather.", "There is a storm."]


# -- Gemini


def test_each_call_of_gemini_is_answered_in_the_next_content_in_its_order(sidecar: SidecarProcess) -> None:
    contents = made(sidecar, "gemini_contents")["contents"]
    called = 0
    for before, content in pairwise(contents):
        calls = [part["functionCall"] for part in before["parts"] if "functionCall" in part]
        results = [part["functionResponse"] for part in content["parts"] if "functionResponse" in part]
        assert [(result["id"], result["name"]) for result in results] == [(one["id"], one["name"]) for one in calls]
        assert all(isinstance(one["args"], dict) for one in calls)
        assert all(isinstance(one["response"], dict) for one in results)
        called += len(calls)
    assert called == 4


def test_the_instruction_of_gemini_is_the_stable_system_message(sidecar: SidecarProcess) -> None:
    request = made(sidecar, "gemini_contents")
    assert request["system_instruction"] == {"parts": [{"text": "You know the weather."}]}
    assert all(list(part) == ["text"] for part in request["contents"][-1]["parts"])
    assert STORM in request["contents"][-1]["parts"][-2]["text"]


# -- all of them


def test_the_prefix_that_is_called_stable_is_the_same_in_the_next_turn(sidecar: SidecarProcess) -> None:
    with sidecar.client() as client:
        session_id = "prefix"
        add(client, session_id, TALK[6:])
        request = BuildContextRequest(user_id=user_of(session_id), session_id=session_id)
        stable = client.memory.BuildContext(request).stable_prefix_count
        before = made_now(sidecar, "openai_messages", session_id)["messages"][:stable]
        run(sidecar, "turn", user_of(session_id), session_id, "And the day after tomorrow?")
        add(client, session_id, [Message(role="ROLE_USER", content="And then?")])
    assert made_now(sidecar, "openai_messages", session_id)["messages"][:stable] == before


def test_one_turn_is_stored_and_its_usage_reported(sidecar: SidecarProcess) -> None:
    shown = run(sidecar, "turn", user_of("one-turn"), "one-turn", "How are you?")
    assert shown == "I was shown 2 messages.\n"
    with sidecar.client() as client:
        assert [message.content for message in client.all("one-turn")] == ["How are you?", "I was shown 2 messages."]


def test_a_turn_of_another_session_of_the_user_is_remembered(sidecar: SidecarProcess) -> None:
    run(sidecar, "turn", "ana", "monday", "The key is under the blue stone.")
    run(sidecar, "turn", "ana", "tuesday", "Where is the key?")
    messages = json.loads(run(sidecar, "openai_messages", "ana", "tuesday"))["messages"]
    assert any("under the blue stone" in message["content"] for message in messages if message["role"] == "system")


def test_the_code_of_the_recipes_is_the_code_that_runs_here() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "recipes.md").read_text(), re.DOTALL)
    sources = [path.read_text() for path in (DOCS / "examples").glob("*.py")]
    assert blocks and all(any(block in source for source in sources) for block in blocks)


def masked(text: str) -> list[str]:
    """Without dates, scores (they differ in their last digits) and order (facts of one message have none)."""
    undated = re.sub(r"\b\d{4}-\d\d-\d\d\b", "<date>", text)
    return sorted(re.sub(r"\b[01]\.\d\d\b", "<score>", line).rstrip() for line in undated.splitlines() if line.strip())


def test_the_receipt_of_the_documentation_is_what_the_example_prints(sidecar: SidecarProcess) -> None:
    (shown,) = re.findall(
        r"```console\n\$ [^\n]*receipt\.py[^\n]*\n(.*?)```", (DOCS / "context.md").read_text(), re.DOTALL
    )
    assert masked(run(sidecar, "receipt")) == masked(shown)


def test_the_ten_lines_of_the_readme_remember_another_session(sidecar: SidecarProcess) -> None:
    (code,) = re.findall(
        r"^```python quickstart\.py\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE
    )
    assert len(code.splitlines()) <= 10
    output = run_python(sidecar, "-c", code)
    assert "I moved to Lisbon." in output
    assert output.splitlines()[-1] == "ROLE_USER Where do I live?"
