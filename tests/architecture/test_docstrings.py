"""Docstrings and comments name classes and errors that exist."""

import ast
import builtins
import re
from collections.abc import Iterable
from pathlib import Path

from tools.source_tree import SourceTree

Nodes = Iterable[ast.AST]

PACKAGE = Path(__file__).resolve().parents[2] / "memsidecar"
CAMEL_CASE = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z0-9]+)+\b")
PROPER_NOUNS = frozenset({"LangChain", "LangGraph", "LlamaIndex", "OpenMetrics", "OpenTelemetry"})


def _docstrings(nodes: Nodes) -> str:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    return "\n".join(filter(None, (ast.get_docstring(node) for node in nodes if isinstance(node, documented))))


def _names(nodes: Nodes) -> set[str]:
    """Return every identifier that the code uses, and the words of its literals: RPCs are named in tables."""
    names: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute):
            names.add(node.attr)
        elif isinstance(node, ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Dict):
            names.update(key.value for key in node.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))
    return names


def test_docstrings_name_what_exists() -> None:
    modules = SourceTree.read(PACKAGE).modules
    known = set(dir(builtins)) | PROPER_NOUNS | set().union(*(_names(module.nodes) for module in modules))
    unknown = {
        f"{module.place}: {name}"
        for module in modules
        for name in CAMEL_CASE.findall(_docstrings(module.nodes))
        if name not in known
    }
    assert not unknown
