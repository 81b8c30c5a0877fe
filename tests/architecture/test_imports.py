"""The architecture of docs/architecture.md as a test: which package may import which, and libraries in quarantine.

Every import statement counts, also one inside a function. The rules are tables at the top. The last tests show on a
made-up tree that each rule can fail.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tools.shape import MAX_MODULE_LINES, MIN_MODULE_LINES
from tools.source_tree import Module, SourceTree

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "memsidecar"

# Layers from top to bottom. A package imports packages of lower layers only.
PROVIDERS = {"stores", "embedding", "tokens", "language"}
LAYERS = [
    {"__main__"},
    {"assembly", "mcp_server"},
    {"http", "metrics"},
    {"api", "cli"},
    {"context"},
    {"layers"},
    PROVIDERS,
    {"endpoint", "access"},
    {"domain"},
]
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
# Importable from every layer but domain; they import nothing of ours but domain.
UTILITIES = {"settings", "logs", "spans"}
EVERYWHERE = {"__init__"}
# Packages with a fixed set of importers.
IMPORTED_BY = {"endpoint": {"embedding", "language"}, "access": {"api", "cli", "assembly", "http"}}
# Modules of a provider that others may import besides its contract, because they hold values and no behaviour.
VALUE_MODULES: dict[str, str] = {
    "memsidecar.tokens.models": "the table of models: names, windows, budgets",
    "memsidecar.tokens.estimate": "the update of a calibration factor",
    "memsidecar.language.extractive.excerpt": "functions of a text: its best sentences, a passage of it",
    "memsidecar.language.extractive.corrections": "functions of two sentences: whether one corrects the other",
    "memsidecar.language.extractive.lexicon": "functions of a sentence: whether it has the cue of a correction",
}

# Subpackages of api that know none of its services, and the modules of api that they may import.
API_FOUNDATIONS: dict[str, tuple[str, ...]] = {
    "memsidecar.api.interceptors": ("memsidecar.api.interceptors", "memsidecar.api.status"),
    "memsidecar.api.admission": ("memsidecar.api.admission", "memsidecar.api.interceptors", "memsidecar.api.status"),
}

# A memory layer imports no sibling, except this one, and the modules directly in layers/.
SHARED_LAYER = "background"
# Importer, and what it imports of a sibling layer: reason.
SIBLING_IMPORTS: dict[tuple[str, str], str] = {
    ("layers/artifacts/offload.py", "memsidecar.layers.working.window_update"): "offloading replaces a message's text",
    ("layers/episodic/hits.py", "memsidecar.layers.documents.documents"): "chunks are hits of a search too",
}

# Libraries, and the only packages that may import them.
QUARANTINE = {
    "grpc": {"api", "cli", "http", "mcp_server"},
    "h11": {"http"},
    "uvicorn": {"http"},
    "click": {"__main__", "cli"},
    "grpc_health": {"api", "cli"},
    "grpc_reflection": {"api", "cli"},
    "grpc_status": {"api", "cli", "mcp_server"},
    "lancedb": {"stores"},
    "mcp": {"mcp_server"},
    "mcp_types": {"mcp_server"},
    "prometheus_client": {"metrics"},
    "opentelemetry": {"assembly"},
    "psycopg": {"stores"},
    "psycopg_pool": {"stores"},
    "pyarrow": {"stores"},
    "regex": {"layers"},
    "rich": {"cli"},
    "sqlite3": {"stores"},
    "Stemmer": {"layers"},
    "tiktoken": {"tokens"},
    "tokenizers": {"embedding"},
    "urllib3": {"endpoint"},
}
GENERATED_MESSAGES = {"api", "cli", "context", "layers", "mcp_server"}
GENERATED_STUBS = {"api", "cli", "mcp_server"}
ENVIRONMENT = {"settings"}

# Files that may catch every exception: the border, and the edge of each background loop. Path: reason.
CATCH_ALL: dict[str, str] = {
    "assembly/serve.py": "the edge of the loop that opens retrieval: logged and retried",
    "tokens/estimate.py": "a user's own function is tried once, and may raise anything",
    "assembly/security.py": "the edge of the loop that reloads certificates and tokens: logged and retried",
    "embedding/onnx.py": "onnxruntime and tokenizers raise many types: the model cannot be used",
    "api/watch_feed.py": "the edge of the loop that polls the index: logged and retried",
    "api/admission/audit.py": "every outcome is recorded, then raised again",
    "api/interceptors/call_statistics.py": "every outcome is counted, then raised again",
    "api/interceptors/call_spans.py": "every outcome is recorded, then raised again",
    "api/interceptors/errors.py": "the border: the caller learns nothing about the internals",
    "mcp_server/server.py": "the border: the model learns nothing about the internals",
    "layers/background/runner.py": "the edge of the background loop: one bad entry must not stop the rest",
    "layers/retention/schedule.py": "the edge of the loop that runs retention: logged, and run again",
    "layers/semantic/fact_task.py": "the edge of fact extraction: a batch that fails becomes a dead letter",
    "stores/lance/runtime.py": "LanceDB raises many types: each means that the index is unavailable",
    "stores/group_commit.py": "the edge of the committer's loop: one bad command must not end all writes",
    "stores/listeners.py": "a listener that fails must affect neither the others nor the commit",
    "stores/postgres/writer.py": "commands run callbacks of their callers: an error there must not fail the group",
    "stores/sqlite/writer.py": "commands run callbacks of their callers: an error there must not fail the group",
    "stores/volatile/journal.py": "the same, in the reference implementation",
}
# Files that may import inside a function. Path below the package: reason.
LATE_IMPORTS: dict[str, str] = {}
# Modules under MIN_MODULE_LINES lines. Path below the package: reason.
SHORT_MODULES: dict[str, str] = {
    "domain/byte_size.py": "one value type",
    "domain/ids.py": "the rules for ids",
    "layers/ownership.py": "used by five layers",
    "layers/learned_until.py": "used by two layers and the api",
    "mcp_server/sidecar_main.py": "an entry point of its own: python -m",
    "stores/log_kinds.py": "shared by all journals",
    "stores/volatile/task_state.py": "as in the other journal",
    "stores/volatile/users.py": "as in the other journal",
}
ROOT_INIT = "__init__.py"  # holds the version


def upward_imports(tree: SourceTree) -> Iterator[str]:
    for module in tree.modules:
        for target in tree.imports(module):
            if target.split(".")[0] == PACKAGE and not _may_import(module.top, target):
                yield f"{module.place} must not import {target}"


def _may_import(package: str, target: str) -> bool:
    imported = _top_of(target)
    if imported in {package, "v1", *EVERYWHERE}:
        return True
    if imported in UTILITIES:
        return package not in {"domain", *UTILITIES, *EVERYWHERE}
    if package in UTILITIES:
        return imported == "domain"
    return package in LEVEL and imported in LEVEL and LEVEL[package] < LEVEL[imported] and _is_visible(package, target)


def _is_visible(package: str, target: str) -> bool:
    imported = _top_of(target)
    if imported in IMPORTED_BY:
        return package in IMPORTED_BY[imported]
    if imported not in PROVIDERS or package == "assembly":
        return True
    return _is_within(target, f"{PACKAGE}.{imported}.contract") or target in VALUE_MODULES


def _top_of(dotted: str) -> str:
    return dotted.split(".")[1] if "." in dotted else "__init__"


def _is_within(dotted: str, package: str) -> bool:
    return dotted == package or dotted.startswith(f"{package}.")


def packages_without_a_layer(tree: SourceTree) -> Iterator[str]:
    known = {*LEVEL, *UTILITIES, *EVERYWHERE}
    return (f"{module.place} belongs to no layer" for module in tree.modules if module.top not in known)


def foundations_that_import_services(tree: SourceTree) -> Iterator[str]:
    """api.admission and api.interceptors run around every service, so they import none."""
    for module in tree.modules:
        allowed = next((allowed for name, allowed in API_FOUNDATIONS.items() if _is_within(module.name, name)), None)
        for target in tree.imports(module) if allowed else ():
            if _is_within(target, f"{PACKAGE}.api") and not any(_is_within(target, name) for name in allowed or ()):
                yield f"{module.place} must not import {target}"


def sibling_imports(tree: SourceTree) -> Iterator[str]:
    for place, target in _sibling_imports(tree):
        if (place, target) not in SIBLING_IMPORTS:
            yield f"{place} must not import {target}, a module of a sibling layer"


def _sibling_imports(tree: SourceTree) -> Iterator[tuple[str, str]]:
    root = f"{PACKAGE}.layers"
    packages = {name.split(".")[2] for name in tree.names if name.count(".") > 2 and _is_within(name, root)}
    for module in tree.modules:
        layer = _layer_of(module.name, packages)
        for target in tree.imports(module) if layer else ():
            imported = _layer_of(target, packages)
            if imported not in {None, layer, SHARED_LAYER}:
                yield module.place, target


def _layer_of(dotted: str, packages: set[str]) -> str | None:
    parts = dotted.split(".")
    return parts[2] if parts[:2] == [PACKAGE, "layers"] and len(parts) > 2 and parts[2] in packages else None


def package_cycles(tree: SourceTree) -> Iterator[str]:
    return (f"{packages[0]} is in a cycle of {', '.join(packages)}" for packages in tree.package_cycles())


def libraries_outside_quarantine(tree: SourceTree) -> Iterator[str]:
    for module in tree.modules:
        for target in tree.imports(module):
            allowed = _packages_that_may_import(target)
            if allowed is not None and module.top not in allowed:
                yield f"{module.place} must not import {target}: only {', '.join(sorted(allowed))} may"


def _packages_that_may_import(target: str) -> set[str] | None:
    if _is_within(target, f"{PACKAGE}.v1"):
        return GENERATED_STUBS if target.endswith("_pb2_grpc") else GENERATED_MESSAGES
    return QUARANTINE.get(target.split(".", maxsplit=1)[0])


def readers_of_the_environment(tree: SourceTree) -> Iterator[str]:
    for module in tree.modules:
        if module.top not in ENVIRONMENT and any(map(_reads_environment, module.nodes)):
            yield f"{module.place} reads the environment: only settings may"


def _reads_environment(node: ast.AST) -> bool:
    names = {"environ", "environb", "getenv", "getenvb", "putenv"}
    if isinstance(node, ast.ImportFrom):
        return node.module == "os" and any(alias.name in names for alias in node.names)
    return (
        isinstance(node, ast.Attribute)
        and node.attr in names
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    )


def handlers_that_catch_everything(tree: SourceTree) -> Iterator[str]:
    for module in tree.modules:
        for node in module.nodes:
            if isinstance(node, ast.ExceptHandler) and _catches_all(node.type) and module.place not in CATCH_ALL:
                yield f"{module.place}:{node.lineno} catches everything"


def _catches_all(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    types = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(each, ast.Name) and each.id in {"Exception", "BaseException"} for each in types)


def imports_inside_functions(tree: SourceTree) -> Iterator[str]:
    for module in tree.modules:
        functions = (node for node in module.nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        lines = {
            node.lineno
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        if module.place not in LATE_IMPORTS:
            yield from (f"{module.place}:{line} imports inside a function" for line in sorted(lines))


def inits_with_code(tree: SourceTree) -> Iterator[str]:
    for module in tree.modules:
        if module.is_init and module.place != ROOT_INIT:
            for node in module.tree.body:
                if not _is_init_statement(node):
                    yield f"{module.place}:{node.lineno} is more than a docstring, imports and __all__"


def _is_init_statement(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return [ast.unparse(target) for target in node.targets] == ["__all__"]
    is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return is_docstring or isinstance(node, ast.Import | ast.ImportFrom)


def modules_that_are_too_long(tree: SourceTree) -> Iterator[str]:
    for module in tree.modules:
        if module.line_count > MAX_MODULE_LINES:
            yield f"{module.place} has {module.line_count} lines, more than {MAX_MODULE_LINES}"


def modules_that_are_too_short(tree: SourceTree) -> Iterator[str]:
    for module in tree.modules:
        if not module.is_init and _is_short(module) and module.place not in SHORT_MODULES:
            yield f"{module.place} has {module.line_count} lines, less than {MIN_MODULE_LINES}: merge it, or list it"


def _is_short(module: Module) -> bool:
    return module.line_count < MIN_MODULE_LINES


def unused_exceptions(tree: SourceTree) -> Iterator[str]:
    places = {module.place for module in tree.modules}
    yield from (f"{place} is excepted and does not exist" for place in {*CATCH_ALL, *LATE_IMPORTS} - places)
    short = {module.place for module in tree.modules if _is_short(module)}
    yield from (f"{place} is listed as a short module and is none" for place in SHORT_MODULES.keys() - short)
    unused = SIBLING_IMPORTS.keys() - set(_sibling_imports(tree))
    yield from (f"{place} is listed as importing {target} and does not" for place, target in sorted(unused))


Rule = Callable[[SourceTree], Iterator[str]]
RULES: list[Rule] = [
    upward_imports,
    packages_without_a_layer,
    foundations_that_import_services,
    sibling_imports,
    package_cycles,
    libraries_outside_quarantine,
    readers_of_the_environment,
    handlers_that_catch_everything,
    imports_inside_functions,
    inits_with_code,
    modules_that_are_too_long,
    modules_that_are_too_short,
]


@pytest.fixture(scope="module")
def tree() -> SourceTree:
    return SourceTree.read(ROOT / PACKAGE)


@pytest.mark.parametrize("rule", [*RULES, unused_exceptions], ids=lambda rule: rule.__name__)
def test_the_code_base_has_no(rule: Rule, tree: SourceTree) -> None:
    broken = list(rule(tree))
    assert not broken, "\n".join(broken)


BROKEN = [
    (upward_imports, "domain/clock.py", "from memsidecar.layers import working"),
    (upward_imports, "layers/working.py", "def late() -> None:\n    import memsidecar.api.wire"),
    (upward_imports, "stores/contract.py", "from memsidecar.tokens.contract import Counter"),
    (upward_imports, "api/wire.py", "from memsidecar.cli import parser"),
    (upward_imports, "layers/working.py", "from memsidecar.stores.journal import Journal"),
    (upward_imports, "layers/working.py", "from ..stores import journal"),
    (upward_imports, "settings.py", "from memsidecar.stores.contract import Journal"),
    (upward_imports, "logs.py", "from memsidecar.settings import Settings"),
    (upward_imports, "domain/clock.py", "import memsidecar.settings"),
    (upward_imports, "layers/working.py", "from memsidecar.endpoint.transport import Transport"),
    (upward_imports, "stores/contract.py", "from memsidecar.endpoint import transport"),
    (upward_imports, "endpoint/transport.py", "from memsidecar.embedding.contract import Embedder"),
    (packages_without_a_layer, "helpers/misc.py", ""),
    (foundations_that_import_services, "api/admission/audit.py", "from memsidecar.api.wire import decode"),
    (foundations_that_import_services, "api/interceptors/errors.py", "from memsidecar.api.admission import audit"),
    (sibling_imports, "layers/semantic/facts.py", "from memsidecar.layers.episodic import search"),
    (sibling_imports, "layers/semantic/facts.py", "import memsidecar.layers.episodic.search"),
    (package_cycles, "layers/episodic/search.py", "from memsidecar.layers.semantic import facts"),
    (libraries_outside_quarantine, "assembly.py", "import click"),
    (libraries_outside_quarantine, "assembly.py", "from rich.table import Table"),
    (libraries_outside_quarantine, "layers/working.py", "import grpc.aio"),
    (libraries_outside_quarantine, "assembly.py", "from grpc_health.v1 import health"),
    (libraries_outside_quarantine, "layers/episodic.py", "import lancedb"),
    (libraries_outside_quarantine, "layers/working.py", "import sqlite3"),
    (libraries_outside_quarantine, "stores/journal.py", "from prometheus_client import Counter"),
    (libraries_outside_quarantine, "api/wire.py", "import prometheus_client"),
    (upward_imports, "layers/working.py", "from memsidecar.metrics import definitions"),
    (libraries_outside_quarantine, "embedding/openai.py", "import urllib3"),
    (libraries_outside_quarantine, "cli/mcp.py", "from mcp.server import Server"),
    (libraries_outside_quarantine, "context/fit.py", "from tiktoken import Encoding"),
    (libraries_outside_quarantine, "stores/contract.py", "from memsidecar.v1 import message_pb2"),
    (libraries_outside_quarantine, "layers/working.py", "from memsidecar.v1.memory_pb2_grpc import MemoryServiceStub"),
    (readers_of_the_environment, "api/wire.py", "import os\n\nhome = os.environ['HOME']"),
    (readers_of_the_environment, "api/wire.py", "from os import getenv"),
    (handlers_that_catch_everything, "api/wire.py", "try:\n    pass\nexcept Exception:\n    pass"),
    (handlers_that_catch_everything, "api/wire.py", "try:\n    pass\nexcept (OSError, BaseException):\n    pass"),
    (handlers_that_catch_everything, "api/wire.py", "try:\n    pass\nexcept:\n    pass"),
    (imports_inside_functions, "api/wire.py", "async def late() -> None:\n    import json"),
    (inits_with_code, "api/__init__.py", '"""Services."""\n\nDEFAULT = 1'),
    (inits_with_code, "api/__init__.py", "class Service:\n    pass"),
    (modules_that_are_too_long, "api/wire.py", "\n" * (MAX_MODULE_LINES + 1)),
    (modules_that_are_too_short, "api/wire.py", "x = 1\n" * (MIN_MODULE_LINES - 1)),
]

SOUND = {
    "__init__.py": '__version__ = "1"',
    "__main__.py": "from memsidecar import assembly\nfrom memsidecar.cli import parser",
    "assembly.py": "from memsidecar.stores.journal import Journal\nfrom memsidecar.api import wire",
    "api/__init__.py": '"""Services."""\n\nfrom memsidecar.api import wire\n\n__all__ = ["wire"]',
    "api/wire.py": "import grpc\nfrom memsidecar.v1 import memory_pb2_grpc\nfrom memsidecar import __version__",
    "api/status.py": "import grpc",
    "api/admission/audit.py": "from memsidecar.api import status\nfrom memsidecar.api.interceptors import errors",
    "api/interceptors/errors.py": "from memsidecar.api.status import rich_status\nfrom memsidecar.domain import clock",
    "cli/parser.py": "from memsidecar.settings import Settings",
    "layers/working.py": "from memsidecar.stores import contract\nfrom memsidecar.tokens.models import WINDOWS",
    "layers/background/runner.py": "",
    "layers/episodic/search.py": "from memsidecar.layers.background import runner",
    "layers/semantic/facts.py": "from memsidecar.layers import working, background",
    "stores/contract.py": "from memsidecar.domain.clock import Clock",
    "stores/journal.py": "import sqlite3\nfrom memsidecar.stores.contract import Journal",
    "tokens/models.py": "import tiktoken",
    "embedding/openai.py": "from memsidecar.endpoint.transport import Transport",
    "endpoint/client.py": "import urllib3\nfrom memsidecar.domain.clock import Clock",
    "settings.py": "import os\nfrom memsidecar.domain import clock\n\nhome = os.environ['HOME']",
    "logs.py": "from memsidecar.domain.clock import Clock",
    "domain/clock.py": "import time",
    "v1/memory_pb2_grpc.py": "import grpc",
}
# In a cycle, the other half of which stands in a second file.
COMPANIONS: dict[Rule, dict[str, str]] = {
    package_cycles: {"layers/semantic/facts.py": "from memsidecar.layers.episodic import search"}
}


def test_a_sound_tree_breaks_no_rule(tmp_path: Path) -> None:
    tree = _build(tmp_path / PACKAGE, SOUND)
    assert [broken for rule in RULES for broken in rule(tree)] == []


@pytest.mark.parametrize(("rule", "place", "text"), BROKEN)
def test_a_broken_tree_breaks_its_rule(rule: Rule, place: str, text: str, tmp_path: Path) -> None:
    tree = _build(tmp_path / PACKAGE, SOUND | COMPANIONS.get(rule, {}), {place: text})
    subject = f"{PACKAGE}.layers.episodic" if rule is package_cycles else place
    assert any(broken.startswith(subject) for broken in rule(tree))


def test_an_exception_that_is_not_used_is_reported(tmp_path: Path) -> None:
    unused = list(unused_exceptions(_build(tmp_path / PACKAGE, {"__init__.py": ""})))
    assert len(unused) == len(CATCH_ALL) + len(LATE_IMPORTS) + len(SHORT_MODULES) + len(SIBLING_IMPORTS)


def _build(folder: Path, sound: dict[str, str], broken: dict[str, str] | None = None) -> SourceTree:
    """Write a tree of files, the sound ones padded to the minimum length of a module."""
    padded = {place: text + "\n" * MIN_MODULE_LINES for place, text in sound.items()}
    for place, text in (padded | (broken or {})).items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return SourceTree.read(folder)
