"""The client shares a process with the server's own messages, in any version, and with google.rpc's."""

import os
import subprocess
import sys
from itertools import permutations
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SERVER = "from memsidecar.v1 import context_pb2, errors_pb2, knowledge_pb2, memory_pb2, session_pb2"
CLIENT = "from memsidecar_client import Client; from memsidecar_client.v1 import context_pb2, details_pb2, session_pb2"
GOOGLE = "from google.rpc import error_details_pb2, status_pb2"
# The same names as the contract has, with other contents.
ANOTHER_VERSION = """
from google.protobuf import descriptor_pb2, descriptor_pool
another = descriptor_pb2.FileDescriptorProto(name="memsidecar/v1/message.proto", package="memsidecar.v1")
another.message_type.add(name="Message").field.add(name="other", number=1, type=5, label=1)
descriptor_pool.Default().AddSerializedFile(another.SerializeToString())
"""
TALK = """
from memsidecar.v1 import message_pb2 as theirs
from memsidecar_client.v1 import message_pb2 as ours
said = ours.Message(id="m", role="ROLE_USER", content="hello", metadata={"a": [1, None]}, create_time={"seconds": 7})
assert theirs.Message.FromString(said.SerializeToString()).metadata["a"][0] == 1
"""


def run(*lines: str) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'clients/python'}"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(lines)],
        capture_output=True,
        text=True,
        env=environment,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("order", list(permutations((SERVER, CLIENT, GOOGLE))))
def test_client_server_and_google_are_imported_in_any_order(order: tuple[str, ...]) -> None:
    run(*order)


@pytest.mark.parametrize("order", list(permutations((ANOTHER_VERSION, CLIENT))))
def test_another_version_of_the_contract_can_be_imported(order: tuple[str, ...]) -> None:
    run(*order)


def test_the_server_reads_the_clients_requests() -> None:
    run(SERVER, CLIENT, TALK)


def test_the_client_needs_neither_the_server_nor_its_dependencies() -> None:
    forbidden = ("google.rpc", "grpc_status", "memsidecar.", "yaml", "pydantic")
    run(
        "import sys",
        CLIENT,
        f"loaded = [name for name in sys.modules if (name + '.').startswith({forbidden!r})]",
        "assert not loaded, loaded",
    )
