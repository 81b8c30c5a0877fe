"""Storage quotas of a namespace: only calls that would increase its usage are rejected."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memsidecar.access.access_file import token_lines
from memsidecar.access.bearer_token import new_token
from memsidecar.access.policy import AccessRole
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.limits.refusals import Refused, refused
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS, until

TOKEN = new_token()
METADATA = (("authorization", f"Bearer {TOKEN.text}"),)
LINES = token_lines(TOKEN, "agent", ["*"], AccessRole.ADMIN, None)
SECONDS = HANG_SECONDS
NOTICED_SECONDS = HANG_SECONDS


class QuotaSidecar:
    """A sidecar with quotas in its access file, and one caller with all rights."""

    def __init__(self, folder: Path) -> None:
        self.access = folder / "access.toml"
        self.set_quotas("")
        flags = ("--quota-sessions", "2", "--quota-messages", "5", "--quota-bytes", "8KiB")
        self.sidecar = SidecarProcess(folder / "data", "--access-file", str(self.access), *flags)
        self.client = self.sidecar.client()

    def set_quotas(self, quotas: str) -> None:
        self.access.write_text(f"{LINES}\n{quotas}\n")

    def add(self, namespace: str, session_id: str = "s", content: str = "hello") -> Refused | None:
        message = Message(role=ROLE_USER, content=content)
        request = memory.AddRequest(session_id=session_id, namespace=namespace, message=message)
        return refused(lambda: self.client.memory.Add(request, timeout=SECONDS, metadata=METADATA))

    def count(self, namespace: str) -> int:
        request: Any = memory.CountRequest(session_id="s", namespace=namespace)
        answer = self.client.memory.Count(request, timeout=SECONDS, metadata=METADATA)
        return int(answer.stats.message_count)

    def usage(self, namespace: str) -> session.GetUsageResponse:
        request = session.GetUsageRequest(namespace=namespace)
        answer: session.GetUsageResponse = self.client.sessions.GetUsage(request, timeout=SECONDS, metadata=METADATA)
        return answer

    def erase(self, namespace: str, session_id: str = "s") -> None:
        request = session.DeleteSessionRequest(session_id=session_id, namespace=namespace)
        self.client.sessions.DeleteSession(request, timeout=SECONDS, metadata=METADATA)


@pytest.fixture(scope="module")
def quota_sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[QuotaSidecar]:
    made = QuotaSidecar(tmp_path_factory.mktemp("quotas"))
    with made.sidecar, made.client:
        yield made


def assert_exceeded(found: Refused | None, quota: str, limit: int) -> None:
    assert found is not None
    assert (found.code.name, found.reason, found.retry) == ("RESOURCE_EXHAUSTED", "QUOTA_EXCEEDED", True)
    assert found.metadata == {"quota": quota, "limit": str(limit)}


def test_messages(quota_sidecar: QuotaSidecar) -> None:
    assert [quota_sidecar.add("messages") for _ in range(5)] == [None] * 5
    assert_exceeded(quota_sidecar.add("messages"), "messages", 5)
    assert quota_sidecar.count("messages") == 5
    assert quota_sidecar.add("messages of another") is None
    quota_sidecar.erase("messages")
    assert quota_sidecar.add("messages") is None


def test_sessions(quota_sidecar: QuotaSidecar) -> None:
    assert [quota_sidecar.add("sessions", name) for name in "ab"] == [None] * 2
    assert_exceeded(quota_sidecar.add("sessions", "c"), "sessions", 2)
    assert quota_sidecar.add("sessions", "b") is None
    quota_sidecar.erase("sessions", "a")
    assert quota_sidecar.add("sessions", "c") is None


def test_bytes(quota_sidecar: QuotaSidecar) -> None:
    assert quota_sidecar.add("bytes", content="x" * 6000) is None
    assert_exceeded(quota_sidecar.add("bytes", content="x" * 6000), "bytes", 8192)
    assert quota_sidecar.add("bytes", content="x" * 100) is None


def test_the_quota_is_read_beside_the_usage_that_it_limits(quota_sidecar: QuotaSidecar) -> None:
    assert quota_sidecar.usage("unknown").quota == session.NamespaceQuota(sessions=2, messages=5, bytes=8192)
    while (found := quota_sidecar.add("read")) is None:
        pass
    assert_exceeded(found, "messages", 5)
    answer = quota_sidecar.usage("read")
    assert (answer.usage.sessions, answer.usage.messages, answer.quota.messages) == (1, 5, 5)
    assert 0 < answer.usage.bytes < answer.quota.bytes
    quota_sidecar.set_quotas("[quotas.read]\nmessages = 7\nbytes = 0")
    expected = session.NamespaceQuota(sessions=2, messages=7)
    until(lambda: quota_sidecar.usage("read").quota == expected, "the quota is that of the access file")
    quota_sidecar.set_quotas("")


def test_a_batch_is_refused_as_a_whole(quota_sidecar: QuotaSidecar) -> None:
    messages = [Message(role=ROLE_USER, content="hello") for _ in range(6)]
    request = memory.AddBatchRequest(session_id="s", namespace="batch", messages=messages)
    found = refused(lambda: quota_sidecar.client.memory.AddBatch(request, timeout=SECONDS, metadata=METADATA))
    assert_exceeded(found, "messages", 5)
    assert quota_sidecar.count("batch") == 0


def test_the_access_file_may_raise_and_lower_it_at_any_time(quota_sidecar: QuotaSidecar) -> None:
    assert [quota_sidecar.add("moving") for _ in range(5)] == [None] * 5
    assert_exceeded(quota_sidecar.add("moving"), "messages", 5)
    quota_sidecar.set_quotas("[quotas.moving]\nmessages = 7")
    give_up = time.monotonic() + NOTICED_SECONDS
    while quota_sidecar.add("moving") is not None and time.monotonic() < give_up:
        time.sleep(0.1)
    assert quota_sidecar.add("moving") is None
    assert_exceeded(quota_sidecar.add("moving"), "messages", 7)
    quota_sidecar.set_quotas("[quotas.moving]\nmessages = 3")
    give_up = time.monotonic() + NOTICED_SECONDS
    while (found := quota_sidecar.add("moving")) is not None and found.metadata["limit"] != "3":
        assert time.monotonic() < give_up
        time.sleep(0.1)
    assert_exceeded(quota_sidecar.add("moving"), "messages", 3)
    assert quota_sidecar.count("moving") == 7, "what is there stays"
