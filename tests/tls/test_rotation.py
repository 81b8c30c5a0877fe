"""Certificates are rotated without a failed call."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc
import pytest

from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS
from tests.tls.authority import Authority, Pair, ec_key, key_pem
from tests.tls.server import MountedSecret, TlsClient, files_of, replace_plainly, serial_seen, tls_flags

AUTHORITY, CALLERS = Authority.new(), Authority.new("callers")
NOTICED_SECONDS = HANG_SECONDS
ROUNDS = 3
LOOKED_SECONDS = 2.5  # two looks at the files, and a little


def wait_until(what: Callable[[], bool]) -> bool:
    give_up = time.monotonic() + NOTICED_SECONDS
    while time.monotonic() < give_up:
        if what():
            return True
        time.sleep(0.1)
    return False


class Callers:
    """Callers that stay connected, and callers that connect for each call."""

    def __init__(self, address: str, staying: int = 3, coming: int = 2) -> None:
        self.calls = 0
        self.failures: list[grpc.RpcError] = []
        self._address = address
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._stay) for _ in range(staying)]
        self._threads += [threading.Thread(target=self._reconnect) for _ in range(coming)]

    def _stay(self) -> None:
        with TlsClient(self._address, AUTHORITY.pem) as client:
            while not self._is_over.wait(0.01):
                self._call(client)

    def _reconnect(self) -> None:
        while not self._is_over.wait(0.01):
            with TlsClient(self._address, AUTHORITY.pem) as client:
                self._call(client)

    def _call(self, client: TlsClient) -> None:
        try:
            client.count()
            self.calls += 1
        except grpc.RpcError as error:
            self.failures.append(error)

    @contextmanager
    def calling(self) -> Iterator[None]:
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._is_over.set()
            for thread in self._threads:
                thread.join(30)


@contextmanager
def mounted_sidecar(folder: Path, pair: Pair) -> Iterator[tuple[SidecarProcess, MountedSecret]]:
    mounted = MountedSecret(folder / "certificates", files_of(pair))
    with SidecarProcess(folder / "data", *tls_flags(mounted)) as sidecar:
        yield sidecar, mounted


def swapped_as_kubernetes_does(mounted: MountedSecret, pair: Pair) -> None:
    mounted.swap(files_of(pair))


def replaced_one_after_the_other(mounted: MountedSecret, pair: Pair) -> None:
    replace_plainly(mounted["tls.crt"], pair.certificate_pem)
    time.sleep(0.3)  # long enough for a look that finds a pair that is none
    replace_plainly(mounted["tls.key"], pair.key_pem)


@pytest.mark.slow
@pytest.mark.parametrize("replace", [swapped_as_kubernetes_does, replaced_one_after_the_other])
def test_no_call_fails_while_certificates_are_replaced(
    tmp_path: Path, replace: Callable[[MountedSecret, Pair], None]
) -> None:
    with mounted_sidecar(tmp_path, AUTHORITY.server()) as (sidecar, mounted):
        callers = Callers(sidecar.address)
        with callers.calling():
            for _ in range(ROUNDS):
                pair = AUTHORITY.server()
                replace(mounted, pair)
                assert wait_until(lambda: serial_seen(sidecar.address, AUTHORITY) == pair.serial)  # noqa: B023
        assert callers.failures == []
        assert callers.calls > 50


def test_the_last_of_many_fast_changes_takes_effect(tmp_path: Path) -> None:
    with mounted_sidecar(tmp_path, AUTHORITY.server()) as (sidecar, mounted):
        pairs = [AUTHORITY.server() for _ in range(40)]
        for pair in pairs:
            mounted.swap(files_of(pair))
            time.sleep(0.03)
        assert wait_until(lambda: serial_seen(sidecar.address, AUTHORITY) == pairs[-1].serial)


BROKEN: dict[str, dict[str, bytes]] = {
    "a key of another": {"tls.key": key_pem(ec_key())},
    "garbage": {"tls.crt": b"garbage"},
    "an encrypted key": {"tls.key": key_pem(ec_key(), b"open sesame")},
    "nothing": {"tls.crt": b"", "tls.key": b""},
}


def test_invalid_files_change_nothing_and_are_logged_once(tmp_path: Path) -> None:
    pair = AUTHORITY.server()
    with mounted_sidecar(tmp_path, pair) as (sidecar, mounted):
        for times, (name, broken) in enumerate(BROKEN.items(), start=1):
            mounted.swap(files_of(AUTHORITY.server()) | broken)
            assert wait_until(lambda: sidecar.log().count("the old one stays") == times), name  # noqa: B023
            assert serial_seen(sidecar.address, AUTHORITY) == pair.serial
            if times == 1:
                time.sleep(LOOKED_SECONDS)
                assert sidecar.log().count("the old one stays") == 1, "logged once, however often it is polled"
            pair = AUTHORITY.server()
            mounted.swap(files_of(pair))
            assert wait_until(lambda: serial_seen(sidecar.address, AUTHORITY) == pair.serial)  # noqa: B023
        assert "PRIVATE KEY" not in sidecar.log()


def test_another_client_ca_takes_effect(tmp_path: Path) -> None:
    server, after = AUTHORITY.server(), Authority.new("callers from now on")
    mounted = MountedSecret(tmp_path / "certificates", files_of(server, CALLERS.pem))
    old, new = CALLERS.client(dns="old.example"), after.client(dns="new.example")

    def is_accepted(shown: Pair) -> bool:
        with TlsClient(sidecar.address, AUTHORITY.pem, shown) as client:
            try:
                return client.count(seconds=5) == 0
            except grpc.RpcError:
                return False

    with (
        SidecarProcess(tmp_path / "data", *tls_flags(mounted, mutual=True)) as sidecar,
        TlsClient(sidecar.address, AUTHORITY.pem, old) as connected,
    ):
        assert connected.count() == 0
        assert not is_accepted(new)
        mounted.swap(files_of(server, CALLERS.pem + after.pem))
        assert wait_until(lambda: is_accepted(new))
        assert is_accepted(old), "both, while callers are given new certificates"
        mounted.swap(files_of(server, after.pem))
        assert wait_until(lambda: not is_accepted(old))
        assert is_accepted(new)
        assert connected.count() == 0, "a connection that was made before stays"
