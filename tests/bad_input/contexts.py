"""The rows of a context that is asked for."""

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
from tests.bad_input.values import (
    ANY_BOOL,
    ANY_TEXT,
    MAX_INT32,
    MIB,
    MIN_INT32,
    OPTIONAL_ID,
    REQUIRED_ID,
    VECTOR,
    Field,
    Right,
    Wrong,
    rights,
    wrongs,
)

_WITHOUT_A_BUDGET = (SECTION_TOOL_SCHEMAS, SECTION_OUTPUT_RESERVE, SECTION_FRAMING)
_LONG_TEXT = rights("x" * 100_000, "语" * 10_000, "<|endoftext|>", " ", "a\r\nb")
_NO_OR_MORE = wrongs(-1, MIN_INT32) + rights(0, 1, 100, MAX_INT32, None)


def _too_small(label: str, value: object, **given: object) -> Wrong:
    code = grpc.StatusCode.FAILED_PRECONDITION
    return Wrong(label, value, field="", code=code, reason="BUDGET_TOO_SMALL", given=given)


def _budgets(*sections: int) -> list[SectionBudget]:
    return [SectionBudget(section=section, top_k=1) for section in sections]  # type: ignore[arg-type]


_SECTIONS = Field(
    (
        Wrong("one of nothing", [SectionBudget()], "[0].section"),
        Wrong("one twice", _budgets(SECTION_FACTS, SECTION_WORKING, SECTION_FACTS), "[2].section"),
        Wrong("more than there are", _budgets(*[SECTION_FACTS] * 10_000), "[1].section"),
        Wrong("a negative number of nothing", [SectionBudget(section=SECTION_FACTS, min_tokens=-1)], "[0].min_tokens"),
    ),
    (
        Right("all that have a budget", _budgets(*range(1, SECTION_TOOL_SCHEMAS))),
        Right("all of them off", [SectionBudget(section=at, disabled=True) for at in range(1, SECTION_TOOL_SCHEMAS)]),  # type: ignore[arg-type]
        Right("none", []),
    ),
)
_SECTION = (
    wrongs(0, *_WITHOUT_A_BUDGET, 13, 99, -1, MAX_INT32, MIN_INT32)
    + Field((Wrong("that of the first again", SECTION_FACTS),))
    + rights(*(at for at in range(1, SECTION_TOOL_SCHEMAS) if at != SECTION_FACTS))
)
_DOCUMENTS = Field(
    (
        Wrong("1,001", ["x"] * 1_001),
        Wrong("1,001 of nothing", [""] * 1_001),
        Wrong("100,000", ["x"] * 100_000),
    ),
    (
        Right("1,000", ["x"] * 1_000),
        Right("nothing and white space", ["", " \n\u3000", "\0", "<|endoftext|>"]),
        Right("one of 3 MiB", ["word " * (3 * MIB // 5)]),
        Right("none", []),
    ),
)

CONTEXTS: dict[str, dict[str, Field]] = {
    "BuildContext": {
        "namespace": OPTIONAL_ID,
        "user_id": OPTIONAL_ID,
        "session_id": REQUIRED_ID,
        "query": Field((Wrong("empty, and to be appended", "", given={"append_query": True}),))
        + rights("", " ", "\0", "?!", "the of and", "%_*[\"'", "İ", "x" * 100_000, "hello"),
        "model": OPTIONAL_ID + rights("gpt-4o", "claude-estimated"),
        "max_tokens": wrongs(-1, MIN_INT32)
        + Field((_too_small("less than what must stay", 1),))
        + rights(0, 1, 1_000, MAX_INT32),
        "system_prompt": Field((_too_small("longer than the budget", "word " * 2_000),))
        + Field(right=(Right("of 100,000 letters", "x" * 100_000, {"max_tokens": 0, "model": "gpt-4o"}),))
        + ANY_TEXT,
        "profile": ANY_TEXT + _LONG_TEXT,
        "tool_schemas_json": Field((_too_small("longer than the budget", '{"a": 1}' * 1_000),))
        + ANY_TEXT
        + rights("{}", "not JSON"),
        "reserve_output_tokens": wrongs(-1, MIN_INT32)
        + Field((_too_small("as much as there is", 1_000), _too_small("more than there is", MAX_INT32)))
        + Field(right=(Right("nearly all", MAX_INT32 - 10_000, {"max_tokens": MAX_INT32}),))
        + rights(0, 1, 100),
        "documents": _DOCUMENTS,
        "sections": _SECTIONS,
        "sections[1].section": _SECTION,
        "sections[1].max_tokens": _NO_OR_MORE,
        "sections[1].top_k": _NO_OR_MORE,
        "sections[1].min_tokens": _NO_OR_MORE,
        "sections[1].disabled": ANY_BOOL,
        "scope": wrongs(4, 99, -1, MAX_INT32, MIN_INT32)
        + Field(
            (Wrong("the user's, where there is none", SCOPE_USER, field="user_id", given={"session_id": "nobody"}),)
        )
        + rights(0, SCOPE_SESSION, SCOPE_NAMESPACE),
        "append_query": Field((Wrong("without a query", True, field="query", given={"query": ""}),)) + ANY_BOOL,
        "debug": ANY_BOOL,
        "query_vector": VECTOR,
        "include_reasoning": ANY_BOOL,
    },
}
