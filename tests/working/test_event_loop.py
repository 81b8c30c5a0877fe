"""Counting a large request does not block the event loop, wherever its bytes are."""

import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_USER, Message, ToolCall
from tests.support.process import CALL_SECONDS, Client, SidecarProcess
from tests.working import waiting_counter
from tests.working.waiting_counter import MARK

COUNTS = 10


@pytest.fixture(scope="module")
def release_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[socket.socket]:
    """The socket on which the sidecar's counter waits for its release."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(tmp_path_factory.mktemp("release_socket") / "socket"))
        listening.listen()
        listening.settimeout(CALL_SECONDS)
        yield listening


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory, release_socket: socket.socket) -> Iterator[SidecarProcess]:
    environ = {waiting_counter.ADDRESS_VARIABLE: release_socket.getsockname()}
    flags = ("--tokenizer", f"{waiting_counter.__name__}:count")
    with SidecarProcess(tmp_path_factory.mktemp("sidecar") / "data", *flags, environ=environ) as running:
        yield running


def call_with(arguments: str) -> Message:
    call = ToolCall(id="c1", name="lookup", arguments_json=arguments)
    return Message(role=ROLE_ASSISTANT, tool_calls=[call])


def many_calls() -> list[Message]:
    return [*(call_with(f'{{"at": {at}}}') for at in range(4_000)), call_with(MARK)]


def batch(client: Client, messages: list[Message]) -> Any:
    return client.memory.AddBatch.future(pb.AddBatchRequest(session_id="s", messages=messages), timeout=CALL_SECONDS)


def add(client: Client, message: Message) -> Any:
    return client.memory.Add.future(pb.AddRequest(session_id="s", message=message), timeout=CALL_SECONDS)


def turn(client: Client) -> Any:
    request = pb.StoreInteractionRequest(session_id="s", user_message=large(), assistant_message="a")
    return client.memory.StoreInteraction.future(request, timeout=CALL_SECONDS)


def large() -> str:
    return MARK + "x" * (512 << 10)


REQUESTS: dict[str, Callable[[Client], Any]] = {
    "a batch of many messages with tool calls": lambda client: batch(client, many_calls()),
    "a batch with large arguments of a call": lambda client: batch(client, [call_with(large())]),
    "a batch with large content": lambda client: batch(client, [Message(role=ROLE_USER, content=large())]),
    "a message with large arguments of a call": lambda client: add(client, call_with(large())),
    "a message with large content": lambda client: add(client, Message(role=ROLE_USER, content=large())),
    "a large turn": turn,
}


@pytest.mark.parametrize("begin", REQUESTS.values(), ids=REQUESTS)
def test_other_calls_are_answered_while_a_large_request_is_counted(
    sidecar: SidecarProcess, release_socket: socket.socket, begin: Callable[[Client], Any]
) -> None:
    with sidecar.client() as writer, sidecar.client() as reader:
        call = begin(writer)
        counting, _ = release_socket.accept()
        with counting:
            for _ in range(COUNTS):
                reader.memory.Count(pb.CountRequest(session_id="other"), timeout=CALL_SECONDS)
            assert not call.done(), "the request is being counted all the time"
        call.result(CALL_SECONDS)
