"""A question is stored first, as agents do, and the context request does not repeat it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memsidecar.v1.context_pb2 import (
    INCLUSION_DUPLICATE,
    INCLUSION_INCLUDED,
    SECTION_EPISODIC,
    BuildContextRequest,
    BuildContextResponse,
    Inclusion,
)
from memsidecar.v1.memory_pb2 import AddBatchRequest
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL, Message, ToolCall
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    folder: Path = tmp_path_factory.mktemp("questions")
    with SidecarProcess(folder / "data", "--index", "volatile") as running:
        until_index_is_ready(running)
        yield running


def agent_with_history(client: Client, user: str, newest: str) -> str:
    client.add(f"{user} once", "I live in Lisbon.", user_id=user)
    client.add(f"{user} once", "Nice city!", user_id=user)
    client.add(f"{user} now", newest, user_id=user)
    request = BuildContextRequest(user_id=user, session_id=f"{user} now", max_tokens=4000)
    return str(client.memory.BuildContext(request).memory_text)


def test_a_stored_question_retrieves_its_answer(client: Client) -> None:
    assert "I live in Lisbon." in agent_with_history(client, "ana", "How is the weather where I live?")


def test_a_turn_without_a_question_retrieves_nothing(client: Client) -> None:
    assert "Lisbon" not in agent_with_history(client, "bo", "Thanks, that was all for now.")


def asking(client: Client, user: str, query: str, **fields: Any) -> BuildContextResponse:
    request = BuildContextRequest(user_id=user, session_id=f"{user} now", query=query, max_tokens=4000, **fields)
    built: BuildContextResponse = client.memory.BuildContext(request)
    return built


def why(built: BuildContextResponse) -> list[tuple[str, Inclusion]]:
    section = next(one for one in built.receipt.sections if one.section == SECTION_EPISODIC)
    return sorted((one.id, one.reason) for one in section.items)


@pytest.mark.parametrize("debug", [False, True])
@pytest.mark.parametrize("query", ["Where do I live?", "Do I like tea, or do I like coffee?", "أين أسكن؟"])
def test_an_earlier_copy_of_the_question_does_not_hide_the_answer(client: Client, query: str, debug: bool) -> None:
    user = f"cy {query} {debug}"
    moved = client.add(f"{user} once", "I moved to Lisbon.", user_id=user)
    repeated = client.add(f"{user} again", query, user_id=user)
    built = asking(client, user, query, append_query=True, debug=debug)
    assert "User: I moved to Lisbon." in built.memory_text and query not in built.memory_text
    add_history = [(moved.message_id, INCLUSION_INCLUDED), (repeated.message_id, INCLUSION_DUPLICATE)]
    assert why(built) == (sorted(add_history) if debug else add_history[:1])


@pytest.mark.parametrize(
    "statement",
    [
        "Which port does the database use? It uses 5433, because 5432 was taken.",
        "Which port does the database use?? 5433!",
        "The database does use port 5433. Which else?",
    ],
)
def test_a_message_with_a_question_and_a_statement_is_found(client: Client, statement: str) -> None:
    """Check it alone, and beside an unrelated message."""
    client.add(f"{statement} once", statement, user_id=statement)
    assert statement in asking(client, statement, "Which port does the database use?").memory_text
    for other in ("The train to Porto leaves at nine.", "We watched a film about whales.", "My sister plays chess."):
        client.add(f"{statement} then", other, user_id=statement)
    found = asking(client, statement, "Which port does the database use?").memory_text
    assert statement in found and found.index(statement) == min(
        found.find(one) for one in (statement, "train", "film", "chess") if one in found
    )


def test_a_url_with_a_question_mark_is_no_question(client: Client) -> None:
    for debug in (False, True):
        user = f"gil {debug}"
        client.add(f"{user} once", "https://host/page?id=7 gate", user_id=user)
        client.add(f"{user} once", "???", user_id=user)
        built = asking(client, user, "https://host/page?id=7 gate", debug=debug)
        assert built.memory_text.count("page?id=7") == 1 and built.memory_text.count("???") <= 1


def test_the_answer_to_the_same_question_is_retrieved(client: Client) -> None:
    client.add("di once", "Which port does the database use?", user_id="di")
    client.add("di once", "5433, because 5432 was taken.", role=ROLE_ASSISTANT, user_id="di")
    client.add("di once", "Thanks, and how do I restart it?", user_id="di")
    assert "5433" in asking(client, "di", "Which port does the database use?").memory_text


def test_a_statement_is_found_by_its_own_words(client: Client) -> None:
    client.add("ed once", "The code of the gate is 7714.", user_id="ed")
    assert "7714" in asking(client, "ed", "The code of the gate is 7714.").memory_text


def test_a_question_is_used_after_many_tool_messages(client: Client) -> None:
    """The tool messages after it are long, and the context shows few of them."""
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
