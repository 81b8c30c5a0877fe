"""Baseline server: the same grpcio and the same request types, with empty handlers and no interceptors.

    python -m benchmarks.empty threads|asyncio|syncing

`Add` decodes its request and returns an empty message. With `syncing`, a separate thread first writes and syncs as many
bytes as an Add writes to the write-ahead log, in SQLite's format. `GetRecent` decodes its request and returns a
prebuilt message object of 50 messages, which gRPC encodes for each call. The server prints its port.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import grpc.aio
import uvloop

from benchmarks.requests import TEXT
from memsidecar.stores.sqlite.wal import PAGE_BYTES
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message

SERVICE = "memsidecar.v1.MemoryService"
OPTIONS = (("grpc.so_reuseport", 0),)
THREADS = 32
PAGES_OF_AN_ADD = 4
FRAME_BYTES, LOG_BYTES = 24, 4 << 20

RECENT = pb.GetRecentResponse(
    messages=[
        Message(id=f"0198c7a2-0000-7000-8000-{n:012d}", role=ROLE_USER, content=TEXT[:400], sequence=n, tokens=90)
        for n in range(1, 51)
    ]
)
for one in RECENT.messages:
    one.create_time.GetCurrentTime()


def add(_request: pb.AddRequest, _context: Any) -> pb.AddResponse:
    return pb.AddResponse()


def get_recent(_request: pb.GetRecentRequest, _context: Any) -> pb.GetRecentResponse:
    return RECENT


async def add_async(_request: pb.AddRequest, _context: Any) -> pb.AddResponse:
    return pb.AddResponse()


sync = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync


class Log:
    """File that is overwritten repeatedly, in frames like SQLite's."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="memsidecar-bench-", buffering=0)  # noqa: SIM115  open until exit
        self._file.write(bytes(LOG_BYTES))
        os.fsync(self._file.fileno())

    def write(self) -> None:
        if self._file.tell() + PAGES_OF_AN_ADD * (FRAME_BYTES + PAGE_BYTES) > LOG_BYTES:
            self._file.seek(0)
        for _ in range(PAGES_OF_AN_ADD):
            self._file.write(bytes(FRAME_BYTES))
            self._file.write(bytes(PAGE_BYTES))
        sync(self._file.fileno())


def add_syncing() -> Callable[[pb.AddRequest, Any], Awaitable[pb.AddResponse]]:
    log, committer = Log(), ThreadPoolExecutor(1)

    async def add_durably(_request: pb.AddRequest, _context: Any) -> pb.AddResponse:
        await asyncio.get_running_loop().run_in_executor(committer, log.write)
        return pb.AddResponse()

    return add_durably


async def get_recent_async(_request: pb.GetRecentRequest, _context: Any) -> pb.GetRecentResponse:
    return RECENT


def handlers(add_handler: Any, recent_handler: Any) -> grpc.GenericRpcHandler:
    wired: dict[str, Any] = {
        "Add": grpc.unary_unary_rpc_method_handler(
            add_handler, pb.AddRequest.FromString, pb.AddResponse.SerializeToString
        ),
        "GetRecent": grpc.unary_unary_rpc_method_handler(
            recent_handler, pb.GetRecentRequest.FromString, pb.GetRecentResponse.SerializeToString
        ),
    }
    return grpc.method_handlers_generic_handler(SERVICE, wired)


def serve_on_threads() -> None:
    server = grpc.server(ThreadPoolExecutor(THREADS), options=OPTIONS)
    server.add_generic_rpc_handlers((handlers(add, get_recent),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    server.start()
    server.wait_for_termination()


async def serve_on_asyncio(answer_add: Any) -> None:
    server = grpc.aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers((handlers(answer_add, get_recent_async),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    if sys.argv[1] == "threads":
        serve_on_threads()
    else:
        uvloop.run(serve_on_asyncio(add_syncing() if sys.argv[1] == "syncing" else add_async))
