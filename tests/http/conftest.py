"""Sidecars with an HTTP listener."""

from collections.abc import Iterator

import pytest

from tests.http.http_client import HTTP, HttpClient
from tests.support.process import SidecarProcess


@pytest.fixture(scope="package")
def http_sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    """One sidecar for tests that use session ids of their own."""
    with SidecarProcess(tmp_path_factory.mktemp("http") / "data", *HTTP) as running:
        yield running


@pytest.fixture
def http(http_sidecar: SidecarProcess) -> Iterator[HttpClient]:
    with HttpClient(http_sidecar.ready["http_listen"]) as connected:
        yield connected
