"""Requests and page tokens of arbitrary bytes, sent to a running sidecar over its socket."""

import asyncio
from base64 import b64decode
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from random import Random
from typing import Any

import grpc
import grpc.aio
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2, status_pb2

from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as session
from tests.bad_input.corpus import DOCUMENTED_CODES, corpus
from tests.bad_input.mutations import mutated
from tests.bad_input.rpcs import METHODS, send_bytes
from tests.fuzz.arbitrary_messages import arbitrary_message
from tests.fuzz.failure import FuzzFailure
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import HANG_SECONDS

IN_FLIGHT = 16
NAMES = sorted(METHODS)
CORPUS = {name: corpus(name) for name in NAMES}
PAGED = "paged"
_PAGES: dict[str, Any] = {
    "GetAll": memory.GetAllRequest(namespace=PAGED, session_id="s", page_size=2),
    "Search": memory.SearchRequest(namespace=PAGED, session_id="s", query="hello", limit=2),
    "ListSessions": session.ListSessionsRequest(namespace=PAGED, page_size=2),
}
_TOKEN_CHARACTERS = "ABCxyz019-_=+/ \n\0é"


@dataclass(frozen=True)
class Caller:
    """Sends encoded requests, and raises FuzzFailure for a status that is not documented or has no details."""

    client: Client
    channel: Any
    "Of grpc.aio, whose stubs do not know a channel without serializers."
    statuses: Counter[str] = field(default_factory=Counter)

    async def send(self, name: str, requests: list[bytes]) -> str:
        """Return the status."""
        code = "OK"
        try:
            await self._call(name, requests)
        except grpc.RpcError as error:
            code = error.code().name
            if code not in DOCUMENTED_CODES or not _has_error_info(error):
                raise FuzzFailure(name, b"".join(requests), f"{code} {error.details()}") from None
        self.statuses[code] += 1
        return code

    async def _call(self, name: str, requests: list[bytes]) -> None:
        method = METHODS[name]
        path = f"/{method.containing_service.full_name}/{name}"
        if method.client_streaming:
            # The client of asyncio reports an error of its own if the server ends the call while it sends.
            await asyncio.to_thread(send_bytes, self.client, name, requests)
        elif method.server_streaming:
            stream = self.channel.unary_stream(path)(requests[0], timeout=HANG_SECONDS)
            async for _ in stream:
                if name == "Watch":  # never ends by itself, and occupies one of the connection's streams
                    stream.cancel()
                    break
        else:
            await self.channel.unary_unary(path)(requests[0], timeout=HANG_SECONDS)


def _has_error_info(error: Any) -> bool:
    encoded = [value for key, value in error.trailing_metadata() or () if key == "grpc-status-details-bin"]
    details = status_pb2.Status.FromString(encoded[0]).details if len(encoded) == 1 else ()
    return len([detail for detail in details if detail.Is(error_details_pb2.ErrorInfo.DESCRIPTOR)]) == 1


def arbitrary_request(name: str, random: Random) -> bytes:
    """Return a mutated valid request, or one with arbitrary values, mutated or not."""
    if random.random() < 0.4:
        return mutated(random.choice(CORPUS[name]), random)
    encoded: bytes = arbitrary_message(GetMessageClass(METHODS[name].input_type), random).SerializeToString()
    return mutated(encoded, random) if random.random() < 0.2 else encoded


def fuzz_requests(count: int, random: Random, sidecar: SidecarProcess, progress: Callable[[], None]) -> Counter[str]:
    """Send `count` requests of all RPCs. Return how many got which status."""

    def inputs(caller: Caller) -> Iterator[Awaitable[object]]:
        for _ in range(count):
            name = random.choice(NAMES)
            number = random.choice((1, 1, 3)) if METHODS[name].client_streaming else 1
            yield caller.send(name, [arbitrary_request(name, random) for _ in range(number)])

    return asyncio.run(_send_all(sidecar, inputs, progress))


def fuzz_page_tokens(count: int, random: Random, sidecar: SidecarProcess, progress: Callable[[], None]) -> Counter[str]:
    """Send `count` mutated page tokens. Return how many got which status."""
    with sidecar.client() as client:
        for number in range(4):
            client.add("s", f"hello {number}", namespace=PAGED)
            client.add(f"s{number}", "hello", namespace=PAGED)
        tokens = {
            "GetAll": client.memory.GetAll(_PAGES["GetAll"]).next_page_token,
            "Search": client.memory.Search(_PAGES["Search"]).next_page_token,
            "ListSessions": client.sessions.ListSessions(_PAGES["ListSessions"]).next_page_token,
        }

    def inputs(caller: Caller) -> Iterator[Awaitable[object]]:
        for _ in range(count):
            name = random.choice(sorted(tokens))
            token = _mutated_token(random.choice(sorted(tokens.values())), random)
            yield _send_token(caller, name, tokens[name], token)

    return asyncio.run(_send_all(sidecar, inputs, progress))


async def _send_token(caller: Caller, name: str, valid_token: str, token: str) -> None:
    request = type(_PAGES[name])()
    request.CopyFrom(_PAGES[name])
    request.page_token = token
    encoded = request.SerializeToString()
    code = await caller.send(name, [encoded])
    if code != ("OK" if not token or _is_same(token, valid_token) else "INVALID_ARGUMENT"):
        raise FuzzFailure(f"page token of {name}", encoded, code)


def _is_same(token: str, valid_token: str) -> bool:
    """Return whether both encode the same bytes: "/" stands for "_", and some last bits for nothing."""
    return _decoded(token) == _decoded(valid_token)


def _decoded(token: str) -> bytes | None:
    try:
        return b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except ValueError:
        return None


def _mutated_token(token: str, random: Random) -> str:
    for _ in range(random.choice((0, 1, 1, 2))):
        at = random.randrange(len(token) + 1)
        characters = "".join(random.choices(_TOKEN_CHARACTERS, k=random.choice((0, 1, 1, 4, 1_000))))
        token = token[:at] + characters + token[at + random.choice((0, 1, 1, 3, 50)) :]
    return token


async def _send_all(
    sidecar: SidecarProcess, inputs: Callable[[Caller], Iterator[Awaitable[object]]], progress: Callable[[], None]
) -> Counter[str]:
    with sidecar.client() as client:
        async with grpc.aio.insecure_channel(sidecar.address) as channel:
            caller = Caller(client, channel)
            await _run(inputs(caller), progress)
    return caller.statuses


async def _run(sendings: Iterator[Awaitable[object]], progress: Callable[[], None]) -> None:
    async def work() -> None:
        for sending in sendings:
            await sending
            progress()

    async with asyncio.TaskGroup() as group:
        for _ in range(IN_FLIGHT):
            group.create_task(work())
