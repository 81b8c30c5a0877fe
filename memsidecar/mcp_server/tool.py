"""What a tool is: what it takes and gives, as JSON schemas that a language model reads, and what it does."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from mcp_types import ToolAnnotations
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memsidecar.mcp_server.memory import Memory

# No tool reaches beyond the memory.
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False)
ADDS = ToolAnnotations(read_only_hint=False, idempotent_hint=False, destructive_hint=False, open_world_hint=False)
SETS = ToolAnnotations(read_only_hint=False, idempotent_hint=True, destructive_hint=False, open_world_hint=False)
REPLACES = ToolAnnotations(read_only_hint=False, idempotent_hint=True, destructive_hint=True, open_world_hint=False)
ERASES = ToolAnnotations(read_only_hint=False, idempotent_hint=True, destructive_hint=True, open_world_hint=False)


class Arguments(BaseModel):
    """What a model sends; what it makes up is refused by name."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Answer(BaseModel, ABC):
    """What a tool gives: fields for programs, and the same as text to read."""

    model_config = ConfigDict(frozen=True)

    @abstractmethod
    def text(self) -> str:
        """As short as the fields are."""


A = TypeVar("A", bound=Arguments)
B = TypeVar("B", bound=Answer)


@dataclass(frozen=True)
class Tool(Generic[A, B]):
    """`title` is for people, `description` tells a model when to use it. `work` raises Refused."""

    name: str
    title: str
    description: str
    takes: type[A]
    gives: type[B]
    hints: ToolAnnotations
    work: Callable[[Memory, A], Awaitable[B]]


def _unpacked(given: object) -> object:
    """Some desktop programs send a list as the text of its JSON."""
    if isinstance(given, str):
        try:
            return json.loads(given)
        except ValueError:
            return given
    return given


Unpacked = BeforeValidator(_unpacked)

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
