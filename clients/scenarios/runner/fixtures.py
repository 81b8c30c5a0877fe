"""The sidecars that scenarios run against, each started on first use."""

import socket
import tempfile
import threading
from pathlib import Path
from typing import Any, Self

import yaml

from runner.access_file import AccessFile
from runner.certificates import write_certificates
from runner.forked_sidecar import ForkServer
from runner.sidecar_process import SidecarProcess, SidecarStartError
from runner.variables import substitute

FILE = Path(__file__).parents[1] / "fixtures.yaml"


class FixtureUnsupported(Exception):
    """This machine cannot provide a fixture."""


class Sidecar:
    """A running fixture."""

    def __init__(self, name: str, spec: dict[str, Any], server: ForkServer, broken: str) -> None:
        self._server = server
        self._broken = broken
        self._folder = tempfile.TemporaryDirectory(prefix="msc")
        folder = Path(self._folder.name)
        self.files = write_certificates(folder) if "certificates" in spec else {}
        self.access = self._access(folder, spec)
        self.process = self._start_process(name, folder, spec)
        self.address = self.process.address if self.process else _free_address()
        self.client: dict[str, Any] = substitute(spec.get("client", {}), self.variables())

    def variables(self) -> dict[str, Any]:
        """Return the variables that scenarios can use."""
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

    def _access(self, folder: Path, spec: dict[str, Any]) -> AccessFile | None:
        both = spec.get("certificates") == "both"
        if not both and "tokens" not in spec:
            return None
        return AccessFile(folder / "access.toml", spec.get("tokens", {}), spec.get("quotas", {}), both)

    def _start_process(self, name: str, folder: Path, spec: dict[str, Any]) -> SidecarProcess | None:
        if "flags" not in spec:
            return None
        listen = f"unix:{folder}/sock" if spec.get("listen") == "unix" else "127.0.0.1:0"
        disk = spec.get("small_disk_bytes", 0)
        try:
            flags = [*spec["flags"], *self._security_flags(spec)]
            return SidecarProcess(self._server, folder, listen, flags, small_disk=disk, broken=self._broken)
        except SidecarStartError as error:
            if disk:
                raise FixtureUnsupported(f"no small disk can be mounted here: {error}") from error
            raise SidecarStartError(f"{name}: {error}") from error

    def _security_flags(self, spec: dict[str, Any]) -> list[str]:
        flags = ["--access-file", str(self.access.file)] if self.access else []
        if self.files:
            flags += ["--tls-certificate-file", self.files["server_certificate"]]
            flags += ["--tls-key-file", self.files["server_key"]]
        return [*flags, "--tls-client-ca-file", self.files["ca"]] if spec.get("certificates") == "both" else flags


class Fixtures:
    """All fixtures. Thread-safe, because variants share sidecars. `broken` names an RPC that the sidecars break."""

    def __init__(self, broken: str = "") -> None:
        self._broken = broken
        self._specs: dict[str, Any] = yaml.safe_load(FILE.read_text())
        self._shared: dict[str, Sidecar] = {}
        self._starting = threading.Lock()
        self._server = ForkServer()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for sidecar in self._shared.values():
            sidecar.close()
        self._server.close()

    def shared(self, name: str) -> Sidecar:
        with self._starting:
            if name not in self._shared:
                self._shared[name] = self.dedicated(name)
            return self._shared[name]

    def dedicated(self, name: str) -> Sidecar:
        """Start a sidecar for one scenario. The caller closes it."""
        return Sidecar(name, self._specs[name], self._server, self._broken)


def _free_address() -> str:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"127.0.0.1:{listener.getsockname()[1]}"
