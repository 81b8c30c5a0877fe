"""Rate limit of a namespace, and its errors."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memsidecar.access.access_file import token_lines
from memsidecar.access.bearer_token import new_token
from memsidecar.access.policy import AccessRole
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.limits.refusals import Refused, first_refusal, refused
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS

RATE = 5
SECONDS = HANG_SECONDS
NOTICED_SECONDS = HANG_SECONDS


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("rates") / "data", "--quota-calls-per-second", str(RATE)) as running:
        yield running


def count(client: Client, namespace: str, metadata: Any = ()) -> Any:
    request = memory.CountRequest(session_id="s", namespace=namespace)
    return client.memory.Count(request, timeout=SECONDS, metadata=metadata)


def is_rate_limited(found: Refused) -> bool:
    return (found.code.name, found.reason, found.retry) == ("RESOURCE_EXHAUSTED", "RATE_LIMITED", True)


def test_a_call_beyond_the_rate_gets_a_retry_delay(client: Client) -> None:
    begin = time.monotonic()
    done, found = first_refusal(lambda: count(client, "limited"), 1000)
    assert is_rate_limited(found)
    assert 0 < found.seconds <= 1 / RATE + 0.01
    assert RATE <= done <= RATE + RATE * (time.monotonic() - begin) + 1
    time.sleep(found.seconds)
    assert refused(lambda: count(client, "limited")) is None, "the retry delay is enough"


def test_the_burst_is_at_most_one_second_of_calls(client: Client) -> None:
    count(client, "steady")
    time.sleep(1.5)
    begin, done = time.monotonic(), 0
    while time.monotonic() < begin + 2:
        done += refused(lambda: count(client, "steady")) is None
    assert done <= RATE * (time.monotonic() - begin + 1) + 1


def test_other_namespaces_are_unaffected(client: Client) -> None:
    first_refusal(lambda: count(client, "loud"), 1000)
    assert refused(lambda: count(client, "quiet")) is None


def test_rejected_calls_do_not_count(client: Client) -> None:
    """Otherwise a caller that retries too early would never be admitted."""
    first_refusal(lambda: count(client, "eager"), 1000)
    for _ in range(50):
        refused(lambda: count(client, "eager"))
    time.sleep(1 / RATE + 0.05)
    assert refused(lambda: count(client, "eager")) is None


def test_each_message_of_a_stream_is_a_call(client: Client) -> None:
    def messages() -> Iterator[memory.AddStreamRequest]:
        for number in range(10 * RATE):
            message = Message(role=ROLE_USER, content=f"message {number}")
            yield memory.AddStreamRequest(session_id="s", namespace="streamed", message=message)

    answered: list[Any] = []
    found = refused(lambda: answered.extend(client.memory.AddStream(messages(), timeout=SECONDS)))
    assert found is not None
    assert is_rate_limited(found)
    time.sleep(1)
    assert RATE <= count(client, "streamed").stats.message_count < 10 * RATE


def test_the_access_file_overrides_the_rate_and_may_change_it(tmp_path: Path) -> None:
    token = new_token()
    lines = token_lines(token, "agent", ["*"], AccessRole.ADMIN, None)
    access = tmp_path / "access.toml"
    access.write_text(f"{lines}\n[quotas.slow]\ncalls_per_second = 1\n[quotas.fast]\ncalls_per_second = 0\n")
    metadata = (("authorization", f"Bearer {token.text}"),)
    flags = ("--quota-calls-per-second", str(RATE), "--access-file", str(access))
    with SidecarProcess(tmp_path / "data", *flags) as sidecar, sidecar.client() as client:
        assert [refused(lambda: count(client, "fast", metadata)) for _ in range(50)] == [None] * 50
        assert first_refusal(lambda: count(client, "slow", metadata), 20)[0] < RATE
        access.write_text(f"{lines}\n[quotas.fast]\ncalls_per_second = 1\n[quotas.slow]\ncalls_per_second = 0\n")
        give_up = time.monotonic() + NOTICED_SECONDS
        while refused(lambda: count(client, "fast", metadata)) is None and time.monotonic() < give_up:
            time.sleep(0.01)
        assert is_rate_limited(first_refusal(lambda: count(client, "fast", metadata), 50)[1])
        assert [refused(lambda: count(client, "slow", metadata)) for _ in range(50)] == [None] * 50
