"""A sidecar of which one RPC is broken: broken_sidecar.py RPC serve FLAG ...

What the RPC answers arrives empty; where its answer has no fields, what it is asked does.
"""

import sys
from collections.abc import Mapping
from typing import Any

import grpc

from memsidecar.__main__ import main
from memsidecar.v1 import knowledge_pb2, memory_pb2, session_pb2

FILES = (memory_pb2, session_pb2, knowledge_pb2)
METHODS = {
    method.name: method
    for file in FILES
    for service in file.DESCRIPTOR.services_by_name.values()
    for method in service.methods
}


def broken(name: str, handler: Any) -> Any:
    if METHODS[name].output_type.fields:
        return handler._replace(response_serializer=lambda _: b"")
    asked = handler.request_deserializer or bytes
    return handler._replace(request_deserializer=lambda _: asked(b""))


def with_broken(rpc: str) -> Any:
    made = grpc.method_handlers_generic_handler

    def make(service: str, handlers: Mapping[str, Any]) -> Any:
        return made(service, {name: broken(name, one) if name == rpc else one for name, one in handlers.items()})

    return make


if __name__ == "__main__":
    grpc.method_handlers_generic_handler = with_broken(sys.argv[1])
    sys.exit(main(sys.argv[2:]))
