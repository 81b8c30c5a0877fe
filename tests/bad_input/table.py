"""One row for every field of every built RPC: what is refused, with which field named, and what is taken."""

from typing import Any

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.knowledge_pb2 import Document
from memsidecar.v1.message_pb2 import (
    ROLE_ASSISTANT,
    ROLE_SYSTEM,
    ROLE_TOOL,
    ROLE_USER,
    SCOPE_NAMESPACE,
    SCOPE_SESSION,
    SCOPE_USER,
    Message,
)
from memsidecar.v1.session_pb2 import SessionPolicy
from tests.bad_input.contexts import CONTEXTS
from tests.bad_input.learned import LEARNED
from tests.bad_input.rpcs import calls
from tests.bad_input.values import (
    ANY_BOOL,
    ANY_TEXT,
    DIMENSIONS,
    FILTER,
    INFINITY,
    LIMIT,
    MAX_INT32,
    METADATA,
    MIB,
    MIN_INT32,
    MIN_INT64,
    NAN,
    OPTIONAL_ID,
    PAGE_TOKEN,
    REQUIRED_ID,
    ROLE,
    SCORE,
    TIME,
    VECTOR,
    Field,
    Right,
    Wrong,
    rights,
    too_large,
    wrongs,
)

SCOPE = {"namespace": OPTIONAL_ID, "user_id": OPTIONAL_ID, "session_id": REQUIRED_ID}
_ANY_SCOPE = {"namespace": OPTIONAL_ID, "user_id": OPTIONAL_ID, "session_id": OPTIONAL_ID}
SAID = Message(role=ROLE_USER, content="hello")


def _message(at: str) -> dict[str, Field]:
    """The rows of a Message that stands at the path."""

    def given(**fields: Any) -> dict[str, Any]:
        return {f"{at}.{name}": value for name, value in fields.items()}

    called = given(role=ROLE_ASSISTANT, tool_calls=calls(1))
    fields = {
        "id": OPTIONAL_ID,
        "role": ROLE + rights(ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL),
        "content": _content(at),
        "name": OPTIONAL_ID,
        "tool_calls": _tool_calls(at),
        "tool_calls[0].id": _with(REQUIRED_ID, called),
        "tool_calls[0].name": _with(REQUIRED_ID, called),
        "tool_calls[0].arguments_json": _with(ANY_TEXT, called),
        "tool_call_id": _with(OPTIONAL_ID, given(role=ROLE_TOOL))
        + wrongs("call", given=given(role=ROLE_USER))
        + wrongs("call", given=given(role=ROLE_SYSTEM))
        + wrongs("call", given=given(role=ROLE_ASSISTANT)),
        "create_time": TIME,
        "metadata": METADATA + rights(None),
        "evaluation_score": SCORE,
        # Output only: what a caller sends is of no effect, which a test of its own holds.
        "sequence": rights(0, 7, MIN_INT64),
        "tokens": rights(0, 7, MIN_INT32),
        "synthetic": ANY_BOOL,
        "reasoning": ANY_TEXT + Field((too_large("1 MiB", "x" * MIB),)),
        "vector": VECTOR,
    }
    return {f"{at}.{name}": rows for name, rows in fields.items()}


def _content(at: str) -> Field:
    silent = tuple(
        Wrong(f"empty of role {role}", "", given={f"{at}.role": role})
        for role in (ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL)
    )
    calling = {f"{at}.role": ROLE_ASSISTANT, f"{at}.tool_calls": calls(1)}
    large = (too_large("1 MiB", "x" * MIB), too_large("1 MiB of two-byte letters", "é" * (MIB // 2)))
    return Field(silent + large, (Right("empty with calls", "", calling),)) + rights(
        " ", "\0", "a\nb\x85", "<|endoftext|>", "x" * (MIB - 100)
    )


def _tool_calls(at: str) -> Field:
    by_others = tuple(
        Wrong(f"by role {role}", calls(1), given={f"{at}.role": role}) for role in (ROLE_SYSTEM, ROLE_USER, ROLE_TOOL)
    )
    by_assistant = {f"{at}.role": ROLE_ASSISTANT}
    return Field(
        (*by_others, Wrong("1,025 calls", calls(1_025), given=by_assistant)),
        (Right("1,024 calls", calls(1_024), by_assistant), Right("none", [], by_assistant)),
    )


def _with(rows: Field, given: dict[str, Any]) -> Field:
    """The same rows in a request that is otherwise so."""
    return Field(
        tuple(Wrong(one.label, one.value, one.at, one.field, one.code, one.reason, given) for one in rows.wrong),
        tuple(Right(one.label, one.value, given) for one in rows.right),
    )


_EXPECTED = wrongs(-1, MIN_INT64) + rights(0, None)
_ABSENT = Field((Wrong("absent", None),), (Right("given", SAID),))
_STRATEGY = wrongs(5, 99, -1, MAX_INT32) + rights(0, 1, 2, 3, 4)
_UNKNOWN_ENUM = wrongs(99, -1, MAX_INT32, MIN_INT32)
_COUNTED = wrongs(0, -1, MIN_INT32) + rights(1, MAX_INT32)
_MIN_SCORE = wrongs(-0.001, NAN, INFINITY, -INFINITY) + rights(0.0, 1.0, 2.0, 1e308)
_BY_VECTOR = {"query_vector": [0.5] * DIMENSIONS}
_BY_MEANING = {"mode": memory.SEARCH_MODE_SEMANTIC}
_WITH_WORDS = (memory.SEARCH_MODE_SUBSTRING, memory.SEARCH_MODE_KEYWORD, memory.SEARCH_MODE_HYBRID)
_QUERY = Field(
    (
        Wrong("empty", ""),
        Wrong("empty by meaning", "", given=_BY_MEANING),
        *(Wrong(f"empty in mode {mode} with a vector", "", given=_BY_VECTOR | {"mode": mode}) for mode in _WITH_WORDS),
    ),
    (Right("empty with its meaning", "", _BY_VECTOR | _BY_MEANING),),
)
_ANY_QUERY = rights(" ", "\0", "?!", "the of and", "x" * 100_000, "%_*[\"'", "İ")

_ADDING: dict[str, dict[str, Field]] = {
    "Add": SCOPE
    | _message("message")
    | {"message": _ABSENT, "expected_sequence": _EXPECTED, "return_session": ANY_BOOL},
    "AddBatch": SCOPE
    | _message("messages[1]")
    | {
        "messages": Field(
            (
                Wrong("empty", []),
                too_large("10,001", [SAID] * 10_001),
                Wrong("one of nothing", [Message()], "[0].role"),
            ),
            (Right("10,000", [SAID] * 10_000), Right("one", [SAID])),
        ),
        "expected_sequence": _EXPECTED,
    },
    "AddStream": SCOPE | _message("message") | {"message": _ABSENT},
    "StoreInteraction": SCOPE
    | {
        "user_message": wrongs("") + Field((too_large("1 MiB", "x" * MIB),)) + rights(" ", "\0"),
        "assistant_message": wrongs("") + Field((too_large("1 MiB", "x" * MIB),)) + rights(" ", "\0"),
        "interaction_id": Field(OPTIONAL_ID.wrong)
        + wrongs("x" * 247, "é" * 123 + "x")
        + rights("x" * 246, "é" * 123, ""),
        # These are of both messages; the user's is looked at first.
        "create_time": TIME,
        "metadata": METADATA + rights(None),
        "evaluation_score": SCORE,
    },
    "Annotate": SCOPE
    | {
        "message_id": REQUIRED_ID,
        "evaluation_score": SCORE + Field((Wrong("neither score nor metadata", None),)),
        "metadata": METADATA,
    },
}
_ADDING["Annotate"]["evaluation_score"] = Field(
    _ADDING["Annotate"]["evaluation_score"].wrong, tuple(one for one in SCORE.right if one.value is not None)
)

_READING: dict[str, dict[str, Field]] = {
    "GetAll": SCOPE
    | {"page_size": LIMIT, "page_token": PAGE_TOKEN, "include_pruned": ANY_BOOL, "metadata_filter": FILTER},
    "GetRecent": SCOPE | {"n": _COUNTED + rights(10_000, 10_001), "max_tokens": LIMIT},
    "GetByRole": SCOPE | {"role": ROLE + rights(1, 2, 3, 4), "limit": LIMIT},
    "Search": SCOPE
    | {
        "query": _QUERY + _ANY_QUERY,
        "mode": _UNKNOWN_ENUM + wrongs(5) + rights(0, 1, 2, 3, 4),
        "scope": _UNKNOWN_ENUM
        + Field(
            (Wrong("the user's, where there is none", SCOPE_USER, field="user_id", given={"session_id": "nobody"}),)
        )
        + rights(0, SCOPE_SESSION, SCOPE_NAMESPACE),
        "limit": LIMIT,
        "min_score": _MIN_SCORE,
        "roles": Field(
            (
                Wrong("unspecified", [0], "[0]"),
                Wrong("unknown, second", [1, 99], "[1]"),
                Wrong("negative", [-1], "[0]"),
            ),
            (Right("all", [1, 2, 3, 4]), Right("twice", [1, 1]), Right("none", [])),
        ),
        "metadata_filter": FILTER,
        "after": TIME,
        "before": TIME,
        "page_token": PAGE_TOKEN,
        "query_vector": _with(VECTOR, _BY_MEANING) + VECTOR,
    },
    "Count": SCOPE | {"model": OPTIONAL_ID},
    "ListSessions": {
        "namespace": OPTIONAL_ID,
        "user_id": OPTIONAL_ID,
        "page_size": LIMIT,
        "page_token": PAGE_TOKEN,
    },
    "GetSession": SCOPE,
}

_POLICY = {
    "policy": rights(None, SessionPolicy()),
    "policy.auto_prune_tokens": wrongs(-1, MIN_INT32) + rights(0, 1, MAX_INT32),
    "policy.strategy": _STRATEGY,
    "policy.summarize": ANY_BOOL,
    "policy.model": OPTIONAL_ID,
}

_CHANGING: dict[str, dict[str, Field]] = {
    "Prune": SCOPE
    | {
        "max_tokens": _COUNTED + rights(0, given={"strategy": memory.PRUNE_STRATEGY_WINDOW}),
        "strategy": _STRATEGY,
        "window": wrongs(-1, MIN_INT32) + rights(0, 1, MAX_INT32, given={"strategy": memory.PRUNE_STRATEGY_WINDOW}),
        "min_messages": wrongs(-1, MIN_INT32) + rights(0, 1, MAX_INT32),
        "dry_run": ANY_BOOL,
        "summarize": ANY_BOOL,
        "overflow": ANY_BOOL,
        "model": OPTIONAL_ID,
    },
    "Clear": SCOPE,
    "ReportUsage": _ANY_SCOPE
    | {
        "model": REQUIRED_ID,
        "estimated_tokens": _COUNTED,
        "actual_tokens": _COUNTED,
    },
    "SetPolicy": _ANY_SCOPE | _POLICY,
    "DeleteSession": SCOPE | {"dry_run": ANY_BOOL},
}

_COVER = wrongs("x" * 1_025, "é" * 512 + "x") + rights("", "x" * 1_024, "é" * 512, "a\nb\0\x85")
_TEXT = Field(
    (
        Wrong("empty", ""),
        Wrong("white space", " \n\t\r\n\u3000 "),
        Wrong("much white space", " " * MIB),
        too_large("3 MiB and a byte", "x " * (3 * MIB // 2) + "x"),
        too_large("3 MiB of two-byte letters and a byte", "é" * (3 * MIB // 2) + "x"),
    ),
    (Right("one letter", "x"), Right("one word of 100,000 letters", "x" * 100_000)),
) + rights("\0", "\x1b[0m\x85.", "<|endoftext|>", "语" * 1_000, "\U0001f600" * 1_000, "a\r\nb")

DOCUMENTS: dict[str, dict[str, Field]] = {
    "PutDocument": _ANY_SCOPE
    | {
        "document": Field((Wrong("absent", None), Wrong("of nothing", Document(), ".id")))
        + rights(Document(id="d", text="Hello.")),
        "document.id": REQUIRED_ID,
        "document.title": _COVER,
        "document.text": _TEXT,
        "document.source": _COVER,
        "document.metadata": METADATA + rights(None),
        "document.create_time": TIME,
        # Output only: what a caller sends is of no effect, which a test of its own holds.
        "document.chunk_count": rights(0, 7, MIN_INT32),
        "document.tokens": rights(0, 7, MIN_INT32),
        "document.sha256": ANY_TEXT,
    },
    "ListDocuments": _ANY_SCOPE | {"page_size": LIMIT, "page_token": PAGE_TOKEN},
    "DeleteDocument": _ANY_SCOPE | {"document_id": REQUIRED_ID},
    "SearchDocuments": _ANY_SCOPE | {"query": wrongs("") + _ANY_QUERY, "limit": LIMIT, "min_score": _MIN_SCORE},
}

TABLE: dict[str, dict[str, Field]] = _ADDING | _READING | _CHANGING | DOCUMENTS | LEARNED | CONTEXTS
