"""The bare baseline: the same grpcio and the same request types, with nothing behind them and nothing around them.

    python -m benchmarks.empty threads|asyncio

`Add` decodes its request and answers an empty message. `GetRecent` decodes and answers a prebuilt message object
of 50 messages, which gRPC encodes for each call. Prints its port.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import grpc.aio
import uvloop

from benchmarks.requests import TEXT
from memsidecar.v1 import memory_pb2 as pb
from memsidecar.v1.message_pb2 import ROLE_USER, Message

SERVICE = "memsidecar.v1.MemoryService"
OPTIONS = (("grpc.so_reuseport", 0),)
THREADS = 32

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


async def serve_on_asyncio() -> None:
    server = grpc.aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers((handlers(add_async, get_recent_async),))
    print(server.add_insecure_port("127.0.0.1:0"), flush=True)
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    if sys.argv[1] == "threads":
        serve_on_threads()
    else:
        uvloop.run(serve_on_asyncio())
