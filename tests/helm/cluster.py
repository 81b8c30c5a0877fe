"""A real kube-apiserver and etcd without nodes: objects are admitted and stored, no pod runs."""

import json
import socket
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

import urllib3
import yaml

from tests.helm.rendering import TOOLS, Manifest

START_SECONDS = 120
STOP_SECONDS = 20
TOKEN = "for-this-test-only"


@dataclass(frozen=True)
class Answer:
    status: int
    body: Manifest

    def admitted(self) -> Manifest:
        assert self.status in (200, 201), self.body.get("message")
        return self.body


class Cluster:
    """An API server, started by `with`; `kubeconfig` is for Helm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.kubeconfig = folder / "kubeconfig"
        # The server makes it at its first start.
        self.certificate = folder / "certificates" / "apiserver.crt"
        self._http = urllib3.PoolManager(ca_certs=str(self.certificate))
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        etcd, peer, port = free_port(), free_port(), free_port()
        self.url = f"https://127.0.0.1:{port}"
        try:
            self._start_etcd(etcd, peer)
            self._start_apiserver(etcd, port)
            wait_until(self._is_ready)
        except BaseException:
            self._stop()
            raise
        self._write_kubeconfig()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop()

    def _stop(self) -> None:
        self._http.clear()
        for process in reversed(self._processes):
            process.terminate()
            process.wait(STOP_SECONDS)

    def _start_etcd(self, port: int, peer: int) -> None:
        client_url, peer_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer}"
        self._start(
            "etcd",
            f"--data-dir={self.folder / 'etcd'}",
            f"--listen-client-urls={client_url}",
            f"--advertise-client-urls={client_url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=default={peer_url}",
            "--unsafe-no-fsync",
        )

    def _start_apiserver(self, etcd: int, port: int) -> None:
        key = self.folder / "service-accounts.pem"
        subprocess.run(["openssl", "genrsa", "-out", key, "2048"], check=True, capture_output=True)
        tokens = self.folder / "tokens.csv"
        tokens.write_text(f'{TOKEN},admin,admin,"system:masters"\n')
        self._start(
            "kube-apiserver",
            f"--etcd-servers=http://127.0.0.1:{etcd}",
            "--bind-address=127.0.0.1",
            f"--secure-port={port}",
            f"--cert-dir={self.folder / 'certificates'}",
            f"--token-auth-file={tokens}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={key}",
            f"--service-account-signing-key-file={key}",
            "--service-cluster-ip-range=10.0.0.0/24",
        )

    def _start(self, name: str, *flags: str) -> None:
        binary = TOOLS / name
        assert binary.exists(), f"there is no {binary}: `make test-apiserver` builds it"
        with (self.folder / f"{name}.log").open("wb") as log:
            self._processes.append(subprocess.Popen([binary, *flags], stdout=log, stderr=log))

    def _write_kubeconfig(self) -> None:
        cluster = {"server": self.url, "certificate-authority": str(self.certificate)}
        self.kubeconfig.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "clusters": [{"name": "test", "cluster": cluster}],
                    "users": [{"name": "admin", "user": {"token": TOKEN}}],
                    "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
                    "current-context": "test",
                }
            )
        )

    def _is_ready(self) -> bool:
        assert all(process.poll() is None for process in self._processes), self.logs()
        try:
            return self.certificate.exists() and self._call("GET", "/readyz").status == 200
        except urllib3.exceptions.HTTPError:
            return False

    def logs(self) -> str:
        return "\n".join(path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.log"))

    def get(self, path: str) -> Manifest:
        return self.call("GET", path).admitted()

    def create(self, path: str, manifest: Manifest) -> Answer:
        return self.call("POST", path, manifest)

    def call(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> Answer:
        answer = self._call(method, path, body, kind)
        return Answer(answer.status, json.loads(answer.data))

    def _call(
        self, method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> urllib3.BaseHTTPResponse:
        headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": kind}
        sent = None if body is None else json.dumps(body)
        return self._http.request(method, self.url + path, body=sent, headers=headers, retries=False, timeout=30)


def wait_until(holds: Callable[[], bool], seconds: float = START_SECONDS) -> None:
    ends = monotonic() + seconds
    while not holds():
        assert monotonic() < ends, f"{holds} does not hold after {seconds} seconds"
        sleep(0.2)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
