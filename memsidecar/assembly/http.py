"""Composition of the HTTP listener."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import MethodDescriptor

from memsidecar.api.admission.receive import ReceiveSlots
from memsidecar.api.handlers import Handler, HandlerFactory, Service, WatchHandler, complete_table
from memsidecar.http.application import Application, Page
from memsidecar.http.browser_guard import BrowserGuard
from memsidecar.http.connect_call import RPC_SYSTEM, Rpc
from memsidecar.http.connect_codec import CodecLimits, Codecs
from memsidecar.http.connect_stream import writing
from memsidecar.http.request_body import RequestReceiver
from memsidecar.http.tls_context import TlsContext
from memsidecar.settings import Settings

if TYPE_CHECKING:
    from memsidecar.http.listener import HttpListener


@asynccontextmanager
async def open_http(
    settings: Settings,
    tls: TlsContext | None,
    factory: HandlerFactory,
    services: Sequence[Service],
    pages: Mapping[str, Page],
) -> AsyncIterator[HttpListener | None]:
    """Claim the address of the HTTP listener, and stop the listener at the end; None if the setting is empty.

    Nothing is accepted before the listener is started. `pages` are read with GET, without credentials.
    """
    address = settings.http_listen
    if address is None:
        yield None
        return
    factory = replace(factory, spans=replace(factory.spans, system=RPC_SYSTEM))
    codecs = Codecs(CodecLimits(settings.max_request_bytes, factory.admission.max_repeated_items))
    application = Application(_rpc_table(factory, services, codecs), pages, _browser_guard(settings))
    # uvicorn is imported only if it is used: that takes a twentieth of a second.
    module = import_module("memsidecar.http.listener")
    calls = factory.limits.calls
    with module.bound_socket(address) as bound:
        listener: HttpListener = module.HttpListener(application, bound, address, tls, lambda: calls.draining)
        try:
            yield listener
        finally:
            await listener.stop()
            codecs.close()


def _browser_guard(settings: Settings) -> BrowserGuard:
    hosts = frozenset(name for name in settings.http_hosts.lower().split(",") if name)
    return BrowserGuard(hosts, checks_host=settings.access_file is None)


def _rpc_table(factory: HandlerFactory, services: Iterable[Service], codecs: Codecs) -> dict[str, Rpc]:
    """Return the RPCs by path. One with a stream of requests is not among them: HTTP/1.1 sends in one direction."""
    receiver = RequestReceiver(ReceiveSlots() if factory.admission.is_unrestricted else None)
    return {
        f"/{service.descriptor.full_name}/{method.name}": Rpc(
            method, _wrapped(factory, method, handler), codecs, receiver
        )
        for service in services
        for method, handler in _methods(service)
        if not method.client_streaming
    }


def _methods(service: Service) -> list[tuple[MethodDescriptor, Handler | WatchHandler]]:
    table = complete_table(service)
    return [(method, table[method.name]) for method in service.descriptor.methods]


def _wrapped(factory: HandlerFactory, method: MethodDescriptor, handler: Handler | WatchHandler) -> Any:
    if isinstance(handler, WatchHandler):
        return factory.watch(method, handler)
    if method.server_streaming:
        return writing(factory.stream(method, handler))
    return factory.unary(method, handler)
