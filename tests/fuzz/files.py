"""Access files and settings files of arbitrary bytes: they are read, or refused with a message."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from memsidecar.access.access_file import InvalidAccessFile, read_access_file
from memsidecar.access.policy import NamespaceLimits
from memsidecar.domain.quota import Quota
from memsidecar.settings import InvalidSettings, Settings, load_settings
from memsidecar.settings.loader import SETTING_NAMES
from tests.bad_input.mutations import BYTE_MUTATIONS
from tests.fuzz.failure import FuzzFailure

ACCESS_FILE = b"""
[[tokens]]
id = "0123456789abcdef"
name = "agent"
hash = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
namespaces = ["research", "*"]
role = "write"
expires = 2027-01-31T00:00:00Z

[[certificates]]
uri = "spiffe://cluster.local/ns/default/sa/agent"
name = "agent"
namespaces = ["research"]
role = "read"

[[certificates]]
dns = "agent.example"
name = "other"
namespaces = ["other"]
role = "admin"

[quotas.research]
calls_per_second = 12.5
sessions = 10
messages = 1_000
bytes = "64MiB"
"""
PIECES = (
    *(b"[[tokens]]\n", b"[quotas.a]\n", b"[quotas]\n", b"[", b"]", b"[[", b"{", b"}", b"=", b".", b",", b"#", b"\n"),
    *(
        b'"',
        b"'",
        b'"""',
        b"'''",
        b"\\",
        b'"\\u0000"',
        b'"\\ud800"',
        b"\xff",
        b"\xc0\x80",
        b"\0",
        b"\xef\xbb\xbf",
        b"\r",
    ),
    *(b"true", b"inf", b"-nan", b"1e999", b"0x" + b"f" * 40, b"9" * 5_000, b"-1", b"0", b"1.5", b"1979-05-27"),
    *(b"1979-05-27T07:32:00", b"07:32:00", b"9999-12-31T23:59:59.999999-23:59", b'"1EiB"', b'"-1KiB"', b'"*"', b'""'),
    *(b"[" * 3_000, b"{a=" * 3_000, b"a." * 3_000, b"x = [[[[]]]]\n", b"namespaces = []\n", b'role = "root"\n'),
)


def settings_file() -> bytes:
    """Return a file with the default of every setting that has one."""
    defaults = {name: getattr(Settings(), name) for name in SETTING_NAMES}
    lines = [f"{name} = {_toml(value)}" for name, value in defaults.items() if value is not None]
    return "\n".join(lines).encode()


def _toml(value: object) -> str:
    return json.dumps(value if isinstance(value, bool | int | float) else str(value))


def mutated_file(source: bytes, random: Random) -> bytes:
    """Return the file with some of its lines, or of its bytes, changed."""
    if random.random() < 0.7:
        lines = source.splitlines(keepends=True)
        source = b"".join(line for line in lines if random.random() < 0.9)
    for _ in range(random.randint(0, 3)):
        source = _splice(source, random) if random.random() < 0.6 else _change(source, random)
    return source


def _change(source: bytes, random: Random) -> bytes:
    return random.choice(BYTE_MUTATIONS)(source or b"\0", random)


def _splice(source: bytes, random: Random) -> bytes:
    """Insert a piece of TOML, or replace the value of a line with it."""
    piece, lines = random.choice(PIECES), source.split(b"\n")
    at = random.randrange(len(lines))
    key, equals, _ = lines[at].partition(b"=")
    lines[at] = key + equals + piece if equals and random.random() < 0.7 else lines[at] + piece
    return b"\n".join(lines)


@dataclass(frozen=True)
class FileFuzzer:
    """Writes mutated files to `path`, and reads each of them."""

    target: str
    source: bytes
    path: Path
    read: Callable[[], object]
    refusal: type[Exception]

    def fuzz(self, count: int, random: Random, progress: Callable[[], None]) -> None:
        for _ in range(count):
            content = mutated_file(self.source, random)
            self.path.write_bytes(content)
            self._read(content)
            progress()

    def _read(self, content: bytes) -> None:
        try:
            self.read()
        except self.refusal as error:
            if not str(error):
                raise FuzzFailure(self.target, content, "a refusal without a message") from error
        except Exception as error:
            raise FuzzFailure(self.target, content, f"{type(error).__name__} {error}") from error


def fuzz_access_files(count: int, random: Random, folder: Path, progress: Callable[[], None]) -> None:
    path, default = folder / "access.toml", NamespaceLimits(0.0, Quota())
    fuzzer = FileFuzzer("access file", ACCESS_FILE, path, lambda: read_access_file(path, default), InvalidAccessFile)
    fuzzer.fuzz(count, random, progress)


def fuzz_settings_files(count: int, random: Random, folder: Path, progress: Callable[[], None]) -> None:
    """Read each file, some of them with an arbitrary flag."""
    path = folder / "settings.toml"

    def read() -> None:
        flags = {"config": str(path)}
        if random.random() < 0.2:
            flags[random.choice(SETTING_NAMES)] = random.choice(PIECES).decode(errors="replace")
        load_settings(flags, {})

    FileFuzzer("settings file", settings_file(), path, read, InvalidSettings).fuzz(count, random, progress)
