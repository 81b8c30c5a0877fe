"""Print the shape of the code base: sizes of modules and functions, names, and cycles between packages.

Usage: python -m tools.shape [--json] [FOLDER]
"""

import argparse
import ast
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from tools.source_tree import Module, SourceTree

ROOT = Path(__file__).resolve().parents[1]
MIN_MODULE_LINES = 40
MAX_MODULE_LINES = 300
MAX_FUNCTION_LINES = 60
# Nouns that end like a gerund.
NOT_GERUNDS = frozenset({"string", "substring"})
NOUNS = frozenset({"rendering", "ranking", "packing", "encoding", "message_encoding"})


@dataclass(frozen=True)
class Shape:
    modules: int
    median_lines: float
    short_modules: dict[str, int]
    long_modules: dict[str, int]
    gerunds: list[str]
    duplicate_classes: dict[str, list[str]]
    package_cycles: list[list[str]]
    long_functions: dict[str, int]


def measure(folder: Path) -> Shape:
    """Measure the modules of a package, without `__init__.py` files, which hold no code."""
    tree = SourceTree.read(folder)
    modules = [module for module in tree.modules if not module.is_init]
    return Shape(
        modules=len(modules),
        median_lines=median(module.line_count for module in modules),
        short_modules={m.place: m.line_count for m in modules if m.line_count < MIN_MODULE_LINES},
        long_modules={m.place: m.line_count for m in modules if m.line_count > MAX_MODULE_LINES},
        gerunds=[module.place for module in modules if _is_gerund(module)],
        duplicate_classes=_duplicate_classes(tree.modules),
        package_cycles=tree.package_cycles(),
        long_functions=dict(_long_functions(tree.modules)),
    )


def _is_gerund(module: Module) -> bool:
    name = module.path.stem
    return name not in NOUNS and any(word.endswith("ing") and word not in NOT_GERUNDS for word in name.split("_"))


def _duplicate_classes(modules: Sequence[Module]) -> dict[str, list[str]]:
    """Return public classes with the same name, except those that extend their namesake."""
    places: dict[str, list[str]] = defaultdict(list)
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and not _implements_namesake(node):
                places[node.name].append(f"{module.place}:{node.lineno}")
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def _implements_namesake(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).partition("[")[0].rpartition(".")[2] == node.name for base in node.bases)


def _long_functions(modules: Sequence[Module]) -> Iterator[tuple[str, int]]:
    for module in modules:
        for node in module.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                line_count = (node.end_lineno or node.lineno) - node.lineno + 1
                if line_count > MAX_FUNCTION_LINES:
                    yield f"{module.place}:{node.lineno} {node.name}", line_count


def _print(shape: Shape) -> None:
    print(f"modules of substance: {shape.modules}, median lines: {shape.median_lines:g}")
    for title, sizes in (
        (f"modules under {MIN_MODULE_LINES} lines", shape.short_modules),
        (f"modules over {MAX_MODULE_LINES} lines", shape.long_modules),
        (f"functions longer than {MAX_FUNCTION_LINES} lines", shape.long_functions),
    ):
        print(f"{title}: {len(sizes)}")
        for place, line_count in sizes.items():
            print(f"  {line_count:4} {place}")
    print(f"gerund module names: {len(shape.gerunds)}")
    for place in shape.gerunds:
        print(f"  {place}")
    print(f"duplicate class names: {len(shape.duplicate_classes)}")
    for name, places in shape.duplicate_classes.items():
        print(f"  {name}: {', '.join(places)}")
    print(f"package cycles: {len(shape.package_cycles)}")
    for packages in shape.package_cycles:
        print(f"  {', '.join(packages)}")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.shape", description="Print the shape of the code base.")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "memsidecar")
    arguments = parser.parse_args(argv)
    shape = measure(arguments.folder)
    if arguments.json:
        print(json.dumps(asdict(shape), indent=2))
    else:
        _print(shape)


if __name__ == "__main__":
    main()
