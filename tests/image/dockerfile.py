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
class ImageConfig:
    """The part of an image's configuration that an engine needs to run it."""

    environment: dict[str, str]
    user: tuple[int, int]
    entrypoint: list[str]
    arguments: list[str]
    working_dir: str
    stop_signal: str
    volumes: list[str]

    @property
    def command(self) -> list[str]:
        return [*self.entrypoint, *self.arguments]


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
    def config(self) -> ImageConfig:
        """Return the configuration of the image. ENTRYPOINT, CMD and VOLUME must have the exec form."""
        return ImageConfig(
            environment=self.environment,
            user=self.user,
            entrypoint=json.loads(self.one("ENTRYPOINT")),
            arguments=json.loads(self.one("CMD")),
            working_dir=self.one("WORKDIR"),
            stop_signal=self.one("STOPSIGNAL"),
            volumes=json.loads(self.one("VOLUME")),
        )

    @property
    def base(self) -> tuple[str, str]:
        """Return the version of Python and the suite of Debian of the base image."""
        ((version, suite),) = re.findall(r"^ARG PYTHON=python:([\d.]+)-slim-(\w+)$", self.text, flags=re.MULTILINE)
        return version, suite

    @property
    def runtime_prefix(self) -> str:
        """Return the path of the runtime tree."""
        (prefix,) = re.findall(r"image/build runtime (\S+)", self.text)
        return str(prefix)
