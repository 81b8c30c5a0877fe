"""Types of a tool: arguments, result, JSON schema. Limits on the text of a result, and degradation notes."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from mcp_types import ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memsidecar.mcp_server.sidecar_client import SidecarClient
from memsidecar.v1.context_pb2 import (
    DEGRADATION_DEADLINE,
    DEGRADATION_EMBEDDER_UNAVAILABLE,
    DEGRADATION_INDEX_UNAVAILABLE,
    DEGRADATION_STALE,
)

# No tool reaches beyond the memory.
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, idempotent_hint=False, destructive_hint=False, open_world_hint=False)
SETS = ToolAnnotations(read_only_hint=False, idempotent_hint=True, destructive_hint=False, open_world_hint=False)
REPLACES = ToolAnnotations(read_only_hint=False, idempotent_hint=True, destructive_hint=True, open_world_hint=False)
ERASES = ToolAnnotations(read_only_hint=False, idempotent_hint=True, destructive_hint=True, open_world_hint=False)

T = TypeVar("T")

MAX_RESULT_BYTES = 16_000
"All texts of a result together: about 4,000 tokens."
MAX_TEXT_BYTES = 4_000
"One message or one piece of a document."
MAX_VALUE_BYTES = 1_000
"One value of a fact, one title."

NOTES: dict[int, str] = {
    DEGRADATION_INDEX_UNAVAILABLE: "the index is not open: only the newest messages were looked at",
    DEGRADATION_EMBEDDER_UNAVAILABLE: "there are no vectors for this: words alone were compared",
    DEGRADATION_DEADLINE: "there was no time left to look for more",
    DEGRADATION_STALE: "what was said last may not be considered yet",
}


class Arguments(BaseModel):
    """Arguments from the model. Unknown ones are rejected by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolResult(BaseModel, ABC):
    """Result of a tool: fields for programs, and the same as text."""

    model_config = ConfigDict(frozen=True)

    @abstractmethod
    def text(self) -> str:
        """Return the fields as short text for the model."""


A = TypeVar("A", bound=Arguments)
B = TypeVar("B", bound=ToolResult)


@dataclass(frozen=True)
class Tool(Generic[A, B]):
    """A tool. `title` is for people, `description` tells a model when to use it. `run` raises ToolError."""

    name: str
    title: str
    description: str
    arguments: type[A]
    result: type[B]
    hints: ToolAnnotations
    run: Callable[[SidecarClient, A], Awaitable[B]]


def _decode_json(value: object) -> object:
    """Decode a list that was sent as a JSON string, as some desktop programs do."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


JsonDecoded = BeforeValidator(_decode_json)

SessionId = Annotated[
    str,
    Field(
        default="",
        description="The conversation that is meant. Leave it out for the current one, unless you keep several "
        "conversations apart: then any short name, always the same for the same conversation.",
    ),
]


def schema_of(model: type[BaseModel], mode: Any = "validation") -> dict[str, Any]:
    """Return a JSON schema without references, nulls and generated titles, which some clients do not understand."""
    schema = model.model_json_schema(mode=mode)
    plain: dict[str, Any] = _plain(schema, schema.pop("$defs", {}))
    plain.pop("description", None)
    return plain


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    node = {**definitions.get(str(node.get("$ref", "")).rpartition("/")[2], {}), **node}
    node.pop("$ref", None)
    kinds = [kind for kind in node.get("anyOf", ()) if kind != {"type": "null"}]
    if len(kinds) == 1:
        node = {**kinds[0], **{key: value for key, value in node.items() if key not in ("anyOf", "default")}}
    # The title of a schema is a string; a property named title is an object.
    return {
        key: _plain(value, definitions)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }


def truncate(text: str, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """Return the text, or its beginning and the number of missing characters if it is longer than `max_bytes`."""
    raw = text.encode()
    if len(raw) <= max_bytes:
        return text
    start = raw[:max_bytes].decode(errors="ignore")
    return f"{start} [... {len(text) - len(start)} more characters]"


def take_fitting(items: Iterable[T], text: Callable[[T], str], max_bytes: int = MAX_RESULT_BYTES) -> list[T]:
    """Return the first items whose texts have at most `max_bytes` together."""
    fitting: list[T] = []
    used_bytes = 0
    for item in items:
        used_bytes += len(text(item).encode())
        if used_bytes > max_bytes:
            break
        fitting.append(item)
    return fitting


def degradation_notes(degraded: Iterable[int]) -> list[str]:
    return [NOTES[number] for number in degraded if number in NOTES]


def parenthesized(sentences: Iterable[str]) -> list[str]:
    return [f"({sentence})" for sentence in sentences]
