"""The messages of the conformance suite, from the protos that `make test-connect` downloads."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.protobuf import descriptor_pool
from google.protobuf.any_pb2 import Any as PackedAny
from google.protobuf.descriptor import ServiceDescriptor
from google.protobuf.descriptor_pb2 import FileDescriptorSet
from google.protobuf.message_factory import GetMessageClass
from grpc_tools import _proto, protoc

PACKAGE = "connectrpc.conformance.v1"
WELL_KNOWN = "google/protobuf/"
assert PackedAny.DESCRIPTOR.file.name == f"{WELL_KNOWN}any.proto"  # registered by its import


def load_protos(folder: Path) -> None:
    """Compile the protos, and register them where protobuf looks up the types of Any."""
    with TemporaryDirectory() as temporary:
        out = Path(temporary) / "protos.binpb"
        includes = [f"-I{folder}", f"-I{next(iter(_proto.__path__))}"]
        sources = [f"connectrpc/conformance/v1/{name}.proto" for name in ("service", "server_compat")]
        if protoc.main(["protoc", *includes, "--include_imports", f"--descriptor_set_out={out}", *sources]):
            raise SystemExit("the protos of the conformance suite cannot be compiled")
        files = FileDescriptorSet.FromString(out.read_bytes())
    for file in files.file:
        if not file.name.startswith(WELL_KNOWN):
            descriptor_pool.Default().Add(file)


def message_class(name: str) -> Any:
    """Return the class of a message of the suite."""
    return GetMessageClass(descriptor_pool.Default().FindMessageTypeByName(f"{PACKAGE}.{name}"))


def conformance_service() -> ServiceDescriptor:
    return descriptor_pool.Default().FindServiceByName(f"{PACKAGE}.ConformanceService")
