"""A sidecar process with an access file that tests rewrite while it runs."""

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

UNAUTHENTICATED_CODE = grpc.StatusCode.UNAUTHENTICATED


@dataclass
class RestrictedSidecar:
    """All callers share the channel of its client, as behind a proxy."""

    sidecar: SidecarProcess
    client: Client
    file: Path
    grants: list[Grant] = field(default_factory=list)

    @property
    def channel(self) -> Any:
        return self.client.channel

    def ask(self, method: str, namespace: str, grant: Grant | None, **fields: Any) -> Answer:
        """Make one minimal call."""
        token = grant.text if grant else None
        return call(self.channel, method, [minimal(method, namespace, **fields).SerializeToString()], token)

    def admits(self, grant: Grant) -> bool:
        return self.ask("Count", grant.namespaces[0], grant).code is not UNAUTHENTICATED_CODE

    def add_grants(self, *grants: Grant) -> None:
        """Add these to the file, and wait until the sidecar has read it."""
        self.grants = [*self.grants, *grants]
        self._rewrite(lambda: all(self.admits(grant) for grant in grants))

    def revoke(self, *grants: Grant) -> None:
        self.grants = [grant for grant in self.grants if grant not in grants]
        self._rewrite(lambda: not any(self.admits(grant) for grant in grants))

    def change(self, old: Grant, new: Grant, seen: Callable[[], bool]) -> None:
        """Change the entry of a token, and wait until the change is effective."""
        self.grants = [new if grant == old else grant for grant in self.grants]
        self._rewrite(seen)

    def _rewrite(self, read: Callable[[], bool]) -> None:
        write_access_file(self.file, self.grants)
        until(read)


@contextmanager
def restricted_sidecar(folder: Path, grants: list[Grant], *flags: str) -> Iterator[RestrictedSidecar]:
    file = write_access_file(folder / "access.toml", grants)
    with (
        SidecarProcess(folder / "data", "--access-file", str(file), *flags) as sidecar,
        sidecar.client() as client,
    ):
        yield RestrictedSidecar(sidecar, client, file, list(grants))
        assert sidecar.stop() == 0
