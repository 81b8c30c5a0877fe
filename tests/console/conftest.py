"""One Chromium and one sidecar with stored conversations for all tests of the console."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.console.browser import ConsolePage, chromium, console_page
from tests.console.conversations import store_hostile, store_large, store_traveller
from tests.http.http_client import HTTP
from tests.support.process import Client, SidecarProcess


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="package")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("console") / "data", *HTTP, "--index", "volatile") as running:
        with running.client() as client:
            store_hostile(client)
            store_large(client)
            store_traveller(client)
        yield running


@pytest.fixture
def stored_client(stored: SidecarProcess) -> Iterator[Client]:
    with stored.client() as connected:
        yield connected


@pytest.fixture
def console(browser: Any, stored: SidecarProcess) -> Iterator[ConsolePage]:
    """The console of the shared sidecar, opened."""
    with console_page(browser, stored.ready["http_listen"]) as opened:
        opened.open()
        yield opened


@pytest.fixture
def quick_console(browser: Any, stored: SidecarProcess) -> Iterator[ConsolePage]:
    """The console of the shared sidecar, opened in a browser that nothing delays."""
    with console_page(browser, stored.ready["http_listen"], late_frames=False) as opened:
        opened.open()
        yield opened
