"""A real sidecar behind an access file that is rewritten while it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc

from tests.access.access_files import Grant, write_access_file
from tests.access.calls import Answer, call, minimal
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import until

NOT_LET_IN = grpc.StatusCode.UNAUTHENTICATED


@dataclass
class Guarded:
    """Its client's channel is shared by all callers, as a proxy would share it."""

    sidecar: SidecarProcess
    client: Client
    file: Path
    grants: list[Grant] = field(default_factory=list)

    @property
    def channel(self) -> Any:
        return self.client.channel

    def ask(self, method: str, namespace: str, grant: Grant | None, **fields: Any) -> Answer:
        """One minimal call."""
        token = grant.text if grant else None
        return call(self.channel, method, [minimal(method, namespace, **fields).SerializeToString()], token)

    def lets_in(self, grant: Grant) -> bool:
        return self.ask("Count", grant.namespaces[0], grant).code is not NOT_LET_IN

    def admit(self, *grants: Grant) -> None:
        """Rewrite the file with these besides, and wait until it is read."""
        self.grants = [*self.grants, *grants]
        self._rewrite(lambda: all(self.lets_in(grant) for grant in grants))

    def take_back(self, *grants: Grant) -> None:
        self.grants = [grant for grant in self.grants if grant not in grants]
        self._rewrite(lambda: not any(self.lets_in(grant) for grant in grants))

    def change(self, old: Grant, new: Grant, seen: Callable[[], bool]) -> None:
        """Say something else of a token, and wait until it is seen."""
        self.grants = [new if grant == old else grant for grant in self.grants]
        self._rewrite(seen)

    def _rewrite(self, read: Callable[[], bool]) -> None:
        write_access_file(self.file, self.grants)
        until(read)


@contextmanager
def guarded(folder: Path, grants: list[Grant], *flags: str) -> Iterator[Guarded]:
    file = write_access_file(folder / "access.toml", grants)
    with (
        SidecarProcess(folder / "data", "--access-file", str(file), *flags) as sidecar,
        sidecar.client() as client,
    ):
        yield Guarded(sidecar, client, file, list(grants))
        assert sidecar.stop() == 0
