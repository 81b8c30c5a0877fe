"""Build_context tool."""

from __future__ import annotations

from pydantic import BaseModel, Field

from memsidecar.mcp_server.sidecar_client import SidecarClient
from memsidecar.mcp_server.tool import READS, Arguments, SessionId, Tool, ToolResult, degradation_notes, parenthesized
from memsidecar.v1 import context_pb2
from memsidecar.v1.context_pb2 import (
    SECTION_ARTIFACTS,
    SECTION_DOCUMENTS,
    SECTION_EPISODIC,
    SECTION_FACTS,
    SECTION_HINTS,
    SECTION_SUMMARY,
    SECTION_SYSTEM,
    SECTION_WORKING,
    SectionBudget,
)

# The proportions of the sidecar's own defaults, which leave most of a budget to the conversation. Here the desktop
# program holds the conversation, and what is said of it now and not in its window any more is found like all the rest.
_PERCENT = {
    SECTION_FACTS: 10,
    SECTION_HINTS: 5,
    SECTION_SUMMARY: 20,
    SECTION_DOCUMENTS: 40,
    SECTION_EPISODIC: 20,
    SECTION_ARTIFACTS: 10,
}
_LEFT_OUT = (SECTION_SYSTEM, SECTION_WORKING)


class BuildContext(Arguments):
    query: str = Field(
        min_length=1, description="What you need to know something about: the user's question, as it is."
    )
    max_tokens: int = Field(
        default=2_000, ge=100, le=16_000, description="The memory text has at most that many tokens, and usually fewer."
    )
    session_id: SessionId


class SectionUse(BaseModel):
    """One kind of memory, and what it takes."""

    name: str = Field(description="facts, hints, summary, documents, episodic (said before) or artifacts.")
    items: int = Field(description="How many are in the text.")
    tokens: int


class BuiltContext(ToolResult):
    memory_text: str = Field(description="What is remembered, in sections with headings. Empty when there is nothing.")
    tokens: int = Field(description="Of the memory text.")
    sections: list[SectionUse] = Field(description="What the text is made of.")
    notes: list[str] = Field(description="What was missing when this was answered. Empty when all is well.")

    def text(self) -> str:
        return "\n".join([self.memory_text or "Nothing is remembered about this.", *parenthesized(self.notes)])


async def build(memory: SidecarClient, given: BuildContext) -> BuiltContext:
    request = context_pb2.BuildContextRequest(
        namespace=memory.namespace,
        user_id=memory.user_id,
        session_id=given.session_id or memory.session_id,
        query=given.query,
        max_tokens=given.max_tokens,
        sections=_budgets(given.max_tokens),
    )
    answer: context_pb2.BuildContextResponse = await memory.call(memory.messages.BuildContext, request)
    used = [_use(section) for section in answer.receipt.sections if section.section in _PERCENT]
    return BuiltContext(
        memory_text=answer.memory_text,
        tokens=answer.total_tokens,
        sections=[section for section in used if section.items],
        notes=degradation_notes(answer.degraded),
    )


def _budgets(max_tokens: int) -> list[SectionBudget]:
    kept = [SectionBudget(section=one, max_tokens=max_tokens * share // 100) for one, share in _PERCENT.items()]
    return kept + [SectionBudget(section=one, disabled=True) for one in _LEFT_OUT]


def _use(receipt: context_pb2.SectionReceipt) -> SectionUse:
    name = context_pb2.Section.Name(receipt.section).removeprefix("SECTION_").lower()
    return SectionUse(name=name, items=len(receipt.items), tokens=receipt.used_tokens)


CONTEXT_TOOLS = (
    Tool(
        "build_context",
        "Recall what matters",
        "Recall all that the memory holds for a question: what is known about the user, what was said before, the "
        "summary of this conversation, and pieces of saved documents, within a token limit. Call it at the beginning "
        "of a conversation, and whenever an answer may depend on what the user told you before.",
        BuildContext,
        BuiltContext,
        READS,
        build,
    ),
)
