"""Earlier messages in a context: their order, their dates, and what is shown with them."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.v1.context_pb2 import SECTION_EPISODIC, BuildContextRequest, BuildContextResponse, ItemReceipt
from memsidecar.v1.memory_pb2 import AddBatchRequest
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, SidecarProcess

DAY = 24 * 3600


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    folder: Path = tmp_path_factory.mktemp("earlier")
    with SidecarProcess(folder / "data", "--index", "volatile") as running:
        until_index_is_ready(running)
        yield running


def said(content: str, days_ago: float = 0, role: Any = ROLE_USER, **fields: Any) -> Message:
    return Message(role=role, content=content, create_time=time_of(days_ago), **fields)


def time_of(days_ago: float) -> Timestamp:
    return Timestamp(seconds=int(time.time() - days_ago * DAY))


def add(client: Client, user: str, session: str, messages: Sequence[Message]) -> None:
    client.memory.AddBatch(AddBatchRequest(user_id=user, session_id=f"{user} {session}", messages=messages))


def ask(client: Client, user: str, query: str, **fields: Any) -> BuildContextResponse:
    request = {"session_id": f"{user} now", "max_tokens": 4_000, **fields}
    built: BuildContextResponse = client.memory.BuildContext(
        BuildContextRequest(user_id=user, query=query, append_query=True, **request)
    )
    return built


def earlier(built: BuildContextResponse) -> list[str]:
    """Return the lines of the section of earlier messages."""
    lines = built.memory_text.splitlines()
    if "## Said before (may be out of date)" not in lines:
        return []
    rest = lines[lines.index("## Said before (may be out of date)") + 1 :]
    return rest[: next(at for at, line in enumerate(rest) if line.startswith(("## ", "</memsidecar>")))]


def receipts(built: BuildContextResponse) -> list[ItemReceipt]:
    (section,) = [each for each in built.receipt.sections if each.section == SECTION_EPISODIC]
    return list(section.items)


def test_earlier_messages_are_dated_and_in_order_of_time(client: Client) -> None:
    add(client, "dora", "new", [said("The deploy of ledger is on Friday.", 21.1)])
    add(client, "dora", "old", [said("The deploy of ledger is on Monday.", 42.1)])
    date = {days: time_of(days).ToDatetime().date().isoformat() for days in (21.1, 42.1)}
    assert earlier(ask(client, "dora", "When is the deploy of ledger?")) == [
        f"{date[42.1]}, 1 month ago:",
        "- User: The deploy of ledger is on Monday.",
        f"{date[21.1]}, 3 weeks ago:",
        "- User: The deploy of ledger is on Friday.",
    ]


def test_messages_of_one_session_and_day_share_a_heading(client: Client) -> None:
    add(client, "egon", "old", [said("The ledger service is written in Go."), said("The ledger port is 8080.")])
    assert earlier(ask(client, "egon", "What do you know about the ledger service and its port?")) == [
        "just now:",
        "- User: The ledger service is written in Go.",
        "- User: The ledger port is 8080.",
    ]
