"""Measure one Add through the client and through a bare stub: benchmark_add.py [--async] ADDRESS

Alternately, in one process, each on a connection of its own; one line of JSON tells both and their ratio.
"""

import asyncio
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

import grpc
import grpc.aio

from memsidecar_client import AsyncClient, Client, Message, Role, new_id
from memsidecar_client._connection import OPTIONS
from memsidecar_client.v1.memory_pb2 import AddRequest, AddResponse

WARM_UP, CALLS, BLOCK = 200, 2_000, 50
CONTENT = "x" * 400
DEADLINE_SECONDS = 10
PATH = "/memsidecar.v1.MemoryService/Add"

Add = Callable[[], Awaitable[Any]]


async def measured(client: Add, stub: Add) -> dict[str, float]:
    taken: dict[Add, list[float]] = {client: [], stub: []}
    for add in (client, stub):
        await _timed(add, WARM_UP)
    for _ in range(CALLS // BLOCK):
        for add in (client, stub):
            taken[add] += await _timed(add, BLOCK)
    through, bare = (statistics.median(taken[add]) * 1e6 for add in (client, stub))
    return {"calls": CALLS, "client_us": round(through), "stub_us": round(bare), "ratio": round(through / bare, 3)}


async def _timed(add: Add, times: int) -> list[float]:
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        await add()
        taken.append(time.perf_counter() - begin)
    return taken


def _request(session: str) -> AddRequest:
    return AddRequest(session_id=session, message=Message(id=new_id(), role=Role.ROLE_USER, content=CONTENT))


async def threads(address: str) -> dict[str, float]:
    with Client(address) as memory, grpc.insecure_channel(address, options=OPTIONS) as channel:
        call = channel.unary_unary(PATH, AddRequest.SerializeToString, AddResponse.FromString)

        async def through() -> None:
            memory.add(session_id="client", role="user", content=CONTENT)

        async def bare() -> None:
            call(_request("stub"), timeout=DEADLINE_SECONDS)

        return await measured(through, bare)


async def asynchronous(address: str) -> dict[str, float]:
    async with AsyncClient(address) as memory, grpc.aio.insecure_channel(address, options=OPTIONS) as channel:
        call: Any = channel.unary_unary(PATH, AddRequest.SerializeToString, AddResponse.FromString)

        async def through() -> None:
            await memory.add(session_id="client", role="user", content=CONTENT)

        async def bare() -> None:
            await call(_request("stub"), timeout=DEADLINE_SECONDS)

        return await measured(through, bare)


if __name__ == "__main__":
    name, kind = ("python-async", asynchronous) if "--async" in sys.argv else ("python", threads)
    print(json.dumps({"language": name, **asyncio.run(kind(sys.argv[-1]))}))
