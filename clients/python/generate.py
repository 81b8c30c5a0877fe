"""Generate what follows from the contract: python clients/python/generate.py [OUT], by default into the package itself.

Four things are made: the messages (memsidecar_client/v1), the types of dicts in their place, the methods of Client and
those of AsyncClient. The messages get a package of their own, memsidecar_client.v1. A process has one pool of messages,
and it refuses two that have the same name and differ, so a client and a server of different versions could not be in
one process otherwise. Names do not go over the wire, but for those of services, which the client writes as the server
does.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import _proto, protoc

from contract import Contract
from dicts import dicts_module
from methods import methods_module

HERE = Path(__file__).resolve().parent
CONTRACT = HERE.parents[1] / "protos"
PACKAGE = "memsidecar_client"


def generate(out: Path) -> None:
    """Write memsidecar_client/v1/*_pb2.py and *.pyi, dicts.py, _methods.py and _aio_methods.py below `out`."""
    with TemporaryDirectory() as folder:
        renamed = Path(folder)
        sources = sorted(_renamed_protos(renamed))
        _protoc(renamed, sources, [f"--python_out={out}", f"--pyi_out={out}"])
        described = renamed / "described.binpb"
        _protoc(renamed, sources, ["--include_source_info", f"--descriptor_set_out={described}"])
        contract = Contract(FileDescriptorSet.FromString(described.read_bytes()))
    _write(out / PACKAGE / "dicts.py", dicts_module(contract))
    _write(out / PACKAGE / "_methods.py", methods_module(contract, asynchronous=False))
    _write(out / PACKAGE / "_aio_methods.py", methods_module(contract, asynchronous=True))


def _renamed_protos(folder: Path) -> Iterator[str]:
    target = folder / PACKAGE / "v1"
    target.mkdir(parents=True)
    for source in (*CONTRACT.rglob("*.proto"), HERE / "details.proto"):
        text = source.read_text().replace("package memsidecar.v1;", f"package {PACKAGE}.v1;")
        (target / source.name).write_text(text.replace('"memsidecar/v1/', f'"{PACKAGE}/v1/'))
        yield f"{PACKAGE}/v1/{source.name}"


def _protoc(folder: Path, sources: list[str], outputs: list[str]) -> None:
    well_known = Path(next(iter(_proto.__path__)))
    status = protoc.main(["protoc", f"-I{folder}", f"-I{well_known}", *outputs, *sources])
    if status != 0:
        raise SystemExit(status)


def _write(file: Path, text: str) -> None:
    """Write a formatted module."""
    file.write_text(text)
    ruff = [sys.executable, "-m", "ruff"]
    settings = ["--config", str(HERE.parents[1] / "pyproject.toml"), "--no-cache", "--quiet"]
    subprocess.run([*ruff, "check", "--select", "I,F401", "--fix", *settings, str(file)], check=True)
    subprocess.run([*ruff, "format", *settings, str(file)], check=True)
    file.write_text(re.sub(r"[ \t]+$", "", file.read_text(), flags=re.MULTILINE))


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
