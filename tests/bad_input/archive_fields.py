"""Fields of the requests of Export and Import. A record is validated as the RPC that writes it validates it."""

from dataclasses import replace
from typing import Any

from google.protobuf.message import Message as Proto

from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.knowledge_pb2 import FACT_TYPE_USER_PROFILE, Artifact, Document, Fact, Summary
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.bad_input.field_values import (
    ANY_BOOL,
    INFINITY,
    MAX_INT32,
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

_MAX = 2**53
_SEQUENCE = invalid(-1, MIN_INT64, _MAX + 1, 2**63 - 1) + valid(0, 1, 2)
_CONTENTS: dict[str, Proto] = {
    "message": Message(id="m", role=ROLE_USER, content="hello"),
    "fact": Fact(id="f", type=FACT_TYPE_USER_PROFILE, key="name", value="Ann"),
    "summary": Summary(id="s", text="They talked.", first_sequence=1, last_sequence=2),
    "artifact": Artifact(id="a", content="Hello."),
    "document": Document(id="d", text="Hello."),
    "policy": session.SessionPolicy(auto_prune_tokens=9),
    "calibration": session.Calibration(model="m", factor=1.5, reports=3),
    "session": session.ArchivedSession(last_sequence=7),
    "displayed": Message(content="short"),
}
"A valid content of each kind."
_FIRST_ERRORS = {
    "message": ".id",
    "fact": ".type",
    "summary": ".text",
    "artifact": ".id",
    "document": ".id",
    "calibration": ".model",
    "displayed": ".content",
}
"The field that the error of an empty content names."


def archive_fields(tables: dict[str, dict[str, Field]]) -> dict[str, dict[str, Field]]:
    """Return the rows of both RPCs, made of those of the RPCs that write."""
    record: dict[str, Field] = {
        "namespace": OPTIONAL_ID,
        "override_erasures": ANY_BOOL,
        "record": Field(
            (Invalid("absent", None), Invalid("without content", session.ArchiveRecord(session_id="s"))),
            (Valid("given", session.ArchiveRecord(session_id="s", policy=session.SessionPolicy())),),
        ),
        "record.user_id": OPTIONAL_ID,
        "record.session_id": REQUIRED_ID,
        "record.version": invalid(2, -1, MAX_INT32, MIN_INT32) + valid(0, 1),
        "record.pruned": ANY_BOOL,
        "record.learned": ANY_BOOL,
    }
    for name, content in _CONTENTS.items():
        first_error = _FIRST_ERRORS.get(name)
        empty = (Invalid("empty", type(content)(), first_error),) if first_error else ()
        record[f"record.{name}"] = Field(empty, (Valid("given", content),))
        given = {f"record.{name}": content}
        for path, rows in _rows_of(name, tables).items():
            record[f"record.{name}.{path}"] = _moved(rows, name, given)
    scope = {"namespace": OPTIONAL_ID, "user_id": OPTIONAL_ID, "session_id": OPTIONAL_ID}
    return {"Export": scope | {"cursor": PAGE_TOKEN}, "Import": record}


def _rows_of(name: str, tables: dict[str, dict[str, Field]]) -> dict[str, Field]:
    """Return the rows of a content, by path below it."""
    if name == "displayed":
        return _any_value(Message.DESCRIPTOR) | {
            "content": invalid("") + Field((too_large("1 MiB and a byte", "x" * (MIB + 1)),)) + valid(" ", "x" * MIB)
        }
    below = {
        "message": ("Add", "message."),
        "fact": ("PutFacts", "facts[1]."),
        "artifact": ("PutArtifact", "artifact."),
        "document": ("PutDocument", "document."),
        "policy": ("SetPolicy", "policy."),
    }
    rows: dict[str, Field] = {}
    if name in below:
        rpc, prefix = below[name]
        rows = {
            path.removeprefix(prefix): _relative(field, prefix)
            for path, field in tables[rpc].items()
            if path.startswith(prefix)
        }
    return rows | _OWN_ROWS.get(name, {})


_IN_SESSION = {".session_id": "s"}
_SOURCES = Field(
    (
        Invalid("101", ["m"] * 101, given=_IN_SESSION),
        Invalid("a line break, second", ["m", "a\nb"], "[1]", given=_IN_SESSION),
        Invalid("without a session", ["m"], field="record.fact.session_id"),
    ),
    (Valid("100", ["m"] * 100, _IN_SESSION), Valid("none", [])),
)
_OWN_ROWS: dict[str, dict[str, Field]] = {
    "message": {"id": REQUIRED_ID, "sequence": _SEQUENCE + valid(_MAX)},
    "fact": {
        "id": REQUIRED_ID,
        "valid_until": TIME,
        "origin": OPTIONAL_ID,
        "source_message_ids": _SOURCES,
    },
    "summary": {
        "id": REQUIRED_ID,
        "text": invalid("") + Field((too_large("1 MiB and a byte", "x" * (MIB + 1)),)) + valid(" ", "x" * 1_000),
        "tokens": valid(0, 7, MIN_INT32),
        "first_sequence": _SEQUENCE,
        "last_sequence": invalid(-1, 0, _MAX + 1) + valid(1, 2, _MAX),
        "create_time": TIME,
        "origin": OPTIONAL_ID,
    },
    "artifact": {
        "id": REQUIRED_ID,
        "content": Field((Invalid("empty", ""), too_large("1 MiB and a byte", "x" * (MIB + 1))))
        + valid(" ", "x" * 1_000),
        "message_id": OPTIONAL_ID,
    },
    "calibration": {
        "model": REQUIRED_ID,
        "factor": invalid(0.0, 0.49, 2.01, -1.0, NAN, INFINITY, -INFINITY) + valid(0.5, 1.0, 2.0),
        "reports": invalid(0, -1, MIN_INT64, _MAX + 1) + valid(1, _MAX),
    },
    "session": {"create_time": TIME, "last_active": TIME, "last_sequence": _SEQUENCE + valid(_MAX)},
}


def _any_value(descriptor: Any, prefix: str = "") -> dict[str, Field]:
    """Return rows for fields that are ignored."""
    rows: dict[str, Field] = {}
    for field in descriptor.fields:
        values: list[Any] = [None]
        if field.cpp_type == field.CPPTYPE_STRING and not field.is_repeated:
            values = ["", "a\nb"]
        rows[f"{prefix}{field.name}"] = valid(*values)
        if field.message_type is not None and field.message_type.full_name.startswith("memsidecar."):
            rows |= _any_value(field.message_type, f"{prefix}{field.name}[0].")
    return rows


def _relative(rows: Field, prefix: str) -> Field:
    """Name the given fields relatively to the content."""

    def given(row: Any) -> dict[str, Any]:
        return {f".{path.removeprefix(prefix)}": value for path, value in row.given.items()}

    return Field(
        tuple(replace(row, given=given(row)) for row in rows.invalid),
        tuple(replace(row, given=given(row)) for row in rows.valid),
    )


def _moved(rows: Field, name: str, given: dict[str, Any]) -> Field:
    """Return the rows for requests with a valid content, whose fields the row's own ones change."""

    def all_given(row: Any) -> dict[str, Any]:
        return given | {f"record.{name}{path}": value for path, value in row.given.items()}

    return Field(
        tuple(replace(row, given=all_given(row)) for row in rows.invalid),
        tuple(replace(row, given=all_given(row)) for row in rows.valid),
    )
