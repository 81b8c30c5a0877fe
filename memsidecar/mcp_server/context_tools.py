"""The tool build_context."""

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

# The proportions of the sidecar's defaults without the conversation, which the desktop program holds itself. Messages
# that have left the program's window are found like all others.
_PERCENT = {
    SECTION_FACTS: 10,
    SECTION_HINTS: 5,
    SECTION_SUMMARY: 20,
    SECTION_DOCUMENTS: 40,
    SECTION_EPISODIC: 20,
    SECTION_ARTIFACTS: 10,
}
_DISABLED = (SECTION_SYSTEM, SECTION_WORKING)


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


async def build(sidecar: SidecarClient, arguments: BuildContext) -> BuiltContext:
    request = context_pb2.BuildContextRequest(
        namespace=sidecar.namespace,
        user_id=sidecar.user_id,
        session_id=arguments.session_id or sidecar.session_id,
        query=arguments.query,
        max_tokens=arguments.max_tokens,
        sections=_budgets(arguments.max_tokens),
    )
    response: context_pb2.BuildContextResponse = await sidecar.call(sidecar.messages.BuildContext, request)
    used = [_use(section) for section in response.receipt.sections if section.section in _PERCENT]
    return BuiltContext(
        memory_text=response.memory_text,
        tokens=response.total_tokens,
        sections=[section for section in used if section.items],
        notes=degradation_notes(response.degraded),
    )


def _budgets(max_tokens: int) -> list[SectionBudget]:
    enabled = [
        SectionBudget(section=section, max_tokens=max_tokens * percent // 100) for section, percent in _PERCENT.items()
    ]
    return enabled + [SectionBudget(section=section, disabled=True) for section in _DISABLED]


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
