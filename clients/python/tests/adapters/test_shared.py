"""The shared parts of the adapters: frames, attachments, and a conversation that stores each message once."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.shapes import jsons, many, texts
from memsidecar_client import Client, Message, Role, errors
from memsidecar_client.adapters import _contract
from memsidecar_client.adapters._attachments import Attachments
from memsidecar_client.adapters._contract import Place
from memsidecar_client.adapters._conversation import Conversation, Draft
from memsidecar_client.adapters._frames import frame_of, whole_of

PACKAGE = Path(__file__).parents[2]
EXTRAS = {
    "openai_agents": "openai-agents",
    "langchain": "langchain",
    "langgraph": "langgraph",
    "strands": "strands",
    "llamaindex": "llamaindex",
}
ROOTS = {
    "openai_agents": "agents",
    "langchain": "langchain_core",
    "langgraph": "langgraph",
    "strands": "strands",
    "llamaindex": "llama_index",
}


@pytest.mark.parametrize(("module", "extra"), EXTRAS.items())
def test_without_its_framework_an_adapter_names_the_package(module: str, extra: str) -> None:
    code = f"import sys; sys.modules[{ROOTS[module]!r}] = None; import memsidecar_client.adapters.{module}"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, cwd=PACKAGE
    )
    assert done.returncode != 0
    assert f"pip install 'memsidecar-client[{extra}]'" in done.stderr.splitlines()[-1]


@many
@given(whole=jsons(), shown=st.lists(texts, max_size=3))
def test_a_frame_restores_the_whole_message(whole: Any, shown: list[str]) -> None:
    assert whole_of(frame_of(whole, shown), shown) == whole


@pytest.mark.parametrize("whole", [b"\0\xff", {1: "a", (2, 3): "b"}, {"$": {"$": ["piece", 0, 0, 1]}}, [True, 1, 1.0]])
def test_a_frame_keeps_values_that_json_lacks(whole: Any) -> None:
    assert repr(whole_of(frame_of(whole, []), [])) == repr(whole)


def test_a_frame_does_not_repeat_what_the_fields_have() -> None:
    content, arguments = "A long result. " * 10_000, '{"path": "a", "text": "' + "x" * 50_000 + '"}'
    whole = {"content": [{"text": content[:70_000]}, {"text": content}], "args": {"path": "a", "text": "x" * 50_000}}
    frame = frame_of(whole, [content, arguments])
    assert len(frame) < 200
    assert whole_of(frame, [content, arguments]) == whole


def test_values_that_json_lacks_are_rejected() -> None:
    with pytest.raises(TypeError):
        frame_of({"artifact": object()}, [])


@pytest.mark.parametrize("length", [0, 1, 5_000_000])
def test_attachments_of_any_length(client: Client, session_id: str, length: int) -> None:
    attachments = Attachments(client, Place(namespace="", user_id="", session_id=session_id))
    text = "".join(chr(33 + at * at % 90) for at in range(length))
    attachments.put("one", text)
    attachments.put("two", "x")
    assert attachments.all() == {"one": text, "two": "x"}
    attachments.put("one", "shorter")
    assert attachments.all() == {"one": "shorter", "two": "x"}
    attachments.delete(["one"])
    assert attachments.all() == {"two": "x"}
    attachments.delete()
    assert not list(client.iter_artifacts(session_id=session_id))


def test_no_context_shows_an_attachment(client: Client, session_id: str) -> None:
    Attachments(client, Place(namespace="", user_id="", session_id=session_id)).put("state", "weather in Lisbon " * 99)
    client.add(session_id=session_id, role="user", content="What is the weather in Lisbon?")
    context = client.build_context(session_id=session_id, query="weather in Lisbon", debug=True)
    assert [message.content for message in context.messages] == ["What is the weather in Lisbon?"]


class Failing:
    """A client whose responses are lost: the sidecar stores, and the caller gets DeadlineExceeded."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self.fails = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._client, name)

    def add_batch(self, **request: Any) -> Any:
        answer = self._client.add_batch(**request)
        if self.fails:
            self.fails = False
            self._client.search(session_id=request["session_id"], query="x", timeout=1e-9)
        return answer


def test_messages_added_again_after_an_error_are_stored_once(client: Client, session_id: str) -> None:
    failing: Any = Failing(client)
    conversation = Conversation(failing, "test", session_id)
    yes = [Draft(_contract.message(Role.ROLE_USER, ["yes"]), {"said": "yes"})]
    with pytest.raises(errors.DeadlineExceeded):
        conversation.add(yes)
    conversation.add(yes)
    assert [stored.whole for stored in conversation.window()] == [{"said": "yes"}]
    conversation.add(yes)
    assert len(conversation.window()) == 2


def test_large_batches_are_sent_in_parts(client: Client, session_id: str) -> None:
    conversation = Conversation(client, "test", session_id)
    conversation.add([Draft(_contract.message(Role.ROLE_USER, [f"{at} " + "x" * 900_000]), at) for at in range(5)])
    assert [stored.whole for stored in conversation.window()] == list(range(5))
    assert [stored.whole for stored in conversation.newest(4)] == [1, 2, 3, 4]


def test_withdrawn_messages_are_not_read(client: Client, session_id: str) -> None:
    conversation = Conversation(client, "test", session_id)
    drafts = [Draft(_contract.message(Role.ROLE_USER, [f"text {at}"]), {"blob": "y" * 20_000 * at}) for at in range(3)]
    conversation.add(drafts)
    conversation.withdraw(conversation.newest(1)[0].message)
    assert len(conversation.window()) == len(conversation.everything()) == len(conversation.newest(9)) == 2
    assert "text 2" not in str(conversation.context().messages)
    assert len(conversation.attachments.all()) == 1
    conversation.clear()
    assert not conversation.everything()
    assert not conversation.attachments.all()


def test_a_shortened_result_is_read_shortened(client: Client, session_id: str) -> None:
    conversation = Conversation(client, "test", session_id)
    call = _contract.tool_call("c1", "read", {"file": "a"})
    conversation.add(
        [
            Draft(_contract.message(Role.ROLE_ASSISTANT, [], tool_calls=[call]), "call"),
            Draft(_contract.message(Role.ROLE_TOOL, ["line of text\n" * 900], tool_call_id="c1"), "result"),
        ]
    )
    client.prune(session_id=session_id, max_tokens=200, overflow=True)
    call_again, result = conversation.window()
    assert call_again.whole == "call"
    assert result.whole is None
    assert result.message.synthetic


def test_messages_of_other_programs_have_only_the_contracts_fields(client: Client, session_id: str) -> None:
    Conversation(client, "one", session_id).add([Draft(Message(role=Role.ROLE_USER, content="Hello."), "whole")])
    client.add(session_id=session_id, role="assistant", content="Hello!")
    found = Conversation(client, "other", session_id).window()
    assert [(stored.whole, stored.message.content) for stored in found] == [(None, "Hello."), (None, "Hello!")]
