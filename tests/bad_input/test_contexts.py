"""A context, a summary, a pattern: nobody else's, never larger than an answer, and never a bug."""

from functools import partial
from typing import Any

import pytest

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1.context_pb2 import SECTION_TOOL_SCHEMAS, BuildContextRequest, SectionBudget
from tests.bad_input.conftest import Watch
from tests.bad_input.rpcs import WATCHED, good, put, send
from tests.bad_input.values import DIMENSIONS, MAX_INT32, MIB
from tests.support.process import Client, refusal

GRPC_DEFAULT_BYTES = 4 * MIB
WITHOUT_LIMITS = [
    SectionBudget(section=at, max_tokens=MAX_INT32, top_k=MAX_INT32)  # type: ignore[arg-type]
    for at in range(1, SECTION_TOOL_SCHEMAS)
]
OF_A_SESSION: dict[str, dict[str, Any]] = {
    "BuildContext": {},
    "BuildContext for the whole namespace": {"scope": 3},
    "GetSummary": {},
    "Summarize": {},
    "GetPatterns": {},
    "GetPatterns anew": {"refresh": True},
    "Prune with a summary": {"summarize": True},
    "SetPolicy with summaries": {"policy.summarize": True},
}


def required_for(client: Client, request: BuildContextRequest) -> int:
    """The least budget with which it can be built."""
    tight = BuildContextRequest()
    tight.CopyFrom(request)
    tight.max_tokens = 1
    return int(refusal(partial(send, client, "BuildContext", tight)).metadata["required_tokens"])


@pytest.mark.parametrize("call", OF_A_SESSION)
def test_another_user_s_session_is_refused(connected: Client, watch: Watch, call: str) -> None:
    name = call.partition(" ")[0]
    request = good(name)
    for path, value in (OF_A_SESSION[call] | {"user_id": "thief"}).items():
        put(request, path, value)
    refused = refusal(partial(send, connected, name, request))
    assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "SESSION_OWNER_MISMATCH")
    assert watch.saw_no_change()


@pytest.mark.parametrize(
    "large",
    [
        {"documents": ["word " * 200_000] * 4},
        {"query": "word " * 700_000, "append_query": True},
        {"profile": "word " * 700_000},
    ],
    ids=lambda large: next(iter(large)),
)
def test_a_context_larger_than_an_answer_is_too_large(connected: Client, watch: Watch, large: dict[str, Any]) -> None:
    request = BuildContextRequest(session_id=WATCHED, max_tokens=MAX_INT32, sections=WITHOUT_LIMITS, **large)
    assert request.ByteSize() < GRPC_DEFAULT_BYTES
    refused = refusal(partial(send, connected, "BuildContext", request))
    assert (refused.code.name, refused.reason) == ("RESOURCE_EXHAUSTED", "TOO_LARGE")
    assert "fewer tokens" in refused.message
    assert watch.saw_no_change()


def test_a_long_conversation_that_fits_the_budget_and_no_answer_is_too_large(connected: Client) -> None:
    for _ in range(6):
        connected.add("large talk", "large " * 160_000)
    request = BuildContextRequest(session_id="large talk", max_tokens=MAX_INT32, sections=WITHOUT_LIMITS)
    assert refusal(partial(send, connected, "BuildContext", request)).reason == "TOO_LARGE"
    request.max_tokens = required_for(connected, request)
    assert send(connected, "BuildContext", request).ByteSize() < GRPC_DEFAULT_BYTES


def test_everything_at_its_border_at_once_is_within_its_budget(connected: Client) -> None:
    connected.add("crowded", "hello " * 100, user_id="ann")
    request = BuildContextRequest(
        user_id="ann",
        session_id="crowded",
        query="hello\0 <|endoftext|> \U0001f600" * 100,
        model="x" * 256,
        system_prompt="语" * 300,
        profile="a\nb\0\x85. " * 1_000,
        tool_schemas_json="{" * 300,
        reserve_output_tokens=100,
        documents=["word " * 10] * 1_000,
        sections=[SectionBudget(section=at, min_tokens=MAX_INT32) for at in range(1, SECTION_TOOL_SCHEMAS)],  # type: ignore[arg-type]
        debug=True,
        append_query=True,
        query_vector=[0.0] * DIMENSIONS,
        include_reasoning=True,
    )
    request.max_tokens = required_for(connected, request)
    built = send(connected, "BuildContext", request)
    assert built.total_tokens == sum(one.used_tokens for one in built.receipt.sections) <= request.max_tokens


def test_a_summary_of_more_tokens_than_the_most_has_the_most(connected: Client) -> None:
    said = " ".join(f"On day {day} the ship {day * 7} came to harbour {day * 13}." for day in range(1_500))
    connected.add("ships", said)
    request = knowledge.SummarizeRequest(session_id="ships", max_tokens=MAX_INT32)
    long = send(connected, "Summarize", request).summary
    assert 5_000 < long.tokens <= 10_000
    request.max_tokens = 50
    assert 0 < send(connected, "Summarize", request).summary.tokens <= 50
