"""Access control over HTTP is that of gRPC: tokens, namespaces, roles, certificates, and the audit log."""

import http.client
import json
import socket
import ssl
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from memsidecar.access.policy import AccessRole
from memsidecar.http.listener import MAX_CONNECTIONS
from tests.access.access_files import Grant
from tests.access.restricted_sidecar import RestrictedSidecar, restricted_sidecar
from tests.http.connect_client import END, envelope, error_in, path_of, post, stream
from tests.http.http_client import HTTP, HttpClient
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS, until
from tests.tls.authority import Authority, Pair
from tests.tls.server import MountedSecret, files_of, tls_flags, tls_sidecar

SERVERS, CALLERS = Authority.new("servers"), Authority.new("callers")
SPIFFE = "spiffe://cluster.local/ns/billing/sa/agent"
READER = Grant("reader", ("shop",), AccessRole.READ)
COUNT = b'{"namespace":"shop","session_id":"s"}'


@pytest.fixture(scope="module")
def restricted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestrictedSidecar]:
    with restricted_sidecar(tmp_path_factory.mktemp("restricted"), [READER], *HTTP, "--audit", "all") as running:
        yield running


@pytest.fixture
def client(restricted: RestrictedSidecar) -> Iterator[HttpClient]:
    with HttpClient(restricted.sidecar.ready["http_listen"]) as connected:
        yield connected


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_a_token_is_required_and_a_name_of_the_host_is_not(client: HttpClient) -> None:
    refused = post(client, "Count", COUNT)
    assert refused.status == 401 and refused.headers["www-authenticate"] == "Bearer"
    assert post(client, "Count", COUNT, **bearer("wrong")).status == 401
    assert post(client, "Count", COUNT, **bearer(READER.text), Host="memory.example").status == 200
    assert client.get("/healthz").status == 200


def test_roles_and_namespaces_hold(client: HttpClient) -> None:
    elsewhere = post(client, "Count", b'{"namespace":"other","session_id":"s"}', **bearer(READER.text))
    assert (elsewhere.status, error_in(elsewhere.json()).code) == (403, "permission_denied")
    assert post(client, "Clear", COUNT, **bearer(READER.text)).status == 403


def test_a_request_without_a_token_is_refused_before_its_body_is_read(restricted: RestrictedSidecar) -> None:
    with HttpClient(restricted.sidecar.ready["http_listen"]) as caller:
        caller.begin(path_of("Count"), length=1_000, **{"Content-Type": "application/json", "Expect": "100-continue"})
        assert caller.answer().status == 401


def test_a_stream_requires_a_token_too(client: HttpClient) -> None:
    ((flags, end),) = stream(client, "Watch", envelope(COUNT))
    assert (flags, end["error"]["code"]) == (END, "unauthenticated")


def test_calls_are_in_the_audit_log(restricted: RestrictedSidecar, client: HttpClient) -> None:
    post(client, "Count", b'{"namespace":"shop","session_id":"audited"}', **bearer(READER.text))
    until(lambda: "session=audited" in restricted.sidecar.log())
    line = next(line for line in restricted.sidecar.log().splitlines() if "session=audited" in line)
    assert "who=reader" in line and "peer=ipv4:127.0.0.1:" in line and "code=OK" in line


class HttpsCaller:
    """Opens a connection for each request, and may present a certificate."""

    def __init__(self, address: str, folder: Path, shown: Pair | None = None) -> None:
        host, _, port = address.rpartition(":")
        self._address = (host, int(port))
        self._context = ssl.create_default_context(cadata=SERVERS.pem.decode())
        self._context.check_hostname = False
        if shown is not None:
            self._context.load_cert_chain(*shown.write(folder, "caller"))

    def count(self, namespace: str) -> int:
        """Return the status of a call."""
        connection = http.client.HTTPSConnection(*self._address, context=self._context, timeout=HANG_SECONDS)
        with closing(connection):
            body = json.dumps({"namespace": namespace, "session_id": "s"})
            connection.request("POST", path_of("Count"), body, {"Content-Type": "application/json"})
            return connection.getresponse().status

    def limit_to_tls_1_2(self) -> None:
        self._context.maximum_version = ssl.TLSVersion.TLSv1_2

    def serial(self) -> int:
        """Return the serial number of the server's certificate."""
        with self._connected() as connection:
            certificate: Any = connection.getpeercert()
            return int(certificate["serialNumber"], 16)

    def session(self) -> ssl.SSLSession | None:
        """Make a call; return the session that the server offers to resume."""
        with self._connected() as connection:
            _probe(connection)
            return connection.session

    def is_resumed(self, session: ssl.SSLSession | None) -> bool:
        with self._connected(session) as connection:
            _probe(connection)
            return bool(connection.session_reused)

    def is_accepted(self, session: ssl.SSLSession | None = None) -> bool:
        """Return whether a connection is made, and answers."""
        try:
            with self._connected(session) as connection:
                return _probe(connection).startswith(b"HTTP/1.1 200")
        except (ssl.SSLError, ConnectionError):
            return False

    @contextmanager
    def _connected(self, session: ssl.SSLSession | None = None) -> Iterator[ssl.SSLSocket]:
        with (
            socket.create_connection(self._address, timeout=HANG_SECONDS) as plain,
            self._context.wrap_socket(plain, session=session) as connection,
        ):
            yield connection


def _probe(connection: ssl.SSLSocket) -> bytes:
    """Ask whether the process lives. With TLS 1.3 a client learns only now whether its certificate is accepted."""
    connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    return connection.recv(65_536)


def test_a_client_certificate_names_its_caller(tmp_path: Path) -> None:
    access = tmp_path / "access.toml"
    access.write_text(f'[[certificates]]\nname = "agent"\nuri = "{SPIFFE}"\nnamespaces = ["billing"]\nrole = "read"\n')
    flags = ("--access-file", str(access), *HTTP)
    with tls_sidecar(tmp_path, SERVERS.server(), *flags, client_ca=CALLERS) as sidecar:
        address = sidecar.ready["http_listen"]
        agent = HttpsCaller(address, tmp_path, CALLERS.client(uri=SPIFFE))
        assert (agent.count("billing"), agent.count("research")) == (200, 403)
        assert HttpsCaller(address, tmp_path, CALLERS.client(uri=f"{SPIFFE}2")).count("billing") == 401
        for stranger in (None, SERVERS.client(uri=SPIFFE)):
            with pytest.raises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected)):
                HttpsCaller(address, tmp_path, stranger).count("billing")


def test_certificates_are_exchanged_while_the_listener_runs(tmp_path: Path) -> None:
    old, new = SERVERS.server(), SERVERS.server()
    secret = MountedSecret(tmp_path / "certificates", files_of(old))
    with SidecarProcess(tmp_path / "data", *tls_flags(secret), *HTTP) as sidecar:
        caller = HttpsCaller(sidecar.ready["http_listen"], tmp_path)
        assert caller.serial() == old.serial
        secret.swap(files_of(new))
        until(lambda: caller.serial() == new.serial)
        assert caller.count("default") == 200


def test_a_session_of_a_caller_whose_authority_was_removed_is_not_resumed(tmp_path: Path) -> None:
    pair, after = SERVERS.server(), Authority.new("callers from now on")
    secret = MountedSecret(tmp_path / "certificates", files_of(pair, CALLERS.pem))
    with SidecarProcess(tmp_path / "data", *tls_flags(secret, mutual=True), *HTTP) as sidecar:
        address, shown = sidecar.ready["http_listen"], CALLERS.client(uri=SPIFFE)
        caller = HttpsCaller(address, tmp_path, shown)
        session = caller.session()
        assert not caller.is_resumed(session)
        secret.swap(files_of(pair, after.pem))
        until(lambda: not caller.is_accepted())
        assert not caller.is_accepted(session)


def test_callers_with_certificates_need_tls_1_3(tmp_path: Path) -> None:
    """With TLS 1.2 they could resume a session, which no setting of Python's prevents."""
    with tls_sidecar(tmp_path, SERVERS.server(), *HTTP, client_ca=CALLERS) as sidecar:
        caller = HttpsCaller(sidecar.ready["http_listen"], tmp_path, CALLERS.client(uri=SPIFFE))
        assert caller.is_accepted()
        caller.limit_to_tls_1_2()
        assert not caller.is_accepted()


def test_connections_without_a_handshake_are_bounded(tmp_path: Path) -> None:
    """The last ones are closed at once. When the others are gone, clients get in again."""
    with tls_sidecar(tmp_path, SERVERS.server(), *HTTP) as sidecar:
        host, _, port = sidecar.ready["http_listen"].rpartition(":")
        silent = [socket.create_connection((host, int(port)), timeout=HANG_SECONDS) for _ in range(MAX_CONNECTIONS + 1)]
        try:
            with suppress(ConnectionError):
                assert silent[-1].recv(1) == b""
        finally:
            for connection in silent:
                connection.close()
        until(lambda: HttpsCaller(sidecar.ready["http_listen"], tmp_path).is_accepted())
