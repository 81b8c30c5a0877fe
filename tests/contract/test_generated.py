"""The code in memsidecar/v1 is what protos/ generates."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from memsidecar.v1 import memory_pb2, memory_pb2_grpc

ROOT = Path(__file__).resolve().parents[2]
COMMITTED = ROOT / "memsidecar" / "v1"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("generated")
    subprocess.run([sys.executable, ROOT / "protos" / "generate.py", out], check=True)
    return out / "memsidecar" / "v1"


def test_the_tools_that_generate_are_the_pinned_ones() -> None:
    assert f"grpcio-tools=={version('grpcio-tools')}" in (ROOT / "constraints.txt").read_text().splitlines()


def test_the_generated_code_is_fresh(fresh: Path) -> None:
    names = sorted(path.name for path in fresh.iterdir())
    stale = [name for name in names if _text(COMMITTED / name) != _text(fresh / name)]
    assert not stale, f"run `make proto`: {', '.join(stale)}"


def test_there_is_no_other_generated_code(fresh: Path) -> None:
    committed = {path.name for path in COMMITTED.glob("*_pb2*.py*")}
    assert committed == {path.name for path in fresh.iterdir()}


def test_the_generated_code_imports_under_its_package_name() -> None:
    assert memory_pb2.DESCRIPTOR.package == "memsidecar.v1"
    assert memory_pb2_grpc.MemoryServiceStub.__module__ == "memsidecar.v1.memory_pb2_grpc"


def test_the_openapi_document_is_fresh(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "protos" / "openapi.py", tmp_path / "openapi.json"], check=True)
    page = ROOT / "docs" / "openapi.json"
    assert _text(page) == _text(tmp_path / "openapi.json"), "run `make proto`"


def _text(path: Path) -> str | None:
    return path.read_text() if path.exists() else None
