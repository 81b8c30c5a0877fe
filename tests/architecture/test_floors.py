"""The house of docs/architecture as a test: imports only go down, libraries stay in their rooms, files stay short.

Every import statement counts, wherever it stands. The rules are tables at the top; the last tests prove on a made-up
tree that each rule can fail.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "memsidecar"

GROUND = {"stores", "embedding", "tokens", "language"}
BASEMENT = {"endpoint", "access"}
SERVERS = {"assembly", "mcp_server"}
FLOORS = [{"__main__"}, SERVERS, {"api", "cli"}, {"context"}, {"layers"}, GROUND, BASEMENT, {"domain"}]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
BESIDE_DOMAIN = {"settings", "logs"}
# Rooms that only some of those above may enter: how to talk to an endpoint is nobody's business who does not, and who
# may do what is settled at the gate, before any layer is asked.
ENTERED_BY = {"endpoint": {"embedding", "language"}, "access": {"api", "cli", "assembly"}}
EVERYWHERE = {"__init__"}

# Modules of a ground-floor room that others may know besides its contract, because they hold values and no behaviour.
PURE_VALUES: dict[str, str] = {
    "memsidecar.tokens.models": "the table of models: names, windows, budgets",
    "memsidecar.tokens.estimate": "how a factor learns from a report",
}

# Libraries and the only rooms that may import them.
QUARANTINE = {
    "grpc": {"api", "cli", "mcp_server"},
    "grpc_health": {"api", "cli"},
    "grpc_reflection": {"api", "cli"},
    "grpc_status": {"api", "cli", "mcp_server"},
    "lancedb": {"stores"},
    "mcp": {"mcp_server"},
    "mcp_types": {"mcp_server"},
    "pyarrow": {"stores"},
    "regex": {"layers"},
    "sqlite3": {"stores"},
    "Stemmer": {"layers"},
    "tiktoken": {"tokens"},
    "tokenizers": {"embedding"},
    "urllib3": {"endpoint"},
}
GENERATED_MESSAGES = {"api", "cli", "context", "layers", "mcp_server"}
GENERATED_STUBS = {"api", "cli", "mcp_server"}
ENVIRONMENT = {"settings"}

# Files that may catch everything: the border, and the edge of each background loop. Path below memsidecar/: reason.
CATCH_ALL: dict[str, str] = {
    "assembly/serve.py": "the edge of the loop that opens retrieval: it is told, and tried again",
    "tokens/estimate.py": "a user's own function is tried once, and may do anything",
    "assembly/security.py": "the edge of the loop that looks at certificates and tokens: it is told, and tried again",
    "api/admission/audit.py": "whatever it is, it is noted who did it, and goes on",
    "api/interceptors/errors.py": "the border: whatever it is, the caller learns nothing of the inside",
    "mcp_server/server.py": "the border: whatever it is, the model that asked learns nothing of the inside",
    "layers/background/runner.py": "the edge of the background loop: one bad entry must not stop the rest",
    "layers/semantic/fact_task.py": "the edge of reading what was said: a batch that cannot be read is set aside",
    "stores/lance/runtime.py": "LanceDB raises all sorts: whatever it is, the index is away and the rest goes on",
    "stores/sqlite/group_commit.py": "the edge of the committer's loop: one bad command must not end everybody's writes",
    "stores/sqlite/writer.py": "commands carry their callers' code: what fails there must not spoil the group",
    "stores/volatile/journal.py": "the same, in the twin",
}
# Files that may import inside a function. Path below memsidecar/: reason.
LATE_IMPORTS: dict[str, str] = {}
LONGEST_FILE_LINES = 300


@dataclass(frozen=True)
class Module:
    """One source file: its dotted name, the room it belongs to, and its syntax tree."""

    path: Path
    name: str
    room: str
    tree: ast.Module
    line_count: int


@dataclass(frozen=True)
class House:
    """All hand-written modules below a package folder."""

    folder: Path
    modules: tuple[Module, ...]
    names: frozenset[str]

    @classmethod
    def read(cls, folder: Path) -> "House":
        sources = [path for path in sorted(folder.rglob("*.py")) if path.relative_to(folder).parts[0] != "v1"]
        modules = tuple(_module(folder, path) for path in sources)
        return cls(folder, modules, frozenset(module.name for module in modules))

    def imports(self, module: Module) -> Iterator[str]:
        """The dotted names that a module imports; `from a import b` is a.b when that is a module, else a."""
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                base = _absolute(module, node)
                yield from {self._target(base, alias.name) for alias in node.names}

    def _target(self, base: str, name: str) -> str:
        dotted = f"{base}.{name}"
        generated = base == f"{PACKAGE}.v1" or dotted == f"{PACKAGE}.v1"
        return dotted if generated or dotted in self.names else base

    def place(self, module: Module) -> str:
        return module.path.relative_to(self.folder).as_posix()


def _module(folder: Path, path: Path) -> Module:
    parts = path.relative_to(folder).with_suffix("").parts
    dotted = parts[:-1] if parts[-1] == "__init__" else parts
    text = path.read_text()
    return Module(path, ".".join((PACKAGE, *dotted)), parts[0], ast.parse(text), len(text.splitlines()))


def _absolute(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    package = module.name.split(".") if module.path.name == "__init__.py" else module.name.split(".")[:-1]
    kept = package[: len(package) - node.level + 1]
    return ".".join([*kept, node.module] if node.module else kept)


def _room_of(dotted: str) -> str:
    return dotted.split(".")[1] if "." in dotted else "__init__"


def imports_that_go_up(house: House) -> Iterator[str]:
    for module in house.modules:
        for target in house.imports(module):
            if target.split(".")[0] == PACKAGE and not _may_know(module.room, target):
                yield f"{house.place(module)} must not import {target}"


def _may_know(room: str, target: str) -> bool:
    other = _room_of(target)
    if other in {room, "v1", *EVERYWHERE}:
        return True
    if other in BESIDE_DOMAIN:
        return room not in {"domain", *BESIDE_DOMAIN, *EVERYWHERE}
    if room in BESIDE_DOMAIN:
        return other == "domain"
    return room in FLOOR and other in FLOOR and FLOOR[room] < FLOOR[other] and _is_open(room, target)


def _is_open(room: str, target: str) -> bool:
    other = _room_of(target)
    if other in ENTERED_BY:
        return room in ENTERED_BY[other]
    if other not in GROUND or room == "assembly":
        return True
    contract = f"{PACKAGE}.{other}.contract"
    return target == contract or target.startswith(f"{contract}.") or target in PURE_VALUES


def rooms_without_a_floor(house: House) -> Iterator[str]:
    known = {*FLOOR, *BESIDE_DOMAIN, *EVERYWHERE}
    return (f"{house.place(module)} stands on no floor" for module in house.modules if module.room not in known)


def libraries_out_of_their_room(house: House) -> Iterator[str]:
    for module in house.modules:
        for target in house.imports(module):
            allowed = _rooms_that_may_import(target)
            if allowed is not None and module.room not in allowed:
                yield f"{house.place(module)} must not import {target}: only {', '.join(sorted(allowed))} may"


def _rooms_that_may_import(target: str) -> set[str] | None:
    if target == f"{PACKAGE}.v1" or target.startswith(f"{PACKAGE}.v1."):
        return GENERATED_STUBS if target.endswith("_pb2_grpc") else GENERATED_MESSAGES
    return QUARANTINE.get(target.split(".", maxsplit=1)[0])


def readers_of_the_environment(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.room not in ENVIRONMENT and any(map(_reads_environment, ast.walk(module.tree))):
            yield f"{house.place(module)} reads the environment: only settings may"


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


def handlers_that_catch_everything(house: House) -> Iterator[str]:
    for module in house.modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ExceptHandler) and _catches_all(node.type) and house.place(module) not in CATCH_ALL:
                yield f"{house.place(module)}:{node.lineno} catches everything"


def _catches_all(caught: ast.expr | None) -> bool:
    if caught is None:
        return True
    parts = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(isinstance(part, ast.Name) and part.id in {"Exception", "BaseException"} for part in parts)


def imports_inside_functions(house: House) -> Iterator[str]:
    for module in house.modules:
        functions = (node for node in ast.walk(module.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        lines = {
            node.lineno
            for function in functions
            for node in ast.walk(function)
            if isinstance(node, ast.Import | ast.ImportFrom)
        }
        if house.place(module) not in LATE_IMPORTS:
            yield from (f"{house.place(module)}:{line} imports inside a function" for line in sorted(lines))


def files_that_are_too_long(house: House) -> Iterator[str]:
    for module in house.modules:
        if module.line_count > LONGEST_FILE_LINES:
            yield f"{house.place(module)} has {module.line_count} lines, more than {LONGEST_FILE_LINES}"


def exceptions_that_nobody_needs(house: House) -> Iterator[str]:
    places = {house.place(module) for module in house.modules}
    return (f"{place} is excepted and does not exist" for place in {*CATCH_ALL, *LATE_IMPORTS} - places)


Rule = Callable[[House], Iterator[str]]
RULES: list[Rule] = [
    imports_that_go_up,
    rooms_without_a_floor,
    libraries_out_of_their_room,
    readers_of_the_environment,
    handlers_that_catch_everything,
    imports_inside_functions,
    files_that_are_too_long,
]


@pytest.fixture(scope="module")
def house() -> House:
    return House.read(ROOT / PACKAGE)


@pytest.mark.parametrize("rule", [*RULES, exceptions_that_nobody_needs], ids=lambda rule: rule.__name__)
def test_the_house_has_no(rule: Rule, house: House) -> None:
    broken = list(rule(house))
    assert not broken, "\n".join(broken)


BROKEN = [
    (imports_that_go_up, "domain/clock.py", "from memsidecar.layers import working"),
    (imports_that_go_up, "layers/working.py", "def late() -> None:\n    import memsidecar.api.wire"),
    (imports_that_go_up, "stores/contract.py", "from memsidecar.tokens.contract import Counter"),
    (imports_that_go_up, "api/wire.py", "from memsidecar.cli import parser"),
    (imports_that_go_up, "layers/working.py", "from memsidecar.stores.journal import Journal"),
    (imports_that_go_up, "layers/working.py", "from ..stores import journal"),
    (imports_that_go_up, "settings.py", "from memsidecar.stores.contract import Journal"),
    (imports_that_go_up, "logs.py", "from memsidecar.settings import Settings"),
    (imports_that_go_up, "domain/clock.py", "import memsidecar.settings"),
    (imports_that_go_up, "layers/working.py", "from memsidecar.endpoint.transport import Transport"),
    (imports_that_go_up, "stores/contract.py", "from memsidecar.endpoint import transport"),
    (imports_that_go_up, "endpoint/transport.py", "from memsidecar.embedding.contract import Embedder"),
    (rooms_without_a_floor, "helpers/misc.py", ""),
    (libraries_out_of_their_room, "layers/working.py", "import grpc.aio"),
    (libraries_out_of_their_room, "assembly.py", "from grpc_health.v1 import health"),
    (libraries_out_of_their_room, "layers/episodic.py", "import lancedb"),
    (libraries_out_of_their_room, "layers/working.py", "import sqlite3"),
    (libraries_out_of_their_room, "embedding/openai.py", "import urllib3"),
    (libraries_out_of_their_room, "cli/mcp.py", "from mcp.server import Server"),
    (libraries_out_of_their_room, "context/fit.py", "from tiktoken import Encoding"),
    (libraries_out_of_their_room, "stores/contract.py", "from memsidecar.v1 import message_pb2"),
    (libraries_out_of_their_room, "layers/working.py", "from memsidecar.v1.memory_pb2_grpc import MemoryServiceStub"),
    (readers_of_the_environment, "api/wire.py", "import os\n\nhome = os.environ['HOME']"),
    (readers_of_the_environment, "api/wire.py", "from os import getenv"),
    (handlers_that_catch_everything, "api/wire.py", "try:\n    pass\nexcept Exception:\n    pass"),
    (handlers_that_catch_everything, "api/wire.py", "try:\n    pass\nexcept (OSError, BaseException):\n    pass"),
    (handlers_that_catch_everything, "api/wire.py", "try:\n    pass\nexcept:\n    pass"),
    (imports_inside_functions, "api/wire.py", "async def late() -> None:\n    import json"),
    (files_that_are_too_long, "api/wire.py", "\n" * (LONGEST_FILE_LINES + 1)),
]

SOUND = {
    "__init__.py": "",
    "__main__.py": "from memsidecar import assembly\nfrom memsidecar.cli import parser",
    "assembly.py": "from memsidecar.stores.journal import Journal\nfrom memsidecar.api import wire",
    "api/wire.py": "import grpc\nfrom memsidecar.v1 import memory_pb2_grpc\nfrom memsidecar import __version__",
    "cli/parser.py": "from memsidecar.settings import Settings",
    "layers/working.py": "from memsidecar.stores import contract\nfrom memsidecar.tokens.models import WINDOWS",
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


def test_a_sound_house_breaks_no_rule(tmp_path: Path) -> None:
    house = _build(tmp_path / PACKAGE, SOUND)
    assert [broken for rule in RULES for broken in rule(house)] == []


@pytest.mark.parametrize(("rule", "place", "text"), BROKEN)
def test_a_broken_house_breaks_its_rule(rule: Rule, place: str, text: str, tmp_path: Path) -> None:
    house = _build(tmp_path / PACKAGE, SOUND | {place: text})
    assert any(broken.startswith(place) for broken in rule(house))


def _build(folder: Path, files: dict[str, str]) -> House:
    for place, text in files.items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return House.read(folder)
