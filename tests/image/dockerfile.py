"""Parser of the last stage of the Dockerfile: command, user, environment, volumes."""

import json
import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Dockerfile:
    text: str

    @classmethod
    def read(cls) -> "Dockerfile":
        return cls((ROOT / "Dockerfile").read_text())

    @cached_property
    def instructions(self) -> list[tuple[str, str]]:
        """Return name and arguments of each instruction of the last stage, in order."""
        lines = [line for line in self.text.splitlines() if not line.lstrip().startswith("#")]
        joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
        parted = [line.split(maxsplit=1) for line in joined.splitlines() if line.strip()]
        last = max(at for at, words in enumerate(parted) if words[0] == "FROM")
        return [(words[0], words[1]) for words in parted[last:]]

    def all(self, name: str) -> Iterator[str]:
        return (rest for called, rest in self.instructions if called == name)

    def one(self, name: str) -> str:
        (rest,) = self.all(name)
        return rest

    @property
    def environment(self) -> dict[str, str]:
        return dict(pair.split("=", 1) for rest in self.all("ENV") for pair in shlex.split(rest))

    @property
    def user(self) -> tuple[int, int]:
        uid, gid = self.one("USER").split(":")
        return int(uid), int(gid)

    @property
    def command(self) -> list[str]:
        """Return ENTRYPOINT and CMD, which must have the exec form."""
        return [*json.loads(self.one("ENTRYPOINT")), *json.loads(self.one("CMD"))]

    @property
    def entrypoint(self) -> list[str]:
        return list(json.loads(self.one("ENTRYPOINT")))

    @property
    def volumes(self) -> list[str]:
        return list(json.loads(self.one("VOLUME")))

    @property
    def runtime_prefix(self) -> str:
        """Return the path of the runtime tree."""
        (prefix,) = re.findall(r"image/build runtime (\S+)", self.text)
        return str(prefix)
