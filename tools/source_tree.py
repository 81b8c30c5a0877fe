"""The hand-written modules of a package as syntax trees, their imports, and cycles between packages."""

import ast
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

GENERATED = "v1"


@dataclass(frozen=True)
class Module:
    """One source file."""

    path: Path
    place: str
    "Path below the package's folder, with slashes."
    name: str
    "Dotted name, with the package."
    tree: ast.Module
    line_count: int

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree. To walk it takes longer than to parse it."""
        return tuple(ast.walk(self.tree))

    @property
    def is_init(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def top(self) -> str:
        """Name of the top-level package or module below the root; `__init__` for the root itself."""
        return self.place.split("/", maxsplit=1)[0].removesuffix(".py")

    @property
    def package(self) -> str:
        """Dotted name of the folder. A module directly below the root counts as a package of its own."""
        if "/" not in self.place or self.is_init:
            return self.name
        return self.name.rpartition(".")[0]


@dataclass(frozen=True)
class SourceTree:
    """All modules below a package's folder except generated ones."""

    package: str
    modules: tuple[Module, ...]
    names: frozenset[str]
    _imports: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "SourceTree":
        paths = [path for path in sorted(folder.rglob("*.py")) if path.relative_to(folder).parts[0] != GENERATED]
        modules = tuple(_read_module(folder, path) for path in paths)
        return cls(folder.name, modules, frozenset(module.name for module in modules))

    def imports(self, module: Module) -> tuple[str, ...]:
        """Return the dotted names that a module imports; `from a import b` is a.b if that is a module, else a."""
        if module.place not in self._imports:
            self._imports[module.place] = tuple(self._find_imports(module))
        return self._imports[module.place]

    def _find_imports(self, module: Module) -> Iterator[str]:
        for node in module.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = _absolute(module, node)
                yield from {self._target(base, alias.name) for alias in node.names}

    def _target(self, base: str, name: str) -> str:
        dotted = f"{base}.{name}"
        is_generated = f"{self.package}.{GENERATED}" in (base, dotted)
        return dotted if is_generated or dotted in self.names else base

    def package_imports(self) -> dict[str, set[str]]:
        """Return for each package the other packages that it imports.

        Imports between a package and its own subpackages are left out: a facade imports its parts.
        """
        packages = {module.name: module.package for module in self.modules}
        graph: dict[str, set[str]] = {package: set() for package in packages.values()}
        for module in self.modules:
            for target in self.imports(module):
                imported = packages.get(target)
                if imported is not None and not _is_nested(module.package, imported):
                    graph[module.package].add(imported)
        return graph

    def package_cycles(self) -> list[list[str]]:
        """Return groups of packages that import each other, directly or through others."""
        graph = self.package_imports()
        reachable = {package: _reachable(graph, package) for package in graph}
        groups = {
            frozenset(other for other in reachable[package] if package in reachable[other])
            for package in graph
            if package in reachable[package]
        }
        return sorted(sorted(group) for group in groups)


def _read_module(folder: Path, path: Path) -> Module:
    parts = path.relative_to(folder).with_suffix("").parts
    dotted = parts[:-1] if parts[-1] == "__init__" else parts
    text = path.read_text()
    place = path.relative_to(folder).as_posix()
    return Module(path, place, ".".join((folder.name, *dotted)), ast.parse(text), len(text.splitlines()))


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.is_init else module.name.split(".")[:-1]
    parents = package[: len(package) - node.level + 1]
    return ".".join([*parents, node.module] if node.module else parents)


def _is_nested(package: str, other: str) -> bool:
    return package == other or package.startswith(f"{other}.") or other.startswith(f"{package}.")


def _reachable(graph: Mapping[str, Set[str]], start: str) -> set[str]:
    """Return the packages that can be reached from one by at least one import."""
    found: set[str] = set()
    queue = list(graph[start])
    while queue:
        package = queue.pop()
        if package not in found:
            found.add(package)
            queue.extend(graph[package])
    return found
