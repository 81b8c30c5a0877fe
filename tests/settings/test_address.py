"""Parsing and formatting of addresses."""

from __future__ import annotations

import pytest

from memsidecar.domain.network_address import Address


@pytest.mark.parametrize(
    "text", ["127.0.0.1:7600", "[::1]:7600", "localhost:0", "0.0.0.0:65535", "unix:/run/a.sock", "unix:a.sock"]
)
def test_an_address_is_written_as_it_was_read(text: str) -> None:
    assert Address.parse(text).grpc_target == str(Address.parse(text)) == text


def test_the_long_form_of_a_unix_address_means_the_same_path() -> None:
    assert Address.parse("unix:///run/a.sock").unix_path == "/run/a.sock"


@pytest.mark.parametrize(
    ("text", "is_loopback"),
    [("127.0.0.1:1", True), ("127.9.9.9:1", True), ("[::1]:1", True), ("localhost:1", True), ("0.0.0.0:1", False)],
)
def test_loopback_addresses_are_recognized(text: str, is_loopback: bool) -> None:
    assert Address.parse(text).is_loopback is Address.parse(text).is_local is is_loopback


def test_a_unix_socket_is_local_without_being_loopback() -> None:
    socket = Address.parse("unix:/run/a.sock")
    assert (socket.is_local, socket.is_loopback) == (True, False)


@pytest.mark.parametrize(
    "text",
    [
        *("", "7600", ":7600", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1"),
        *("::1:7600", "[127.0.0.1]:7600", "[localhost]:7600", "example.org:7600", "127.0.0.1:" + "9" * 5000),
        *(
            "unix:",
            "unix:/run/a%20b",
            "unix:/run/a?b",
            "unix:/run/a#b",
            "unix://host/path",
            "unix:///" + "a" * 107,
            "127.1:7600",
            "http://127.0.0.1:7600",
        ),
    ],
)
def test_an_invalid_address_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        Address.parse(text)


def test_a_picked_port_replaces_the_zero() -> None:
    assert str(Address.parse("[::1]:0").with_port(50123)) == "[::1]:50123"
