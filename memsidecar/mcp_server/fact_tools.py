"""The tools remember_facts, list_facts and forget_fact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from memsidecar.mcp_server.sidecar_client import SidecarClient
from memsidecar.mcp_server.tool import (
    ERASES,
    MAX_VALUE_BYTES,
    READS,
    SETS,
    Arguments,
    JsonDecoded,
    Tool,
    ToolResult,
    take_fitting,
    truncate,
)
from memsidecar.v1 import knowledge_pb2

FactType = Literal["user_profile", "preference", "interest", "action_item", "sentiment", "question", "domain"]
_PREFIX = "FACT_TYPE_"


class NewFact(Arguments):
    type: FactType = Field(
        description="user_profile: who the user is. preference: how the user wants things. interest: what the user "
        "likes. action_item: what is to be done. sentiment: how the user feels about something. question: what the "
        "user may come back to. domain: the field that this is about."
    )
    key: str = Field(
        min_length=1,
        description="What it is about, in a word or two: name, city, editor. A new value of the same key takes the "
        "place of the old one, except for interest, action_item and question, of which there may be many.",
    )
    value: str = Field(min_length=1, description="What is known, short: Lisbon.")
    pinned: bool = Field(default=False, description="Show it in every context, and never let a learned one replace it.")


class RememberFacts(Arguments):
    facts: Annotated[list[NewFact], JsonDecoded] = Field(
        min_length=1, max_length=50, description="All are stored, or none."
    )


class ListFacts(Arguments):
    types: Annotated[list[FactType], JsonDecoded] = Field(
        default=[], description="Only these types. Leave it out for all."
    )
    include_history: bool = Field(default=False, description="Also show values that newer ones took the place of.")
    limit: int = Field(default=50, ge=1, le=200, description="How many at most, the most certain first.")


class ForgetFact(Arguments):
    fact_id: str = Field(min_length=1, description="The id of the fact, as list_facts shows it.")


class ShownFact(BaseModel):
    """One fact."""

    fact_id: str
    type: str
    key: str
    value: str = Field(description="Shortened where it is long; it says so at its end.")
    pinned: bool
    confidence: float = Field(description="From 0 to 1.")
    learned_by: str = Field(description="client: a client stored it explicitly. Else how it was learned.")
    superseded: bool = Field(description="A newer value took its place.")

    def line(self) -> str:
        marks = [mark for mark, on in (("pinned", self.pinned), ("superseded", self.superseded)) if on]
        return f"{self.key}: {self.value} ({', '.join([self.type, *marks])}; fact_id {self.fact_id})"


class FactList(ToolResult):
    facts: list[ShownFact]
    more: bool = Field(description="There are more than these.")

    def text(self) -> str:
        lines = [f"- {fact.line()}" for fact in self.facts] or ["Nothing is known yet."]
        return "\n".join([*lines, "(There are more than these.)"] if self.more else lines)


class FactForgotten(ToolResult):
    fact_id: str

    def text(self) -> str:
        return f"Erased: the fact {self.fact_id}."


async def remember(sidecar: SidecarClient, arguments: RememberFacts) -> FactList:
    request = knowledge_pb2.PutFactsRequest(
        namespace=sidecar.namespace,
        user_id=sidecar.user_id,
        facts=[
            knowledge_pb2.Fact(type=_type(fact.type), key=fact.key, value=fact.value, pinned=fact.pinned)
            for fact in arguments.facts
        ],
    )
    response: knowledge_pb2.PutFactsResponse = await sidecar.call(sidecar.knowledge.PutFacts, request)
    return _facts(response.facts, more=False)


async def list_(sidecar: SidecarClient, arguments: ListFacts) -> FactList:
    request = knowledge_pb2.ListFactsRequest(
        namespace=sidecar.namespace,
        user_id=sidecar.user_id,
        types=[_type(name) for name in arguments.types],
        include_history=arguments.include_history,
        page_size=arguments.limit,
    )
    response: knowledge_pb2.ListFactsResponse = await sidecar.call(sidecar.knowledge.ListFacts, request)
    return _facts(response.facts, more=bool(response.next_page_token))


async def forget(sidecar: SidecarClient, arguments: ForgetFact) -> FactForgotten:
    request = knowledge_pb2.DeleteFactRequest(
        namespace=sidecar.namespace, user_id=sidecar.user_id, fact_id=arguments.fact_id
    )
    await sidecar.call(sidecar.knowledge.DeleteFact, request)
    return FactForgotten(fact_id=arguments.fact_id)


def _facts(stored: Iterable[knowledge_pb2.Fact], *, more: bool) -> FactList:
    facts = [_shown(fact) for fact in stored]
    fitting = take_fitting(facts, ShownFact.line)
    return FactList(facts=fitting, more=more or len(fitting) < len(facts))


def _shown(fact: knowledge_pb2.Fact) -> ShownFact:
    return ShownFact(
        fact_id=fact.id,
        type=knowledge_pb2.FactType.Name(fact.type).removeprefix(_PREFIX).lower(),
        key=fact.key,
        value=truncate(fact.value, MAX_VALUE_BYTES),
        pinned=fact.pinned,
        confidence=round(fact.confidence, 3),
        learned_by=fact.origin,
        superseded=fact.HasField("valid_until"),
    )


def _type(name: FactType) -> str:
    return f"{_PREFIX}{name.upper()}"


FACT_TOOLS = (
    Tool(
        "remember_facts",
        "Remember facts about the user",
        "Store lasting facts about the user: name, city, preferences, plans, things to do. Call it when the user tells "
        "something about themselves that should hold in later conversations, or asks you to remember something. The "
        "value before it stays in the history.",
        RememberFacts,
        FactList,
        SETS,
        remember,
    ),
    Tool(
        "list_facts",
        "List what is known about the user",
        "List the facts that are known about the user, with their ids. Use it when the user asks what you know about "
        "them, or before forget_fact.",
        ListFacts,
        FactList,
        READS,
        list_,
    ),
    Tool(
        "forget_fact",
        "Forget a fact",
        "Erase one fact about the user for good. It cannot be undone. Only when the user asks for it; to correct a "
        "fact, store the new value with remember_facts instead.",
        ForgetFact,
        FactForgotten,
        ERASES,
        forget,
    ),
)
