"""URL and key of an endpoint: equivalent spellings, validation, and no secrets in messages."""

from base64 import b64encode

import pytest

from memsidecar.endpoint.client import EndpointClient
from memsidecar.endpoint.config import EndpointConfig, parse_address
from memsidecar.endpoint.resilience import InvalidEndpoint
from tests.endpoint.conftest import API
from tests.endpoint.server import Server


@pytest.mark.parametrize("end", ["", "/", "/things", "/things/", "//"])
def test_equivalent_urls_are_equal(end: str) -> None:
    assert parse_address(f"HTTP://Host:80/v1{end}", API).base == "http://host:80/v1"


def test_an_address_of_ip_version_6_keeps_its_brackets() -> None:
    assert parse_address("http://[::1]:8080/v1", API).origin == "http://[::1]:8080"


WRONG = ["", "host/v1", "ftp://host/v1", "http://", "http://host:99999/v1", "http://host:x/", "http://[::1/v1"]


@pytest.mark.parametrize("url", [*WRONG, "http://host/v1?key=1", "http://host/v1#x", "http://h\nost/", "http://hôte/"])
def test_an_impossible_url_is_refused(url: str) -> None:
    with pytest.raises(InvalidEndpoint, match="URL of the endpoint of things"):
        EndpointConfig(API, url)


def test_credentials_of_a_url_are_sent_and_never_shown(server: Server) -> None:
    settings = EndpointConfig(API, f"http://me:p%40ss@127.0.0.1:{server.port}/v1")
    endpoint = EndpointClient(settings)
    endpoint.post(b"{}", 100, bytes)
    assert server.requests[0].headers["Authorization"] == "Basic " + b64encode(b"me:p@ss").decode()
    assert "ss@" not in endpoint.base + repr(settings) + repr(settings.address)


@pytest.mark.parametrize("key", ["with\nnewline", "schlüssel", "", " "])
def test_an_impossible_key_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(InvalidEndpoint, match=r"printable ASCII$"):
        EndpointConfig(API, "http://host/v1", key)


def test_credentials_in_the_url_and_a_key_are_rejected() -> None:
    with pytest.raises(InvalidEndpoint, match="keep one"):
        EndpointConfig(API, "http://me:secret@host/v1", "key")


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_timeout_of_zero_is_rejected(seconds: float) -> None:
    with pytest.raises(InvalidEndpoint, match="timeout"):
        EndpointConfig(API, "http://host/v1", timeout_seconds=seconds)


def test_a_key_is_not_shown_by_its_settings() -> None:
    assert "secret" not in repr(EndpointConfig(API, "http://host/v1", "secret"))
