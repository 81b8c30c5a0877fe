"""Contexts, summaries and patterns: ownership, response sizes, and limits."""

from functools import partial
from typing import Any

import pytest

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1.context_pb2 import SECTION_TOOL_SCHEMAS, BuildContextRequest, SectionBudget
from tests.bad_input.conftest import Watch
from tests.bad_input.field_values import DIMENSIONS, MAX_INT32, MIB
from tests.bad_input.rpcs import WATCHED, send, set_field, valid_request
from tests.support.process import Client, refusal

GRPC_DEFAULT_BYTES = 4 * MIB
WITHOUT_LIMITS = [
    SectionBudget(section=at, max_tokens=MAX_INT32, top_k=MAX_INT32)  # type: ignore[arg-type]
    for at in range(1, SECTION_TOOL_SCHEMAS)
]
SESSION_REQUESTS: dict[str, dict[str, Any]] = {
    "BuildContext": {},
    "BuildContext for the whole namespace": {"scope": 3},
    "GetSummary": {},
    "Summarize": {},
    "GetPatterns": {},
    "GetPatterns with a refresh": {"refresh": True},
    "Prune with a summary": {"summarize": True},
    "SetPolicy with summaries": {"policy.summarize": True},
}


def required_for(client: Client, request: BuildContextRequest) -> int:
    """Return the minimum budget of the request."""
    tight = BuildContextRequest()
    tight.CopyFrom(request)
    tight.max_tokens = 1
    return int(refusal(partial(send, client, "BuildContext", tight)).metadata["required_tokens"])


@pytest.mark.parametrize("call", SESSION_REQUESTS)
def test_the_session_of_another_user_is_refused(connected: Client, watch: Watch, call: str) -> None:
    name = call.partition(" ")[0]
    request = valid_request(name)
    for path, value in (SESSION_REQUESTS[call] | {"user_id": "thief"}).items():
        set_field(request, path, value)
    refused = refusal(partial(send, connected, name, request))
    assert (refused.code.name, refused.reason) == ("FAILED_PRECONDITION", "SESSION_OWNER_MISMATCH")
    assert watch.is_unchanged()


@pytest.mark.parametrize(
    "large",
    [
        {"documents": ["word " * 200_000] * 4},
        {"profile": "word " * 700_000},
    ],
    ids=lambda large: next(iter(large)),
)
def test_a_context_larger_than_a_response_is_too_large(connected: Client, watch: Watch, large: dict[str, Any]) -> None:
    request = BuildContextRequest(session_id=WATCHED, max_tokens=MAX_INT32, sections=WITHOUT_LIMITS, **large)
    assert request.ByteSize() < GRPC_DEFAULT_BYTES
    refused = refusal(partial(send, connected, "BuildContext", request))
    assert (refused.code.name, refused.reason) == ("RESOURCE_EXHAUSTED", "TOO_LARGE")
    assert "fewer tokens" in refused.message
    assert watch.is_unchanged()


def test_a_long_conversation_within_the_budget_but_larger_than_a_response_is_too_large(connected: Client) -> None:
    for _ in range(6):
        connected.add("long", "large " * 160_000)
    request = BuildContextRequest(session_id="long", max_tokens=MAX_INT32, sections=WITHOUT_LIMITS)
    assert refusal(partial(send, connected, "BuildContext", request)).reason == "TOO_LARGE"
    request.max_tokens = required_for(connected, request)
    assert send(connected, "BuildContext", request).ByteSize() < GRPC_DEFAULT_BYTES


def test_a_context_with_all_fields_at_their_limits_is_within_its_budget(connected: Client) -> None:
    connected.add("limits", "hello " * 100, user_id="ann")
    request = BuildContextRequest(
        user_id="ann",
        session_id="limits",
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
    assert built.total_tokens == sum(section.used_tokens for section in built.receipt.sections) <= request.max_tokens


def test_the_tokens_of_a_summary_are_capped_at_the_maximum(connected: Client) -> None:
    text = " ".join(f"On day {day} the ship {day * 7} came to harbour {day * 13}." for day in range(1_500))
    connected.add("ships", text)
    request = knowledge.SummarizeRequest(session_id="ships", max_tokens=MAX_INT32)
    long = send(connected, "Summarize", request).summary
    assert 5_000 < long.tokens <= 10_000
    request.max_tokens = 50
    assert 0 < send(connected, "Summarize", request).summary.tokens <= 50
