"""Limits of a namespace: concurrent calls, duration of a call, size of a page."""

import time
from pathlib import Path
from typing import Any

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.limits.refusals import Refused, refused
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS

# Random letters are slow to count: no word of it is in the vocabulary. Of a whole batch it takes a second or so.
SLOW_TEXT = "".join(chr(0x4E00 + number * 7919 % 20_000) for number in range(100_000))
MOST_ON_A_PAGE = 1000
SECONDS = HANG_SECONDS
TRIES = 20


def slow_batch(namespace: str) -> memory.AddBatchRequest:
    messages = [Message(id=f"m{number}", role=ROLE_USER, content=SLOW_TEXT) for number in range(8)]
    return memory.AddBatchRequest(session_id="slow", namespace=namespace, messages=messages)


def count(client: Client, namespace: str) -> Any:
    return client.memory.Count(memory.CountRequest(session_id="s", namespace=namespace), timeout=SECONDS)


def refusals_meanwhile(client: Client, slow: Any) -> list[Refused]:
    """Return the errors of the namespace during its slow call; another namespace gets none."""
    found: list[Refused] = []
    while not slow.done():
        refusal = refused(lambda: count(client, "crowded"))
        found += [refusal] if refusal else []
        assert refused(lambda: count(client, "roomy")) is None
    return found


def errors_during_slow_call(client: Client) -> tuple[Any, list[Refused]]:
    """Make a slow call; return the errors of other calls meanwhile."""
    for _ in range(TRIES):
        slow = client.memory.AddBatch.future(slow_batch("crowded"), timeout=SECONDS)
        found = refusals_meanwhile(client, slow)
        if found and slow.exception() is None:
            return slow, found
        # A quick call came first, and the slow one was refused.
    raise AssertionError("no call was rejected during the slow call")


def test_one_namespace_leaves_capacity_for_the_others(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--max-namespace-calls", "1") as sidecar, sidecar.client() as client:
        slow, found = errors_during_slow_call(client)
        assert {(one.code.name, one.reason, one.retry) for one in found} == {
            ("RESOURCE_EXHAUSTED", "RATE_LIMITED", True)
        }
        assert len(slow.result().results) == 8
        assert refused(lambda: count(client, "crowded")) is None


def test_no_call_takes_longer_than_the_maximum_deadline(data_dir: Path) -> None:
    with SidecarProcess(data_dir, "--max-deadline-seconds", "0.05") as sidecar, sidecar.client() as client:
        found = refused(lambda: client.memory.AddBatch(slow_batch("late"), timeout=SECONDS))
        assert found is not None
        assert found.code.name == "DEADLINE_EXCEEDED"
        give_up = time.monotonic() + SECONDS
        # On a busy machine a quick call may be late as well; it is not refused for anything else.
        while (late := refused(lambda: count(client, "late"))) is not None:
            assert late.code.name == "DEADLINE_EXCEEDED" and time.monotonic() < give_up
    with SidecarProcess(data_dir) as sidecar, sidecar.client() as client:
        assert client.all("slow", namespace="late") == []


def test_the_size_of_a_page_is_limited(client: Client) -> None:
    messages = [Message(role=ROLE_USER, content="short") for _ in range(MOST_ON_A_PAGE + 1)]
    client.memory.AddBatch(memory.AddBatchRequest(session_id="pages", messages=messages), timeout=SECONDS)
    page = client.memory.GetAll(memory.GetAllRequest(session_id="pages", page_size=1_000_000), timeout=SECONDS)
    assert len(page.messages) == MOST_ON_A_PAGE
    assert page.next_page_token
