"""The sidecars that scenarios run against, started when first asked for."""

import socket
import tempfile
import threading
from pathlib import Path
from typing import Any, Self

import yaml

from conductor.access import Access
from conductor.certificates import write_certificates
from conductor.process import NotStarted, SidecarProcess
from conductor.values import filled

FILE = Path(__file__).parents[1] / "fixtures.yaml"


class NotPossible(Exception):
    """This machine cannot give a scenario what it needs."""


class Sidecar:
    """One started fixture."""

    def __init__(self, name: str, described: dict[str, Any], broken: str = "") -> None:
        self._broken = broken
        self._folder = tempfile.TemporaryDirectory(prefix="msc")
        folder = Path(self._folder.name)
        self.files = write_certificates(folder) if "certificates" in described else {}
        self.access = self._access(folder, described)
        self.process = self._started(name, folder, described)
        self.address = self.process.address if self.process else _free_address()
        self.client: dict[str, Any] = filled(described.get("client", {}), self.variables())

    def variables(self) -> dict[str, Any]:
        """What scenarios may name."""
        return {
            "tokens": self.access.tokens if self.access else {},
            "files": self.files,
            "folder": self._folder.name,
            "address": getattr(self, "address", ""),
        }

    def close(self) -> None:
        if self.process:
            self.process.kill()
        self._folder.cleanup()

    def _access(self, folder: Path, described: dict[str, Any]) -> Access | None:
        both = described.get("certificates") == "both"
        if not both and "tokens" not in described:
            return None
        return Access(folder / "access.toml", described.get("tokens", {}), described.get("quotas", {}), both)

    def _started(self, name: str, folder: Path, described: dict[str, Any]) -> SidecarProcess | None:
        if "flags" not in described:
            return None
        listen = f"unix:{folder}/sock" if described.get("listen") == "unix" else "127.0.0.1:0"
        disk = described.get("small_disk_bytes", 0)
        try:
            flags = [*described["flags"], *self._more_flags(described)]
            return SidecarProcess(folder, listen, flags, small_disk=disk, broken=self._broken)
        except NotStarted as error:
            if disk:
                raise NotPossible(f"no small disk can be mounted here: {error}") from error
            raise NotStarted(f"{name}: {error}") from error

    def _more_flags(self, described: dict[str, Any]) -> list[str]:
        flags = ["--access-file", str(self.access.file)] if self.access else []
        if self.files:
            flags += ["--tls-certificate-file", self.files["server_certificate"]]
            flags += ["--tls-key-file", self.files["server_key"]]
        return [*flags, "--tls-client-ca-file", self.files["ca"]] if described.get("certificates") == "both" else flags


class Fixtures:
    """Thread-safe: several languages are played against the same sidecars. `broken` names an RPC that they break."""

    def __init__(self, broken: str = "") -> None:
        self._broken = broken
        self._described: dict[str, Any] = yaml.safe_load(FILE.read_text())
        self._shared: dict[str, Sidecar] = {}
        self._starting = threading.Lock()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for sidecar in self._shared.values():
            sidecar.close()

    def shared(self, name: str) -> Sidecar:
        with self._starting:
            if name not in self._shared:
                self._shared[name] = self.alone(name)
            return self._shared[name]

    def alone(self, name: str) -> Sidecar:
        """The caller closes it."""
        return Sidecar(name, self._described[name], self._broken)


def _free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"
