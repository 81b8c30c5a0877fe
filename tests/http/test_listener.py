"""The HTTP listener: addresses, probes, limits of a connection, and requests that web pages cause."""

import signal
import socket
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.http.http_client import HTTP, HttpClient, raw_exchange
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_probes_are_answered_without_credentials(http: HttpClient, path: str) -> None:
    answer = http.get(path)
    assert (answer.status, answer.json()) == (200, {"status": "SERVING"})
    assert answer.headers["content-type"] == "application/json"
    assert http.send("HEAD", path).body == b""


def test_other_paths_and_methods_are_refused(http: HttpClient) -> None:
    assert http.get("/nothing").status == 404
    refused = http.send("POST", "/healthz", b"{}")
    assert refused.status == 405 and refused.headers["allow"] == "GET, HEAD"


def test_a_draining_sidecar_is_live_and_not_ready(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP, executed=True) as sidecar, sidecar.client() as client:
        stream = client.memory.AddStream(iter(signal.pause, None))  # holds the drain
        with HttpClient(sidecar.ready["http_listen"]) as http:
            assert http.get("/readyz").status == 200
            sidecar.process.send_signal(signal.SIGTERM)
            while http.get("/readyz").status != 503:
                pass
            # A client that sent its next request on a closed connection would fail.
            assert http.get("/readyz").headers["connection"] == "close"
            assert http.get("/healthz").status == 200
        stream.cancel()


def test_a_unix_socket_is_served(data_dir: Path) -> None:
    with TemporaryDirectory(prefix="mem") as folder:
        path = f"{folder}/http.sock"
        with SidecarProcess(data_dir, "--http-listen", f"unix:{path}") as sidecar:
            assert sidecar.ready["http_listen"] == f"unix:{path}"
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(HANG_SECONDS)
                connection.connect(path)
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert connection.recv(65_536).startswith(b"HTTP/1.1 200 ")
            assert sidecar.stop() == 0
        assert not Path(path).exists()


def test_headers_over_the_limit_get_a_whole_431(http_sidecar: SidecarProcess) -> None:
    for header_count in (17, 500):
        body = b"x" * 200_000
        request = b"POST /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n" % len(body)
        padding = b"".join(b"X-%d: %s\r\n" % (at, b"y" * 1_000) for at in range(header_count))
        sent = request + padding + b"Connection: close\r\n\r\n" + body
        received = raw_exchange(http_sidecar.ready["http_listen"], sent)
        assert received.startswith(b"HTTP/1.1 431 ") and b"16384 bytes of headers" in received


@pytest.mark.parametrize(
    "request_bytes",
    [
        b"\x16\x03\x01\x02\x00\x01\x00",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    ],
)
def test_malformed_requests_get_a_whole_400(http_sidecar: SidecarProcess, request_bytes: bytes) -> None:
    received = raw_exchange(http_sidecar.ready["http_listen"], request_bytes + b"\r\n\r\n")
    assert received.startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[broken"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:7680", "Origin": "http://127.0.0.1.evil.example:7680"},
        {"Host": ""},
    ],
)
def test_requests_of_foreign_pages_are_refused(http: HttpClient, headers: dict[str, str]) -> None:
    assert http.get("/healthz", **headers).status == 403


def test_a_link_on_a_page_of_another_site_may_be_followed(http: HttpClient) -> None:
    headers = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}
    found = [http.get("/", **headers, **{"Sec-Fetch-Dest": shown}).status for shown in ("document", "iframe", "script")]
    assert found == [200, 403, 403]


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1:7680", "[::1]:7680", "10.1.2.3"])
def test_local_names_and_numbers_are_served(http: HttpClient, host: str) -> None:
    assert http.get("/healthz", Host=host, Origin=f"http://{host}").status == 200


def test_a_configured_host_name_is_served(data_dir: Path) -> None:
    with (
        SidecarProcess(data_dir, *HTTP, "--http-hosts", "memory.example,Other") as sidecar,
        HttpClient(sidecar.ready["http_listen"]) as http,
    ):
        found = [http.get("/healthz", Host=host).status for host in ("memory.example:80", "other", "x.other")]
        assert found == [200, 200, 403]
