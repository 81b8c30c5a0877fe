"""A sidecar with TLS, and callers with and without certificates."""

import socket
import ssl
from collections.abc import Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import grpc
from cryptography import x509

from memsidecar.v1 import memory_pb2, memory_pb2_grpc
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS
from tests.tls.authority import HOST, Authority, Pair

CALL_SECONDS = HANG_SECONDS
FIRST_SECONDS = HANG_SECONDS
COUNT = memory_pb2.CountRequest(session_id="s")


class MountedSecret:
    """A secret as Kubernetes mounts it: links into a folder that is swapped atomically."""

    def __init__(self, folder: Path, files: Mapping[str, bytes]) -> None:
        self.folder = folder
        self._generation = 0
        folder.mkdir()
        self.swap(files)
        for name in files:
            (folder / name).symlink_to(Path("..data") / name)

    def swap(self, files: Mapping[str, bytes]) -> None:
        self._generation += 1
        generation = self.folder / f"..{self._generation}"
        generation.mkdir()
        for name, data in files.items():
            (generation / name).write_bytes(data)
        fresh = self.folder / "..data_tmp"
        fresh.symlink_to(generation.name)
        fresh.replace(self.folder / "..data")

    def __getitem__(self, name: str) -> Path:
        return self.folder / name


def replace_plainly(file: Path, data: bytes) -> None:
    fresh = file.with_name(f".{file.name}.new")
    fresh.write_bytes(data)
    fresh.replace(file)


def files_of(pair: Pair, client_ca: bytes | None = None) -> dict[str, bytes]:
    files = {"tls.crt": pair.certificate_pem, "tls.key": pair.key_pem}
    return files | ({"ca.crt": client_ca} if client_ca else {})


def tls_flags(folder: Path | MountedSecret, mutual: bool = False) -> tuple[str, ...]:
    root = folder.folder if isinstance(folder, MountedSecret) else folder
    flags = ("--tls-certificate-file", str(root / "tls.crt"), "--tls-key-file", str(root / "tls.key"))
    return (*flags, "--tls-client-ca-file", str(root / "ca.crt")) if mutual else flags


def tls_sidecar(folder: Path, pair: Pair, *flags: str, client_ca: Authority | None = None) -> SidecarProcess:
    certificates = MountedSecret(folder / "certificates", files_of(pair, client_ca.pem if client_ca else None))
    return SidecarProcess(folder / "data", *tls_flags(certificates, mutual=client_ca is not None), *flags)


class TlsClient:
    """A gRPC client that trusts one authority, and presents a certificate if it has one."""

    def __init__(self, address: str, trusted: bytes, shown: Pair | None = None, token: str = "") -> None:
        credentials = grpc.ssl_channel_credentials(
            trusted, shown.key_pem if shown else None, shown.certificate_pem if shown else None
        )
        self._metadata = (("authorization", f"Bearer {token}"),) if token else ()
        options = (("grpc.use_local_subchannel_pool", 1), ("grpc.ssl_target_name_override", HOST))
        self.channel = grpc.secure_channel(address, credentials, options=options)
        self._stub: Any = memory_pb2_grpc.MemoryServiceStub(self.channel)  # type: ignore[no-untyped-call]

    def count(self, namespace: str = "", seconds: float = CALL_SECONDS) -> int:
        request = memory_pb2.CountRequest(session_id="s", namespace=namespace)
        answer = self._stub.Count(request, timeout=seconds, metadata=self._metadata)
        return int(answer.stats.message_count)

    def is_refused(self, namespace: str = "") -> str:
        """Return the status code of a call that must fail."""
        try:
            self.count(namespace, FIRST_SECONDS)
        except grpc.RpcError as error:
            return str(error.code().name)
        raise AssertionError("the call was expected to fail")

    def close(self) -> None:
        self.channel.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def trusting(authority: Authority) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata=authority.pem.decode())
    context.set_alpn_protocols(["h2"])
    return context


@contextmanager
def handshake(address: str, context: ssl.SSLContext) -> Any:
    host, port = address.rsplit(":", 1)
    with (
        socket.create_connection((host, int(port)), timeout=FIRST_SECONDS) as plain,
        context.wrap_socket(plain, server_hostname=HOST) as encrypted,
    ):
        yield encrypted


def serial_seen(address: str, authority: Authority) -> int:
    """Return the serial of the certificate on a new connection."""
    with handshake(address, trusting(authority)) as encrypted:
        return x509.load_der_x509_certificate(encrypted.getpeercert(binary_form=True)).serial_number
