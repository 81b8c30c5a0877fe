"""Invalid and valid values of each field of each built RPC, with the error of the invalid ones."""

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
from memsidecar.v1.session_pb2 import Retention, RetentionLimits, SessionPolicy
from tests.bad_input.archive_fields import archive_fields
from tests.bad_input.context_fields import CONTEXT_FIELDS
from tests.bad_input.field_values import (
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
    Invalid,
    Valid,
    invalid,
    too_large,
    valid,
)
from tests.bad_input.knowledge_fields import KNOWLEDGE_FIELDS
from tests.bad_input.rpcs import calls

SCOPE = {"namespace": OPTIONAL_ID, "user_id": OPTIONAL_ID, "session_id": REQUIRED_ID}
_ANY_SCOPE = {"namespace": OPTIONAL_ID, "user_id": OPTIONAL_ID, "session_id": OPTIONAL_ID}
MESSAGE = Message(role=ROLE_USER, content="hello")


def _message(at: str) -> dict[str, Field]:
    """Return the fields of a Message at the path."""

    def given(**fields: Any) -> dict[str, Any]:
        return {f"{at}.{name}": value for name, value in fields.items()}

    called = given(role=ROLE_ASSISTANT, tool_calls=calls(1))
    fields = {
        "id": OPTIONAL_ID,
        "role": ROLE + valid(ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL),
        "content": _content(at),
        "name": OPTIONAL_ID,
        "tool_calls": _tool_calls(at),
        "tool_calls[0].id": _with(REQUIRED_ID, called),
        "tool_calls[0].name": _with(REQUIRED_ID, called),
        "tool_calls[0].arguments_json": _with(ANY_TEXT, called),
        "tool_call_id": _with(OPTIONAL_ID, given(role=ROLE_TOOL))
        + invalid("call", given=given(role=ROLE_USER))
        + invalid("call", given=given(role=ROLE_SYSTEM))
        + invalid("call", given=given(role=ROLE_ASSISTANT)),
        "create_time": TIME,
        "metadata": METADATA + valid(None),
        "evaluation_score": SCORE,
        # Output only: the value of a request is ignored, which a separate test checks.
        "sequence": valid(0, 7, MIN_INT64),
        "tokens": valid(0, 7, MIN_INT32),
        "synthetic": ANY_BOOL,
        "reasoning": ANY_TEXT + Field((too_large("1 MiB", "x" * MIB),)),
        "vector": VECTOR,
    }
    return {f"{at}.{name}": rows for name, rows in fields.items()}


def _content(at: str) -> Field:
    empty = tuple(
        Invalid(f"empty of role {role}", "", given={f"{at}.role": role})
        for role in (ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL)
    )
    calling = {f"{at}.role": ROLE_ASSISTANT, f"{at}.tool_calls": calls(1)}
    large = (too_large("1 MiB", "x" * MIB), too_large("1 MiB of two-byte letters", "é" * (MIB // 2)))
    return Field(empty + large, (Valid("empty with calls", "", calling),)) + valid(
        " ", "\0", "a\nb\x85", "<|endoftext|>", "x" * (MIB - 100)
    )


def _tool_calls(at: str) -> Field:
    by_others = tuple(
        Invalid(f"by role {role}", calls(1), given={f"{at}.role": role}) for role in (ROLE_SYSTEM, ROLE_USER, ROLE_TOOL)
    )
    by_assistant = {f"{at}.role": ROLE_ASSISTANT}
    return Field(
        (*by_others, Invalid("1,025 calls", calls(1_025), given=by_assistant)),
        (Valid("1,024 calls", calls(1_024), by_assistant), Valid("none", [], by_assistant)),
    )


def _with(rows: Field, given: dict[str, Any]) -> Field:
    """Return the same values for requests with these other fields."""
    return Field(
        tuple(Invalid(row.label, row.value, row.at, row.field, row.code, row.reason, given) for row in rows.invalid),
        tuple(Valid(row.label, row.value, given) for row in rows.valid),
    )


_EXPECTED = invalid(-1, MIN_INT64) + valid(0, None)
_ABSENT = Field((Invalid("absent", None),), (Valid("given", MESSAGE),))
_STRATEGY = invalid(5, 99, -1, MAX_INT32) + valid(0, 1, 2, 3, 4)
_UNKNOWN_ENUM = invalid(99, -1, MAX_INT32, MIN_INT32)
_POSITIVE = invalid(0, -1, MIN_INT32) + valid(1, MAX_INT32)
_MIN_SCORE = invalid(-0.001, NAN, INFINITY, -INFINITY) + valid(0.0, 1.0, 2.0, 1e308)
_WITH_VECTOR = {"query_vector": [0.5] * DIMENSIONS}
_SEMANTIC = {"mode": memory.SEARCH_MODE_SEMANTIC}
_TEXT_MODES = (memory.SEARCH_MODE_SUBSTRING, memory.SEARCH_MODE_KEYWORD, memory.SEARCH_MODE_HYBRID)
_QUERY = Field(
    (
        Invalid("empty", ""),
        Invalid("empty in the semantic mode", "", given=_SEMANTIC),
        *(
            Invalid(f"empty in mode {mode} with a vector", "", given=_WITH_VECTOR | {"mode": mode})
            for mode in _TEXT_MODES
        ),
    ),
    (Valid("empty with a vector", "", _WITH_VECTOR | _SEMANTIC),),
)
_ANY_QUERY = valid(" ", "\0", "?!", "the of and", "x" * 100_000, "%_*[\"'", "İ")

_WRITES: dict[str, dict[str, Field]] = {
    "Add": SCOPE
    | _message("message")
    | {"message": _ABSENT, "expected_sequence": _EXPECTED, "return_session": ANY_BOOL},
    "AddBatch": SCOPE
    | _message("messages[1]")
    | {
        "messages": Field(
            (
                Invalid("empty", []),
                too_large("10,001", [MESSAGE] * 10_001),
                Invalid("one empty item", [Message()], "[0].role"),
            ),
            (Valid("10,000", [MESSAGE] * 10_000), Valid("one", [MESSAGE])),
        ),
        "expected_sequence": _EXPECTED,
    },
    "AddStream": SCOPE | _message("message") | {"message": _ABSENT},
    "StoreInteraction": SCOPE
    | {
        "user_message": invalid("") + Field((too_large("1 MiB", "x" * MIB),)) + valid(" ", "\0"),
        "assistant_message": invalid("") + Field((too_large("1 MiB", "x" * MIB),)) + valid(" ", "\0"),
        "interaction_id": Field(OPTIONAL_ID.invalid)
        + invalid("x" * 247, "é" * 123 + "x")
        + valid("x" * 246, "é" * 123, ""),
        # These belong to both messages; the server checks the message of the user first.
        "create_time": TIME,
        "metadata": METADATA + valid(None),
        "evaluation_score": SCORE,
    },
    "Annotate": SCOPE
    | {
        "message_id": REQUIRED_ID,
        "evaluation_score": SCORE + Field((Invalid("neither score nor metadata", None),)),
        "metadata": METADATA,
    },
}
_WRITES["Annotate"]["evaluation_score"] = Field(
    _WRITES["Annotate"]["evaluation_score"].invalid, tuple(score for score in SCORE.valid if score.value is not None)
)

_READS: dict[str, dict[str, Field]] = {
    "GetAll": SCOPE
    | {"page_size": LIMIT, "page_token": PAGE_TOKEN, "include_pruned": ANY_BOOL, "metadata_filter": FILTER},
    "GetRecent": SCOPE | {"n": _POSITIVE + valid(10_000, 10_001), "max_tokens": LIMIT},
    "GetByRole": SCOPE | {"role": ROLE + valid(1, 2, 3, 4), "limit": LIMIT},
    "Search": SCOPE
    | {
        "query": _QUERY + _ANY_QUERY,
        "mode": _UNKNOWN_ENUM + invalid(5) + valid(0, 1, 2, 3, 4),
        "scope": _UNKNOWN_ENUM
        + Field((Invalid("user scope without a user", SCOPE_USER, field="user_id", given={"session_id": "unknown"}),))
        + valid(0, SCOPE_SESSION, SCOPE_NAMESPACE),
        "limit": LIMIT,
        "min_score": _MIN_SCORE,
        "roles": Field(
            (
                Invalid("unspecified", [0], "[0]"),
                Invalid("unknown, second", [1, 99], "[1]"),
                Invalid("negative", [-1], "[0]"),
            ),
            (Valid("all", [1, 2, 3, 4]), Valid("twice", [1, 1]), Valid("none", [])),
        ),
        "metadata_filter": FILTER,
        "after": TIME,
        "before": TIME,
        "page_token": PAGE_TOKEN,
        "query_vector": _with(VECTOR, _SEMANTIC) + VECTOR,
    },
    "Count": SCOPE | {"model": OPTIONAL_ID},
    "ListSessions": {
        "namespace": OPTIONAL_ID,
        "user_id": OPTIONAL_ID,
        "page_size": LIMIT,
        "page_token": PAGE_TOKEN,
    },
    "ListUsers": {
        "namespace": OPTIONAL_ID,
        "user_id_prefix": OPTIONAL_ID,
        "page_size": LIMIT,
        "page_token": PAGE_TOKEN,
    },
    "GetUsage": {"namespace": OPTIONAL_ID},
    "GetSession": SCOPE,
    "Watch": {
        "namespace": OPTIONAL_ID,
        "user_id": OPTIONAL_ID,
        "session_id": OPTIONAL_ID,
        "cursor": PAGE_TOKEN,
    },
}

_POLICY = {
    "policy": valid(None, SessionPolicy()),
    "policy.auto_prune_tokens": invalid(-1, MIN_INT32) + valid(0, 1, MAX_INT32),
    "policy.strategy": _STRATEGY,
    "policy.summarize": ANY_BOOL,
    "policy.model": OPTIONAL_ID,
    "policy.retention": valid(None, Retention()),
    **{
        f"policy.retention.{layer}{path}": field
        for layer in ("messages", "facts", "artifacts", "documents")
        for path, field in {
            "": valid(None, RetentionLimits()),
            ".max_age_seconds": invalid(-1, MIN_INT64, 3_153_600_001, 2**63 - 1) + valid(0, 1, 3_153_600_000),
            ".max_count": invalid(-1, MIN_INT32) + valid(0, 1, MAX_INT32),
        }.items()
    },
}

_CHANGES: dict[str, dict[str, Field]] = {
    "Prune": SCOPE
    | {
        "max_tokens": _POSITIVE + valid(0, given={"strategy": memory.PRUNE_STRATEGY_WINDOW}),
        "strategy": _STRATEGY,
        "window": invalid(-1, MIN_INT32) + valid(0, 1, MAX_INT32, given={"strategy": memory.PRUNE_STRATEGY_WINDOW}),
        "min_messages": invalid(-1, MIN_INT32) + valid(0, 1, MAX_INT32),
        "dry_run": ANY_BOOL,
        "summarize": ANY_BOOL,
        "overflow": ANY_BOOL,
        "model": OPTIONAL_ID,
    },
    "Clear": SCOPE,
    "ReportUsage": _ANY_SCOPE
    | {
        "model": REQUIRED_ID,
        "estimated_tokens": _POSITIVE,
        "actual_tokens": _POSITIVE,
    },
    "SetPolicy": _ANY_SCOPE | _POLICY,
    "DeleteSession": SCOPE | {"dry_run": ANY_BOOL},
    "ForgetMessage": SCOPE | {"message_id": REQUIRED_ID, "dry_run": ANY_BOOL},
    "ForgetUser": {"namespace": OPTIONAL_ID, "user_id": REQUIRED_ID, "dry_run": ANY_BOOL},
}

_HEADER_TEXT = invalid("x" * 1_025, "é" * 512 + "x") + valid("", "x" * 1_024, "é" * 512, "a\nb\0\x85")
_TEXT = Field(
    (
        Invalid("empty", ""),
        Invalid("white space", " \n\t\r\n\u3000 "),
        Invalid("much white space", " " * MIB),
        too_large("3 MiB and a byte", "x " * (3 * MIB // 2) + "x"),
        too_large("3 MiB of two-byte letters and a byte", "é" * (3 * MIB // 2) + "x"),
    ),
    (Valid("one letter", "x"), Valid("one word of 100,000 letters", "x" * 100_000)),
) + valid("\0", "\x1b[0m\x85.", "<|endoftext|>", "语" * 1_000, "\U0001f600" * 1_000, "a\r\nb")

DOCUMENTS: dict[str, dict[str, Field]] = {
    "PutDocument": _ANY_SCOPE
    | {
        "document": Field((Invalid("absent", None), Invalid("empty", Document(), ".id")))
        + valid(Document(id="d", text="Hello.")),
        "document.id": REQUIRED_ID,
        "document.title": _HEADER_TEXT,
        "document.text": _TEXT,
        "document.source": _HEADER_TEXT,
        "document.metadata": METADATA + valid(None),
        "document.create_time": TIME,
        # Output only: the value of a request is ignored, which a separate test checks.
        "document.chunk_count": valid(0, 7, MIN_INT32),
        "document.tokens": valid(0, 7, MIN_INT32),
        "document.sha256": ANY_TEXT,
    },
    "ListDocuments": _ANY_SCOPE | {"page_size": LIMIT, "page_token": PAGE_TOKEN},
    "DeleteDocument": _ANY_SCOPE | {"document_id": REQUIRED_ID},
    "SearchDocuments": _ANY_SCOPE | {"query": invalid("") + _ANY_QUERY, "limit": LIMIT, "min_score": _MIN_SCORE},
}

TABLE: dict[str, dict[str, Field]] = _WRITES | _READS | _CHANGES | DOCUMENTS | KNOWLEDGE_FIELDS | CONTEXT_FIELDS
TABLE |= archive_fields(TABLE)
