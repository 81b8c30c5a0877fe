"""A question is stored first, as agents do, and the context is asked for without saying it again."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memsidecar.v1.context_pb2 import INCLUSION_DUPLICATE, INCLUSION_INCLUDED, SECTION_EPISODIC, BuildContextRequest
from memsidecar.v1.memory_pb2 import AddBatchRequest
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL, Message, ToolCall
from tests.scenarios.retrieval import until_retrieval_is_there
from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    folder: Path = tmp_path_factory.mktemp("questions")
    with SidecarProcess(folder / "data", "--index", "volatile") as running:
        until_retrieval_is_there(running)
        yield running


def said_before(client: Client, user: str, newest: str) -> str:
    client.add(f"{user} once", "I live in Lisbon.", user_id=user)
    client.add(f"{user} once", "Nice city!", user_id=user)
    client.add(f"{user} now", newest, user_id=user)
    asked = BuildContextRequest(user_id=user, session_id=f"{user} now", max_tokens=4000)
    return str(client.memory.BuildContext(asked).memory_text)


def test_a_stored_question_brings_back_what_it_is_about(client: Client) -> None:
    assert "I live in Lisbon." in said_before(client, "ana", "How is the weather where I live?")


def test_a_turn_that_asks_memory_for_nothing_gets_nothing(client: Client) -> None:
    assert "Lisbon" not in said_before(client, "bo", "Thanks, that was all for now.")


def test_the_same_question_asked_before_does_not_hide_the_answer(client: Client) -> None:
    client.add("cy once", "I moved to Lisbon.", user_id="cy")
    repeated = client.add("cy again", "Where do I live?", user_id="cy")
    client.add("cy a third time", "Hello! Where do I live?", user_id="cy")
    asked = BuildContextRequest(
        user_id="cy", session_id="cy now", query="Where do I live?", append_query=True, max_tokens=4000, debug=True
    )
    built = client.memory.BuildContext(asked)
    assert "I moved to Lisbon." in built.memory_text
    assert "User: Where do I live" not in built.memory_text
    section = next(one for one in built.receipt.sections if one.section == SECTION_EPISODIC)
    why = {one.reason: one.message_ids for one in section.items}
    assert len(section.items) == 3 and set(why) == {INCLUSION_INCLUDED, INCLUSION_DUPLICATE}
    assert list(why[INCLUSION_DUPLICATE]) == [repeated.message_id]


def test_what_was_answered_to_the_same_question_comes_back(client: Client) -> None:
    client.add("di once", "Which port does the database use?", user_id="di")
    client.add("di once", "5433, because 5432 was taken.", role=ROLE_ASSISTANT, user_id="di")
    client.add("di once", "Thanks, and how do I restart it?", user_id="di")
    asked = BuildContextRequest(
        user_id="di", session_id="di now", query="Which port does the database use?", max_tokens=4000
    )
    assert "5433" in client.memory.BuildContext(asked).memory_text


def test_what_was_said_is_found_by_its_own_words(client: Client) -> None:
    client.add("ed once", "The code of the gate is 7714.", user_id="ed")
    asked = BuildContextRequest(
        user_id="ed", session_id="ed now", query="The code of the gate is 7714.", max_tokens=4000
    )
    assert "7714" in client.memory.BuildContext(asked).memory_text


def test_a_question_is_known_behind_a_long_run_of_tools(client: Client) -> None:
    """However much the tools said since, and however little of it the context shows."""
    client.add("flo once", "I live in Lisbon.", user_id="flo")
    client.add("flo now", "How is the weather where I live?", user_id="flo")
    for step in range(20):
        call = ToolCall(id=f"c{step}", name="look_up", arguments_json="{}")
        client.memory.AddBatch(
            AddBatchRequest(
                user_id="flo",
                session_id="flo now",
                messages=[
                    Message(role=ROLE_ASSISTANT, tool_calls=[call]),
                    Message(role=ROLE_TOOL, tool_call_id=call.id, content=f"station {step}: " + "404 gone, " * 100),
                ],
            )
        )
    built = client.memory.BuildContext(BuildContextRequest(user_id="flo", session_id="flo now", max_tokens=1000))
    assert built.receipt.query == "How is the weather where I live?"
    assert "I live in Lisbon." in built.memory_text
