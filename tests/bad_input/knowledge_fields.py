"""Fields of the requests for facts, artifacts, summaries and patterns."""

from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.v1.knowledge_pb2 import FACT_TYPE_USER_PROFILE, Artifact, Fact
from tests.bad_input.field_values import (
    ANY_BOOL,
    ANY_TEXT,
    ID,
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
    TIME,
    Field,
    Invalid,
    Valid,
    invalid,
    too_large,
    valid,
)

_FACT = Fact(type=FACT_TYPE_USER_PROFILE, key="name", value="Ann")
_MAX_VALUE_BYTES = 16 * 1024

_USER_OR_SESSION = {
    "namespace": OPTIONAL_ID,
    "user_id": OPTIONAL_ID,
    "session_id": ID
    + Field((Invalid("neither user nor session", "", field="user_id"),), (Valid("a user", "", {"user_id": "ann"}),)),
}
_SESSION = {"namespace": OPTIONAL_ID, "user_id": OPTIONAL_ID, "session_id": REQUIRED_ID}
_TYPE = invalid(8, 99, -1, MAX_INT32, MIN_INT32)
_IDS = Field(
    (
        *(Invalid(f"second: {wrong.label}", ["m1", wrong.value], "[1]") for wrong in REQUIRED_ID.invalid),
        Invalid("101", ["m"] * 101),
        Invalid(
            "without a session",
            ["m"],
            field="facts[1].session_id",
            given={"session_id": "", "user_id": "ann", "facts[0].session_id": "s"},
        ),
    ),
    (Valid("100", ["m"] * 100), Valid("none", [])),
)
_FACT_ROWS = {
    "facts[1].type": _TYPE + invalid(0) + valid(1, 2, 3, 4, 5, 6, 7),
    "facts[1].key": REQUIRED_ID,
    "facts[1].value": invalid("", " \n\u3000", "x" * (_MAX_VALUE_BYTES + 1), "é" * (_MAX_VALUE_BYTES // 2) + "x")
    + valid("x" * _MAX_VALUE_BYTES, "é" * (_MAX_VALUE_BYTES // 2), "a\nb\0\x85", "...", "İ"),
    "facts[1].confidence": invalid(-0.001, 1.001, -1e308, 1e308, INFINITY, -INFINITY, NAN)
    + valid(0.0, -0.0, 1.0, 5e-324),
    "facts[1].valid_from": TIME,
    "facts[1].extracted_at": TIME,
    "facts[1].last_updated": TIME,
    "facts[1].session_id": OPTIONAL_ID,
    "facts[1].source_message_ids": _IDS,
    "facts[1].pinned": ANY_BOOL,
    # Output only: the value of a request is ignored, which a separate test checks.
    "facts[1].id": ANY_TEXT,
    "facts[1].valid_until": valid(Timestamp(seconds=MIN_INT64), Timestamp(nanos=-1), None),
    "facts[1].origin": ANY_TEXT,
}
_FACTS = Field(
    (
        Invalid("none", []),
        Invalid("1,001", [_FACT] * 1_001),
        Invalid("one empty item", [Fact()], "[0].type"),
        too_large("3 MiB together", [Fact(type=FACT_TYPE_USER_PROFILE, key="k", value="x" * _MAX_VALUE_BYTES)] * 192),
    ),
    (Valid("1,000", [_FACT] * 1_000), Valid("one", [_FACT])),
)

_EXPIRE_TIME = Field(
    (
        *TIME.invalid,
        Invalid("in the past", Timestamp(seconds=1)),
        Invalid("equal to the create time", Timestamp(seconds=9), given={"artifact.create_time": Timestamp(seconds=9)}),
    ),
    (
        Valid("a microsecond later", Timestamp(seconds=9, nanos=1_000), {"artifact.create_time": Timestamp(seconds=9)}),
        Valid("the latest time", Timestamp(seconds=253_402_300_799, nanos=999_999_999)),
        Valid("absent", None),
    ),
)
_CONTENT = Field(
    (
        Invalid("empty", ""),
        Invalid("given with a message", "x", given={"offload_message_id": "known"}),
        too_large("1 MiB and a byte", "x" * (MIB + 1)),
        too_large("1 MiB of two-byte letters and a byte", "é" * (MIB // 2) + "x"),
    ),
    (Valid("1 MiB", "x" * MIB), Valid("1 MiB of two-byte letters", "é" * (MIB // 2))),
) + valid(" ", "\0", "a\nb\x85", "<|endoftext|>")

KNOWLEDGE_FIELDS: dict[str, dict[str, Field]] = {
    "PutFacts": _USER_OR_SESSION | {"facts": _FACTS} | _FACT_ROWS,
    "ListFacts": _USER_OR_SESSION
    | {
        "types": Field(
            (
                Invalid("unspecified", [0], "[0]"),
                Invalid("unknown, second", [1, 8], "[1]"),
                Invalid("negative", [-1], "[0]"),
            ),
            (Valid("all", list(range(1, 8))), Valid("twice", [1, 1]), Valid("none", [])),
        ),
        "include_history": ANY_BOOL,
        "page_size": LIMIT,
        "page_token": PAGE_TOKEN,
    },
    "DeleteFact": _USER_OR_SESSION | {"fact_id": Field(REQUIRED_ID.invalid) + valid("made by the server")},
    "PutArtifact": _SESSION
    | {
        "artifact": Field((Invalid("absent", None), Invalid("empty", Artifact(), ".content")))
        + valid(Artifact(content="Hello.")),
        "artifact.id": OPTIONAL_ID,
        "artifact.source": invalid("x" * 1_025, "é" * 512 + "x") + valid("", "x" * 1_024, "é" * 512, "a\nb\0\x85"),
        "artifact.content": _CONTENT,
        "artifact.create_time": TIME,
        "artifact.expire_time": _EXPIRE_TIME,
        "artifact.metadata": METADATA + valid(None),
        # Output only: the value of a request is ignored, which a separate test checks.
        "artifact.tokens": valid(0, 7, MIN_INT32),
        "artifact.message_id": ANY_TEXT,
        "offload_message_id": Field(OPTIONAL_ID.invalid)
        + Field((Invalid("of another role", "known", given={"artifact.content": ""}),))
        + valid(""),
        "preview_tokens": invalid(-1, MIN_INT32) + valid(0, 1, MAX_INT32),
    },
    "ListArtifacts": _SESSION | {"page_size": LIMIT, "page_token": PAGE_TOKEN},
    "DeleteArtifact": _SESSION | {"artifact_id": REQUIRED_ID},
    "GetSummary": _SESSION,
    "Summarize": _SESSION | {"max_tokens": invalid(-1, MIN_INT32) + valid(0, 1, 400, MAX_INT32)},
    "GetPatterns": _USER_OR_SESSION | {"refresh": ANY_BOOL},
}
