"""Fields of the BuildContext request."""

import grpc

from memsidecar.v1.context_pb2 import (
    SECTION_FACTS,
    SECTION_FRAMING,
    SECTION_OUTPUT_RESERVE,
    SECTION_TOOL_SCHEMAS,
    SECTION_WORKING,
    SectionBudget,
)
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_USER
from tests.bad_input.field_values import (
    ANY_BOOL,
    ANY_TEXT,
    INFINITY,
    MAX_INT32,
    MIB,
    MIN_INT32,
    NAN,
    OPTIONAL_ID,
    REQUIRED_ID,
    VECTOR,
    Field,
    Invalid,
    Valid,
    invalid,
    valid,
)

_WITHOUT_A_BUDGET = (SECTION_TOOL_SCHEMAS, SECTION_OUTPUT_RESERVE, SECTION_FRAMING)
_LONG_TEXT = valid("x" * 100_000, "语" * 10_000, "<|endoftext|>", " ", "a\r\nb")
_ZERO_OR_MORE = invalid(-1, MIN_INT32) + valid(0, 1, 100, MAX_INT32, None)


def _too_small(label: str, value: object, **given: object) -> Invalid:
    code = grpc.StatusCode.FAILED_PRECONDITION
    return Invalid(label, value, field="", code=code, reason="BUDGET_TOO_SMALL", given=given)


def _budgets(*sections: int) -> list[SectionBudget]:
    return [SectionBudget(section=section, top_k=1) for section in sections]  # type: ignore[arg-type]


_SECTIONS = Field(
    (
        Invalid("one empty item", [SectionBudget()], "[0].section"),
        Invalid("one twice", _budgets(SECTION_FACTS, SECTION_WORKING, SECTION_FACTS), "[2].section"),
        Invalid("more than exist", _budgets(*[SECTION_FACTS] * 10_000), "[1].section"),
        Invalid("a negative number empty", [SectionBudget(section=SECTION_FACTS, min_tokens=-1)], "[0].min_tokens"),
    ),
    (
        Valid("all that have a budget", _budgets(*range(1, SECTION_TOOL_SCHEMAS))),
        Valid("all of them off", [SectionBudget(section=at, disabled=True) for at in range(1, SECTION_TOOL_SCHEMAS)]),  # type: ignore[arg-type]
        Valid("none", []),
    ),
)
_SECTION = (
    invalid(0, *_WITHOUT_A_BUDGET, 13, 99, -1, MAX_INT32, MIN_INT32)
    + Field((Invalid("equal to the first", SECTION_FACTS),))
    + valid(*(at for at in range(1, SECTION_TOOL_SCHEMAS) if at != SECTION_FACTS))
)
_DOCUMENTS = Field(
    (
        Invalid("1,001", ["x"] * 1_001),
        Invalid("1,001 empty", [""] * 1_001),
        Invalid("100,000", ["x"] * 100_000),
    ),
    (
        Valid("1,000", ["x"] * 1_000),
        Valid("nothing and white space", ["", " \n\u3000", "\0", "<|endoftext|>"]),
        Valid("one of 3 MiB", ["word " * (3 * MIB // 5)]),
        Valid("none", []),
    ),
)

CONTEXT_FIELDS: dict[str, dict[str, Field]] = {
    "BuildContext": {
        "namespace": OPTIONAL_ID,
        "user_id": OPTIONAL_ID,
        "session_id": REQUIRED_ID,
        "query": Field((Invalid("empty, with append_query", "", given={"append_query": True}),))
        + valid("", " ", "\0", "?!", "the of and", "%_*[\"'", "İ", "x" * 100_000, "hello"),
        "model": OPTIONAL_ID + valid("gpt-4o", "claude-estimated"),
        "max_tokens": invalid(-1, MIN_INT32)
        + Field((_too_small("less than the required tokens", 1),))
        + valid(0, 1, 1_000, MAX_INT32),
        "system_prompt": Field((_too_small("longer than the budget", "word " * 2_000),))
        + Field(valid=(Valid("of 100,000 letters", "x" * 100_000, {"max_tokens": 0, "model": "gpt-4o"}),))
        + ANY_TEXT,
        "profile": ANY_TEXT + _LONG_TEXT,
        "tool_schemas_json": Field((_too_small("longer than the budget", '{"a": 1}' * 1_000),))
        + ANY_TEXT
        + valid("{}", "not JSON"),
        "reserve_output_tokens": invalid(-1, MIN_INT32)
        + Field((_too_small("the whole budget", 1_000), _too_small("more than the budget", MAX_INT32)))
        + Field(valid=(Valid("nearly the whole budget", MAX_INT32 - 10_000, {"max_tokens": MAX_INT32}),))
        + valid(0, 1, 100),
        "documents": _DOCUMENTS,
        "sections": _SECTIONS,
        "sections[1].section": _SECTION,
        "sections[1].max_tokens": _ZERO_OR_MORE,
        "sections[1].top_k": _ZERO_OR_MORE,
        "sections[1].min_tokens": _ZERO_OR_MORE,
        "sections[1].disabled": ANY_BOOL,
        "scope": invalid(4, 99, -1, MAX_INT32, MIN_INT32)
        + Field((Invalid("user scope without a user", SCOPE_USER, field="user_id", given={"session_id": "unknown"}),))
        + valid(0, SCOPE_SESSION, SCOPE_NAMESPACE),
        "append_query": Field((Invalid("without a query", True, field="query", given={"query": ""}),)) + ANY_BOOL,
        "debug": ANY_BOOL,
        "dry_run": ANY_BOOL,
        "query_vector": VECTOR,
        "include_reasoning": ANY_BOOL,
        "context_fill": invalid(-0.01, 1.01, NAN, INFINITY, -INFINITY) + valid(0.0, 0.5, 1.0, None),
    },
}
