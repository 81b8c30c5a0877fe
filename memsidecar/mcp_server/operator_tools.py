"""The tools export_memory and forget_user, which are listed only if the operator allows them."""

from __future__ import annotations

import json
from typing import Any

from google.protobuf.json_format import MessageToDict
from pydantic import Field

from memsidecar.mcp_server.sidecar_client import SidecarClient
from memsidecar.mcp_server.tool import ERASES, MAX_RESULT_BYTES, READS, Arguments, Tool, ToolResult
from memsidecar.v1 import session_pb2


class ExportMemory(Arguments):
    session_id: str = Field(default="", description="Only this conversation. Leave it out for everything of the user.")
    cursor: str = Field(default="", description="The cursor of the previous page. Leave it out for the first page.")


class ForgetUser(Arguments):
    dry_run: bool = Field(
        default=True,
        description="True: only count what would be erased. Tell the user the counts, and call with false when they "
        "confirm.",
    )


class MemoryPage(ToolResult):
    records: list[dict[str, Any]] = Field(description="Records of an archive. One that is too large has `left_out`.")
    cursor: str = Field(description="For the next page. Empty: that was the last page.")

    def text(self) -> str:
        lines = [json.dumps(record, ensure_ascii=False) for record in self.records] or ["There is nothing."]
        more = [f"(There is more: call again with the cursor {self.cursor})"] if self.cursor else []
        return "\n".join([*lines, *more])


class UserForgotten(ToolResult):
    dry_run: bool
    sessions: int
    messages: int
    facts: int
    summaries: int
    artifacts: int
    documents: int

    def text(self) -> str:
        counts = self.model_dump(exclude={"dry_run"})
        what = ", ".join(f"{name}: {number}" for name, number in counts.items())
        return f"This would be erased: {what}." if self.dry_run else f"Erased for good: {what}."


async def export(sidecar: SidecarClient, arguments: ExportMemory) -> MemoryPage:
    """Return the first records that fit into a result; one at least."""
    request = session_pb2.ExportRequest(
        namespace=sidecar.namespace,
        user_id=sidecar.user_id,
        session_id=arguments.session_id,
        cursor=arguments.cursor,
    )
    records: list[dict[str, Any]] = []
    size, cursor = 0, arguments.cursor
    async for response in sidecar.stream(sidecar.sessions.Export, request):
        record = _fitting(MessageToDict(response.record, preserving_proto_field_name=True))
        size += _size(record)
        if records and size > MAX_RESULT_BYTES:
            return MemoryPage(records=records, cursor=cursor)
        records.append(record)
        cursor = response.cursor
    return MemoryPage(records=records, cursor="")


def _fitting(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record, or what it is if it alone exceeds a result: a part of it would be no record."""
    if (size := _size(record)) <= MAX_RESULT_BYTES:
        return record
    names = {name: value for name, value in record.items() if not isinstance(value, dict)}
    kinds = {kind: {"id": value.get("id", "")} for kind, value in record.items() if isinstance(value, dict)}
    return names | kinds | {"left_out": f"{size} bytes; `memsidecar export` writes the whole record"}


def _size(record: dict[str, Any]) -> int:
    return len(json.dumps(record, ensure_ascii=False).encode())


async def forget(sidecar: SidecarClient, arguments: ForgetUser) -> UserForgotten:
    request = session_pb2.ForgetUserRequest(
        namespace=sidecar.namespace, user_id=sidecar.user_id, dry_run=arguments.dry_run
    )
    response: session_pb2.ForgetUserResponse = await sidecar.call(sidecar.sessions.ForgetUser, request)
    receipt = response.receipt
    return UserForgotten(
        dry_run=receipt.dry_run,
        sessions=receipt.sessions,
        messages=receipt.messages,
        facts=receipt.facts,
        summaries=receipt.summaries,
        artifacts=receipt.artifacts,
        documents=receipt.documents,
    )


OPERATOR_TOOLS = (
    Tool(
        "export_memory",
        "Export the memory",
        "Read everything that is stored of the user, page by page: messages, facts, summaries, documents. Only when "
        "the user asks for their data.",
        ExportMemory,
        MemoryPage,
        READS,
        export,
    ),
    Tool(
        "forget_user",
        "Forget the user",
        "Erase everything that is stored of the user: all conversations, facts, summaries and documents. It cannot be "
        "undone. Only when the user asks for it, and confirms the counts of a dry run.",
        ForgetUser,
        UserForgotten,
        ERASES,
        forget,
    ),
)
