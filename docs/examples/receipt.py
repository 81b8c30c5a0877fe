"""Print the receipt of docs/context.md: `python docs/examples/receipt.py ADDRESS`.

Stores two sessions of one user, three weeks apart, in a namespace of their own. Run it once on a sidecar.
"""

import sys
import time
from collections import Counter
from typing import Any

import grpc

from memsidecar.v1 import knowledge_pb2, memory_pb2
from memsidecar.v1.context_pb2 import (
    BuildContextRequest,
    BuildContextResponse,
    Inclusion,
    Section,
    SectionBudget,
    SectionReceipt,
)
from memsidecar.v1.knowledge_pb2_grpc import KnowledgeServiceStub
from memsidecar.v1.memory_pb2_grpc import MemoryServiceStub
from memsidecar.v1.message_pb2 import Message, Role, ToolCall

SCOPE: dict[str, Any] = {"namespace": "example", "user_id": "ana"}
FIVE_TURNS = SectionBudget(section=Section.SECTION_WORKING, top_k=5)
"The conversation has seven, and would be shown whole: with fewer a receipt has a summary."
WEEK_SECONDS = 7 * 24 * 3600
MARCH = (
    "Hi, I'm Ana and I work at Acme as a data engineer.",
    "Nice to meet you, Ana! What are you working on?",
    "The export job for the invoices failed with a deadlock on the ledger table.",
    "Take the locks in one order: ledger first, then invoices. Then retry once on error 40P01.",
    "That fixed it. I prefer short answers, by the way.",
    "Noted.",
)
MAY = (
    "Good morning! Today I want to plan the migration to Postgres 17.",
    "Good. Which databases are affected?",
    "Two: billing with 400 GB and reporting with 1.2 TB.",
    "Then billing first: it is smaller, and a rollback is quicker.",
    "The window is Sunday from 02:00 to 05:00 UTC.",
    "400 GB in three hours is fine with pg_upgrade in link mode.",
    "Who should approve it?",
    "Whoever owns billing. Who is that?",
    "Marta owns billing, and she wants a written rollback plan.",
    "I will draft one: stop writes, switch back the service name, start the old cluster.",
)
CALLS = [
    ToolCall(id="call_1", name="table_size", arguments_json='{"table": "ledger"}'),
    ToolCall(id="call_2", name="table_size", arguments_json='{"table": "invoices"}'),
]
TOOLS = (
    Message(role="ROLE_USER", content="Good. Please also check how large the ledger table is."),
    Message(role="ROLE_ASSISTANT", tool_calls=CALLS),
    Message(role="ROLE_TOOL", tool_call_id="call_1", content='{"table": "ledger", "bytes": 187904819200}'),
    Message(role="ROLE_TOOL", tool_call_id="call_2", content='{"table": "invoices", "bytes": 64424509440}'),
    Message(role="ROLE_ASSISTANT", content="ledger has 175 GiB, invoices 60 GiB."),
    Message(role="ROLE_USER", content="Could the export job deadlock again during the migration?"),
)
DEADLOCKS = knowledge_pb2.Artifact(source="pg_stat", content="export job: 3 deadlocks in 90 days, all on ledger")
RUNBOOK = knowledge_pb2.Document(
    id="runbook",
    title="Runbook",
    text='Before a migration stop the export job with "jobs pause export". It takes its locks again when resumed.',
)


def store(memory: MemoryServiceStub, knowledge: KnowledgeServiceStub) -> None:
    _add(memory, "march", _messages(MARCH), time.time() - 3 * WEEK_SECONDS)
    _add(memory, "may", [*_messages(MAY), *TOOLS], time.time())
    knowledge.PutArtifact(knowledge_pb2.PutArtifactRequest(session_id="may", artifact=DEADLOCKS, **SCOPE))
    knowledge.PutDocument(knowledge_pb2.PutDocumentRequest(document=RUNBOOK, **SCOPE))
    while len(knowledge.ListFacts(knowledge_pb2.ListFactsRequest(**SCOPE)).facts) < 4:
        time.sleep(0.2)


def _messages(texts: tuple[str, ...]) -> list[Message]:
    roles = (Role.ROLE_USER, Role.ROLE_ASSISTANT)
    return [Message(role=roles[position % 2], content=text) for position, text in enumerate(texts)]


def _add(memory: MemoryServiceStub, session_id: str, messages: list[Message], seconds: float) -> None:
    for number, message in enumerate(messages, 1):
        message.id = f"{session_id}-{number}"
        message.create_time.FromMicroseconds(int(seconds * 1_000_000) + number)
    memory.AddBatch(memory_pb2.AddBatchRequest(session_id=session_id, messages=messages, **SCOPE))


def build(memory: MemoryServiceStub, max_tokens: int) -> BuildContextResponse:
    context: BuildContextResponse = memory.BuildContext(
        BuildContextRequest(
            session_id="may",
            system_prompt="You are a careful assistant for database work.",
            profile="Ana maintains the billing databases. She is in Lisbon.",
            max_tokens=max_tokens,
            sections=[FIVE_TURNS],
            debug=True,
            **SCOPE,
        )
    )
    return context


def show(context: BuildContextResponse) -> None:
    for position, message in enumerate(context.messages):
        stable = "stable" if position < context.stable_prefix_count else ""
        role = Role.Name(message.role).removeprefix("ROLE_").lower()
        calls = ", ".join(f"{call.name}({call.arguments_json})" for call in message.tool_calls)
        print(f"{role:10}{stable:7}{message.tokens:5}  {message.content or calls}")
    print(f"\n{'section':16}{'share':>6}{'limit':>6}{'used':>6}")
    for section in context.receipt.sections:
        _show_section(section)
    used = f"{context.total_tokens} of {context.max_tokens} tokens"
    print(f"\n{used}, {context.receipt.tokenizer}, exact: {context.receipt.exact}")


def _show_section(section: SectionReceipt) -> None:
    name = Section.Name(section.section).removeprefix("SECTION_")
    print(f"{name:16}{section.share_tokens or '':>6}{section.limit_tokens or '':>6}{section.used_tokens:6}")
    for item in (item for item in section.items if item.included):
        score = f"{item.score:.2f}" if item.score else ""
        (preview, *_) = item.preview.splitlines() or [""]
        print(f"  {item.tokens:5} {score:5} {_reason(item.reason):10} {preview}".rstrip())
    left_out = Counter(_reason(item.reason) for item in section.items if not item.included)
    if left_out:
        print("  left out:", ", ".join(f"{count} {reason}" for reason, count in sorted(left_out.items())))


def _reason(reason: int) -> str:
    return Inclusion.Name(reason).removeprefix("INCLUSION_")


if __name__ == "__main__":
    with grpc.insecure_channel(sys.argv[1]) as channel:
        store(MemoryServiceStub(channel), KnowledgeServiceStub(channel))
        show(build(MemoryServiceStub(channel), 2_000))
