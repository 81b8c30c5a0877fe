"""Generate the Python side of the contract: python protos/generate.py [OUT], by default into the repository itself."""

import sys
from pathlib import Path

from grpc_tools import _proto, protoc

PROTOS = Path(__file__).resolve().parent


def generate(out: Path) -> None:
    """Write memsidecar/v1/*_pb2.py, *_pb2.pyi and *_pb2_grpc.py below `out`, which must exist."""
    well_known = Path(next(iter(_proto.__path__)))
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.rglob("*.proto"))
    outputs = [f"--{kind}={out}" for kind in ("python_out", "pyi_out", "grpc_python_out")]
    status = protoc.main(["protoc", f"-I{PROTOS}", f"-I{well_known}", *outputs, *sources])
    if status != 0:
        raise SystemExit(status)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else PROTOS.parent)
