"""Tool, arguments, result; truncation; degradation notes."""

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
"All texts of an answer together: about 4,000 tokens."
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
    """What a model sends; what it makes up is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ToolResult(BaseModel, ABC):
    """What a tool gives: fields for programs, and the same as text to read."""

    model_config = ConfigDict(frozen=True)

    @abstractmethod
    def text(self) -> str:
        """As short as the fields are."""


A = TypeVar("A", bound=Arguments)
B = TypeVar("B", bound=ToolResult)


@dataclass(frozen=True)
class Tool(Generic[A, B]):
    """`title` is for people, `description` tells a model when to use it. `work` raises Refused."""

    name: str
    title: str
    description: str
    arguments: type[A]
    result: type[B]
    hints: ToolAnnotations
    run: Callable[[SidecarClient, A], Awaitable[B]]


def _unpacked(given: object) -> object:
    """Some desktop programs send a list as the text of its JSON."""
    if isinstance(given, str):
        try:
            return json.loads(given)
        except ValueError:
            return given
    return given


JsonDecoded = BeforeValidator(_unpacked)

SessionId = Annotated[
    str,
    Field(
        default="",
        description="The conversation that is meant. Leave it out for the current one, unless you keep several "
        "conversations apart: then any short name, always the same for the same conversation.",
    ),
]


def schema_of(model: type[BaseModel], mode: Any = "validation") -> dict[str, Any]:
    """Without references, nulls and made-up titles, which some clients do not understand and no model needs."""
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
    # A title of a schema is a text; a property may be called title, too.
    return {
        key: _plain(value, definitions)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }


def truncate(text: str, max_bytes: int = MAX_TEXT_BYTES) -> str:
    """The beginning, and how much is missing; the text itself where it is short enough."""
    raw = text.encode()
    if len(raw) <= max_bytes:
        return text
    kept = raw[:max_bytes].decode(errors="ignore")
    return f"{kept} [... {len(text) - len(kept)} more characters]"


def take_fitting(items: Iterable[T], text: Callable[[T], str], max_bytes: int = MAX_RESULT_BYTES) -> list[T]:
    """The first ones, as many as fit together."""
    kept: list[T] = []
    used_bytes = 0
    for item in items:
        used_bytes += len(text(item).encode())
        if used_bytes > max_bytes:
            break
        kept.append(item)
    return kept


def degradation_notes(degraded: Iterable[int]) -> list[str]:
    return [NOTES[number] for number in degraded if number in NOTES]


def parenthesized(sentences: Iterable[str]) -> list[str]:
    return [f"({sentence})" for sentence in sentences]
