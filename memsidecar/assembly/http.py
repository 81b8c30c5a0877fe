"""Composition of the HTTP listener."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from memsidecar.http.application import Application, Page
from memsidecar.http.browser_guard import BrowserGuard
from memsidecar.http.listener import HttpListener, bound_socket
from memsidecar.settings import Settings


@asynccontextmanager
async def open_http(settings: Settings, pages: Mapping[str, Page]) -> AsyncIterator[HttpListener | None]:
    """Claim the address of the HTTP listener, and stop the listener at the end; None if the setting is empty.

    Nothing is accepted before the listener is started. `pages` are read with GET, without credentials.
    """
    address = settings.http_listen
    if address is None:
        yield None
        return
    application = Application(pages, _browser_guard(settings))
    with bound_socket(address) as bound:
        listener = HttpListener(application, bound, address)
        try:
            yield listener
        finally:
            await listener.stop()


def _browser_guard(settings: Settings) -> BrowserGuard:
    hosts = frozenset(name for name in settings.http_hosts.lower().split(",") if name)
    return BrowserGuard(hosts, checks_host=settings.access_file is None)
