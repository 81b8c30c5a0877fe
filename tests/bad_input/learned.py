"""The rows of facts, artifacts, summaries and patterns."""

from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.v1.knowledge_pb2 import FACT_TYPE_USER_PROFILE, Artifact, Fact
from tests.bad_input.values import (
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
    Right,
    Wrong,
    rights,
    too_large,
    wrongs,
)

_FACT = Fact(type=FACT_TYPE_USER_PROFILE, key="name", value="Ann")
_LONGEST_VALUE = 16 * 1024

_SOMEBODY = {
    "namespace": OPTIONAL_ID,
    "user_id": OPTIONAL_ID,
    "session_id": ID
    + Field((Wrong("neither user nor session", "", field="user_id"),), (Right("a user", "", {"user_id": "ann"}),)),
}
_SESSION = {"namespace": OPTIONAL_ID, "user_id": OPTIONAL_ID, "session_id": REQUIRED_ID}
_TYPE = wrongs(8, 99, -1, MAX_INT32, MIN_INT32)
_IDS = Field(
    (
        *(Wrong(f"second: {one.label}", ["m1", one.value], "[1]") for one in REQUIRED_ID.wrong),
        Wrong("101", ["m"] * 101),
        Wrong(
            "in no session",
            ["m"],
            field="facts[1].session_id",
            given={"session_id": "", "user_id": "ann", "facts[0].session_id": "s"},
        ),
    ),
    (Right("100", ["m"] * 100), Right("none", [])),
)
_FACT_ROWS = {
    "facts[1].type": _TYPE + wrongs(0) + rights(1, 2, 3, 4, 5, 6, 7),
    "facts[1].key": REQUIRED_ID,
    "facts[1].value": wrongs("", " \n\u3000", "x" * (_LONGEST_VALUE + 1), "é" * (_LONGEST_VALUE // 2) + "x")
    + rights("x" * _LONGEST_VALUE, "é" * (_LONGEST_VALUE // 2), "a\nb\0\x85", "...", "İ"),
    "facts[1].confidence": wrongs(-0.001, 1.001, -1e308, 1e308, INFINITY, -INFINITY, NAN)
    + rights(0.0, -0.0, 1.0, 5e-324),
    "facts[1].valid_from": TIME,
    "facts[1].extracted_at": TIME,
    "facts[1].last_updated": TIME,
    "facts[1].session_id": OPTIONAL_ID,
    "facts[1].source_message_ids": _IDS,
    "facts[1].pinned": ANY_BOOL,
    # Output only: what a caller sends is of no effect, which a test of its own holds.
    "facts[1].id": ANY_TEXT,
    "facts[1].valid_until": rights(Timestamp(seconds=MIN_INT64), Timestamp(nanos=-1), None),
    "facts[1].origin": ANY_TEXT,
}
_FACTS = Field(
    (
        Wrong("none", []),
        Wrong("1,001", [_FACT] * 1_001),
        Wrong("one of nothing", [Fact()], "[0].type"),
        too_large("3 MiB together", [Fact(type=FACT_TYPE_USER_PROFILE, key="k", value="x" * _LONGEST_VALUE)] * 192),
    ),
    (Right("1,000", [_FACT] * 1_000), Right("one", [_FACT])),
)

_EXPIRE_TIME = Field(
    (
        *TIME.wrong,
        Wrong("now past", Timestamp(seconds=1)),
        Wrong("as it begins", Timestamp(seconds=9), given={"artifact.create_time": Timestamp(seconds=9)}),
    ),
    (
        Right("a microsecond later", Timestamp(seconds=9, nanos=1_000), {"artifact.create_time": Timestamp(seconds=9)}),
        Right("the last moment", Timestamp(seconds=253_402_300_799, nanos=999_999_999)),
        Right("absent", None),
    ),
)
_CONTENT = Field(
    (
        Wrong("empty", ""),
        Wrong("given with a message", "x", given={"offload_message_id": "known"}),
        too_large("1 MiB and a byte", "x" * (MIB + 1)),
        too_large("1 MiB of two-byte letters and a byte", "é" * (MIB // 2) + "x"),
    ),
    (Right("1 MiB", "x" * MIB), Right("1 MiB of two-byte letters", "é" * (MIB // 2))),
) + rights(" ", "\0", "a\nb\x85", "<|endoftext|>")

LEARNED: dict[str, dict[str, Field]] = {
    "PutFacts": _SOMEBODY | {"facts": _FACTS} | _FACT_ROWS,
    "ListFacts": _SOMEBODY
    | {
        "types": Field(
            (
                Wrong("unspecified", [0], "[0]"),
                Wrong("unknown, second", [1, 8], "[1]"),
                Wrong("negative", [-1], "[0]"),
            ),
            (Right("all", list(range(1, 8))), Right("twice", [1, 1]), Right("none", [])),
        ),
        "include_history": ANY_BOOL,
        "page_size": LIMIT,
        "page_token": PAGE_TOKEN,
    },
    "DeleteFact": _SOMEBODY | {"fact_id": Field(REQUIRED_ID.wrong) + rights("made by the server")},
    "PutArtifact": _SESSION
    | {
        "artifact": Field((Wrong("absent", None), Wrong("of nothing", Artifact(), ".content")))
        + rights(Artifact(content="Hello.")),
        "artifact.id": OPTIONAL_ID,
        "artifact.source": wrongs("x" * 1_025, "é" * 512 + "x") + rights("", "x" * 1_024, "é" * 512, "a\nb\0\x85"),
        "artifact.content": _CONTENT,
        "artifact.create_time": TIME,
        "artifact.expire_time": _EXPIRE_TIME,
        "artifact.metadata": METADATA + rights(None),
        # Output only: what a caller sends is of no effect, which a test of its own holds.
        "artifact.tokens": rights(0, 7, MIN_INT32),
        "artifact.message_id": ANY_TEXT,
        "offload_message_id": Field(OPTIONAL_ID.wrong)
        + Field((Wrong("of another role", "known", given={"artifact.content": ""}),))
        + rights(""),
        "preview_tokens": wrongs(-1, MIN_INT32) + rights(0, 1, MAX_INT32),
    },
    "ListArtifacts": _SESSION | {"page_size": LIMIT, "page_token": PAGE_TOKEN},
    "DeleteArtifact": _SESSION | {"artifact_id": REQUIRED_ID},
    "GetSummary": _SESSION,
    "Summarize": _SESSION | {"max_tokens": wrongs(-1, MIN_INT32) + rights(0, 1, 400, MAX_INT32)},
    "GetPatterns": _SOMEBODY | {"refresh": ANY_BOOL},
}
