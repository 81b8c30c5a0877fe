"""Files for `memsidecar import` of arbitrary content: they are read, or refused with a message."""

import gzip
import json
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from memsidecar.cli.archive_file import FileProblem, open_input
from memsidecar.cli.archive_source import FORMATS, ArchiveSource
from tests.bad_input.mutations import BYTE_MUTATIONS
from tests.fuzz.failure import FuzzFailure

SAMPLES = Path(__file__).parents[1] / "archives" / "samples"
ARCHIVE = b"""\
{"policy": {"autoPruneTokens": 9}, "version": 1}
{"userId": "ann", "sessionId": "s", "session": {"createTime": "2026-01-31T12:00:00Z"}, "version": 1}
{"sessionId": "s", "message": {"id": "m", "role": "ROLE_USER", "content": "hello", "sequence": "7"}, "version": 1}
"""
VALUES: tuple[Any, ...] = (
    *(None, True, 0, -1, 1e308, 2**70, "", "x", "2026-01-31T12:00:00Z", "9999-12-31T23:59:59+23:59", "\ud800"),
    *([], {}, [None], [[]], {"type": "text"}, {"type": 7, "text": 7}, [{"type": "tool_result"}], "x" * 300),
)


def fuzz_import_files(count: int, random: Random, folder: Path, progress: Callable[[], None]) -> None:
    sources = [ARCHIVE, *(path.read_bytes() for path in sorted(SAMPLES.iterdir()))]
    path = folder / "import.json"
    for _ in range(count):
        content = _mutated(random.choice(sources), random)
        path.write_bytes(gzip.compress(content)[: -random.randint(0, 9) or None] if random.random() < 0.1 else content)
        _read(path, random.choice(FORMATS), content)
        progress()


def _mutated(source: bytes, random: Random) -> bytes:
    """Return the file with values of its JSON replaced, or with some of its bytes changed."""
    if random.random() < 0.6:
        return _with_other_values(source, random)
    for _ in range(random.randint(1, 4)):
        source = random.choice(BYTE_MUTATIONS)(source or b"\0", random)
    return source


def _with_other_values(source: bytes, random: Random) -> bytes:
    try:
        documents = [json.loads(source)]
    except ValueError:
        documents = [json.loads(line) for line in source.splitlines() if line.strip()]
    for _ in range(random.randint(1, 3)):
        _replace_one(random.choice(documents), random)
    return b"\n".join(json.dumps(document).encode() for document in documents)


def _replace_one(value: Any, random: Random) -> None:
    """Replace a value somewhere below this one."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not keys:
        return
    key = random.choice(keys)
    if isinstance(value[key], dict | list) and value[key] and random.random() < 0.8:
        _replace_one(value[key], random)
    else:
        value[key] = deepcopy(random.choice(VALUES))


def _read(path: Path, file_format: str, content: bytes) -> None:
    try:
        with open_input(str(path)) as file:
            for _, record in ArchiveSource(str(path), file_format).records(file):
                record.SerializeToString()
    except FileProblem as problem:
        if str(path) not in str(problem) and "format" not in str(problem):
            raise FuzzFailure("import file", content, f"a problem without a place: {problem}") from problem
    except Exception as error:
        raise FuzzFailure("import file", content, f"{file_format}: {type(error).__name__} {error}") from error
