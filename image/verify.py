"""Look at a runtime tree from the inside: is everything there that a sidecar needs, and nothing that it does not?

Run by image/build with the tree's own Python: `verify.py constraints.txt TREE`.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import distributions
from pathlib import Path
from tempfile import TemporaryDirectory

from memsidecar.embedding.static import BundledModel
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.tokens.tiktoken_counter import VOCABULARIES, load_encoding

# Nothing may come in behind these: each would bring many others along.
UNWANTED = {"grpcio-tools", "hypothesis", "mypy", "pip", "pytest", "ruff", "setuptools", "wheel"}
INDEX_CACHE_BYTES = 16 << 20


def main(constraints: Path, tree: Path) -> int:
    load_what_is_verified_by_its_digest()
    open_an_index()
    run_the_command(tree)
    problems = [*wrong_packages(pinned(constraints)), *wrong_bill_of_materials(tree)]
    for problem in problems:
        print(f"image/verify: {problem}", file=sys.stderr)
    return 1 if problems else 0


def load_what_is_verified_by_its_digest() -> None:
    for name in VOCABULARIES:
        load_encoding(name)
    BundledModel().loaded()


def open_an_index() -> None:
    """Imports LanceDB and Arrow, from which parts were taken."""
    with TemporaryDirectory() as folder:
        LanceIndex(Path(folder) / "index", memory_bytes=INDEX_CACHE_BYTES).close()


def run_the_command(tree: Path) -> None:
    # Through Python, because the command's first line names where the tree will lie.
    command = [str(tree / "bin/python"), str(tree / "bin/memsidecar"), "--help"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)


def wrong_packages(pins: dict[str, str]) -> Iterator[str]:
    for name, version in installed().items():
        if name in UNWANTED:
            yield f"{name} is not needed at run time"
        elif name != "memsidecar" and pins.get(name) != version:
            yield f"{name} {version} is not what constraints.txt names: {pins.get(name, 'nothing')}"


def wrong_bill_of_materials(tree: Path) -> Iterator[str]:
    bill = json.loads((tree / "share/sbom.cdx.json").read_text())
    listed = {_normal(component["name"]): component["version"] for component in bill["components"]}
    listed |= {bill["metadata"]["component"]["name"]: bill["metadata"]["component"]["version"]}
    if listed != installed():
        yield f"the bill of materials differs in {sorted(set(listed.items()) ^ set(installed().items()))}"


def installed() -> dict[str, str]:
    return {_normal(each.name): each.version for each in distributions()}


def pinned(constraints: Path) -> dict[str, str]:
    pairs = (line.split("==") for line in constraints.read_text().splitlines() if "==" in line)
    return {_normal(name): version.strip() for name, version in pairs}


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
