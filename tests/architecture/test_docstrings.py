"""Docstrings and comments name classes and errors that exist."""

import ast
import builtins
import re
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "memsidecar"
SOURCES = [file for file in PACKAGE.rglob("*.py") if file.parent != PACKAGE / "v1"]
CAMEL_CASE = re.compile(r"\b[A-Z][a-z]+(?:[A-Z][a-z0-9]+)+\b")
PROPER_NOUNS = frozenset({"LangChain", "LangGraph", "LlamaIndex"})


def _docstrings(tree: ast.Module) -> str:
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(tree) if isinstance(node, documented))
    return "\n".join(filter(None, map(ast.get_docstring, nodes)))


def _names(tree: ast.Module) -> set[str]:
    """Return every identifier that the code uses, and the words of its literals: RPCs are named in tables."""
    names: set[str] = set()
    for node in ast.walk(tree):
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
    trees = {file: ast.parse(file.read_text()) for file in SOURCES}
    known = set(dir(builtins)) | PROPER_NOUNS | set().union(*map(_names, trees.values()))
    unknown = {
        f"{file.relative_to(PACKAGE)}: {name}"
        for file, tree in trees.items()
        for name in CAMEL_CASE.findall(_docstrings(tree))
        if name not in known
    }
    assert not unknown
