"""The TLS handshake: versions, chains, and rejected connections."""

import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memsidecar.v1 import memory_pb2_grpc
from tests.support.process import SidecarProcess
from tests.tls.authority import EXPIRED, NOT_YET, Authority, Pair, Validity, rsa_key
from tests.tls.server import COUNT, FIRST_SECONDS, TlsClient, handshake, serial_seen, tls_sidecar, trusting

AUTHORITY = Authority.new()
OTHER = Authority.new("other authority")


@pytest.fixture(scope="module")
def pair() -> Pair:
    return AUTHORITY.server()


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory, pair: Pair) -> Iterator[SidecarProcess]:
    with tls_sidecar(tmp_path_factory.mktemp("tls"), pair) as running:
        yield running


def test_a_caller_who_trusts_the_authority_is_answered(sidecar: SidecarProcess, pair: Pair) -> None:
    with TlsClient(sidecar.address, AUTHORITY.pem) as client:
        assert client.count() == 0
    assert serial_seen(sidecar.address, AUTHORITY) == pair.serial


def test_the_connection_is_http2_over_tls_1_2_or_later(sidecar: SidecarProcess) -> None:
    with handshake(sidecar.address, trusting(AUTHORITY)) as encrypted:
        assert encrypted.selected_alpn_protocol() == "h2"
        assert encrypted.version() in ("TLSv1.2", "TLSv1.3")


def test_tls_1_2_is_supported(sidecar: SidecarProcess) -> None:
    context = trusting(AUTHORITY)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with handshake(sidecar.address, context) as encrypted:
        assert encrypted.version() == "TLSv1.2"


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion")
@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1])
def test_older_versions_are_refused(sidecar: SidecarProcess, version: ssl.TLSVersion) -> None:
    context = trusting(AUTHORITY)
    # Else our own library would refuse first.
    context.set_ciphers("ALL:@SECLEVEL=0")
    context.minimum_version = context.maximum_version = version
    with pytest.raises(ssl.SSLError) as refused, handshake(sidecar.address, context):
        pass
    # The server hangs up, with or without an alert.
    assert any(word in str(refused.value.reason) for word in ("ALERT", "EOF"))


@pytest.mark.skipif(shutil.which("openssl") is None, reason="NOT TESTED: there is no openssl")
def test_openssl_verifies_the_chain(sidecar: SidecarProcess, tmp_path: Path) -> None:
    trusted = tmp_path / "authority.pem"
    trusted.write_bytes(AUTHORITY.pem)
    command = ["openssl", "s_client", "-connect", sidecar.address, "-CAfile", str(trusted), "-alpn", "h2"]
    shown = subprocess.run(
        [*command, "-verify_return_error"], input=b"", capture_output=True, timeout=20, check=True
    ).stdout
    assert b"Verify return code: 0 (ok)" in shown
    assert b"ALPN protocol: h2" in shown


def test_a_caller_without_tls_is_refused(sidecar: SidecarProcess) -> None:
    with grpc.insecure_channel(sidecar.address) as channel:
        stub = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        with pytest.raises(grpc.RpcError) as refused:
            stub.Count(COUNT, timeout=FIRST_SECONDS)
    assert refused.value.code().name == "UNAVAILABLE"


def test_a_caller_that_trusts_another_authority_fails(sidecar: SidecarProcess) -> None:
    with TlsClient(sidecar.address, OTHER.pem) as client:
        assert client.is_refused() == "UNAVAILABLE"


def test_the_health_listener_has_no_tls(sidecar: SidecarProcess) -> None:
    with grpc.insecure_channel(sidecar.ready["health_listen"]) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        answer = stub.Check(health_pb2.HealthCheckRequest(), timeout=FIRST_SECONDS)
    assert answer.status == health_pb2.HealthCheckResponse.SERVING


@pytest.mark.parametrize("validity", [EXPIRED, NOT_YET], ids=["expired", "not yet valid"])
def test_callers_reject_an_expired_or_future_certificate(tmp_path: Path, validity: Validity) -> None:
    """The sidecar starts: its own clock may be wrong."""
    pair = AUTHORITY.server(validity)
    with tls_sidecar(tmp_path, pair) as sidecar, TlsClient(sidecar.address, AUTHORITY.pem) as client:
        assert client.is_refused() == "UNAVAILABLE"


PAIRS: dict[str, Callable[[], Pair]] = {
    "RSA": lambda: AUTHORITY.server(key=rsa_key()),
    "chain": lambda: AUTHORITY.intermediate("first").intermediate("second").server(),
}


@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS)
def test_other_keys_and_chains_are_verified(tmp_path: Path, make: Callable[[], Pair]) -> None:
    pair = make()
    with tls_sidecar(tmp_path, pair) as sidecar, TlsClient(sidecar.address, AUTHORITY.pem) as client:
        assert client.count() == 0
        assert serial_seen(sidecar.address, AUTHORITY) == pair.serial


def test_a_unix_socket_has_tls_too(tmp_path: Path) -> None:
    address = f"unix:{tmp_path / 'sidecar.sock'}"
    with (
        tls_sidecar(tmp_path, AUTHORITY.server(), "--listen", address) as sidecar,
        TlsClient(sidecar.address, AUTHORITY.pem) as client,
    ):
        assert client.count() == 0
        with grpc.insecure_channel(sidecar.address) as channel:
            stub = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
            with pytest.raises(grpc.RpcError):
                stub.Count(COUNT, timeout=FIRST_SECONDS)
