"""Checks of a running sidecar: connection, version, clock, health, index, certificate."""

from __future__ import annotations

import socket
import ssl
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from memsidecar import __version__
from memsidecar.cli.check import HTTP_HINT, SERVICE
from memsidecar.cli.diagnosis import Diagnosis, expiry, fault, not_checked, ok, warning
from memsidecar.cli.search_command import DEGRADED
from memsidecar.cli.sidecar_calls import CallFailed, SidecarCalls
from memsidecar.domain.network_address import UNIX_SCHEME
from memsidecar.v1.context_pb2 import Degradation
from memsidecar.v1.memory_pb2 import SearchRequest
from memsidecar.v1.message_pb2 import SCOPE_SESSION
from memsidecar.v1.session_pb2 import ListSessionsRequest

VERSION_KEY = "memsidecar-version"
TIME_KEY = "memsidecar-time"
MAX_SKEW_SECONDS = 5.0
MAX_SESSIONS = 1_000
INDEX_TASK = "episodic"
LAG_SECONDS = 5.0
"How long an index may stand still while messages wait for it. A throttled indexer moves every second."
_POLL_SECONDS = 0.2
_LAYERS = {
    "": "the process",
    SERVICE: "MemoryService",
    "memsidecar.episodic": "retrieval",
}
_DEGRADED_REMEDIES = {
    "INDEX_UNAVAILABLE": "Set index = lancedb, or wait until the index is open; its log says why it is not.",
    "EMBEDDER_UNAVAILABLE": "Start the embedder's endpoint (setting embedder_url), or set embedder = static.",
    "STALE": "Wait until the background tasks have caught up; more CPU for the sidecar makes it faster.",
}
_REMEDIES = {
    grpc.StatusCode.UNAUTHENTICATED: "Give a valid token (--token-file); `memsidecar token check` says why it is not.",
    grpc.StatusCode.PERMISSION_DENIED: "Give the caller a role in the namespace (access file), or --namespace.",
}


@dataclass
class SidecarChecks:
    """The checks of one sidecar. Those after the first need a connection."""

    calls: SidecarCalls
    _metadata: dict[str, str] = field(default_factory=dict)

    def findings(self) -> Iterator[Diagnosis]:
        yield from self._certificate()
        sent = time.time()
        try:
            self._health(SERVICE)
        except CallFailed as error:
            yield self._no_sidecar(error)
            return
        received = time.time()
        yield ok("connection", f"{self.calls.options.target} answers within {(received - sent) * 1000:.0f} ms")
        yield self._version()
        yield self._clock(sent, received)
        for name, layer in _LAYERS.items():
            yield self._layer(name, layer)
        try:
            yield from self._search()
            yield from self._index()
        except CallFailed as error:
            yield fault("access", str(error), _REMEDIES.get(error.code, "See docs/errors.md for this reason."))

    def _health(self, service: str) -> int:
        stub: Any = health_pb2_grpc.HealthStub(self.calls.channel)
        request = health_pb2.HealthCheckRequest(service=service)
        timeout = self.calls.options.ready_seconds
        with self.calls.naming("health.Check"):
            response, call = stub.Check.with_call(request, timeout=timeout, metadata=self.calls.metadata)
        self._metadata = {key: value for key, value in call.trailing_metadata() if isinstance(value, str)}
        return int(response.status)

    def _no_sidecar(self, error: CallFailed) -> Diagnosis:
        if error.code in _REMEDIES:
            return fault("access", str(error), _REMEDIES[error.code])
        address = self.calls.options.target
        remedy = f"Start one (memsidecar serve --listen {address}), or give its address with --address."
        if HTTP_HINT in str(error):
            remedy = "Give the address of the gRPC listener with --address; it is `listen` in the ready line of serve."
        return fault("connection", f"no sidecar answers: {error}", remedy)

    def _version(self) -> Diagnosis:
        version = self._metadata.get(VERSION_KEY, "")
        if version == __version__:
            return ok("version", f"sidecar and command line have the version {version}")
        named = f"the version {version}" if version else "a version that does not tell its number"
        return fault(
            "version",
            f"the sidecar has {named}, the command line {__version__}",
            "Install the same version of both, and restart the sidecar.",
        )

    def _clock(self, sent: float, received: float) -> Diagnosis:
        told = self._metadata.get(TIME_KEY, "")
        if not told:
            return not_checked("clock", "the sidecar does not tell its time")
        # The sidecar read its clock between the two times.
        skew = max(sent - float(told), float(told) - received, 0.0)
        if skew <= MAX_SKEW_SECONDS:
            return ok("clock", f"the clocks differ by less than {MAX_SKEW_SECONDS:g} s")
        direction = "ahead of" if float(told) > received else "behind"
        return fault(
            "clock",
            f"the sidecar's clock is {skew:.0f} s {direction} this machine's",
            "Synchronize both clocks (NTP). Recency, retention and the expiry of tokens depend on them.",
        )

    def _layer(self, name: str, layer: str) -> Diagnosis:
        try:
            status = self._health(name)
        except CallFailed as error:
            return not_checked("health", f"{layer}: {error}")
        if status == health_pb2.HealthCheckResponse.SERVING:
            return ok("health", f"{layer} serves")
        return fault(
            "health",
            f"{layer} does not serve",
            "Wait if the sidecar has just started. Otherwise set index = lancedb, and read its log.",
        )

    def _search(self) -> Iterator[Diagnosis]:
        request = SearchRequest(
            namespace=self.calls.namespace, session_id="memsidecar-doctor", query="doctor", scope=SCOPE_SESSION, limit=1
        )
        degraded = [Degradation.Name(each).removeprefix("DEGRADATION_") for each in self._degraded(request)]
        for name in degraded:
            yield warning("search", DEGRADED.get(name, name), _DEGRADED_REMEDIES.get(name, "See docs/retrieval.md."))
        if not degraded:
            yield ok("search", "a search is answered in full")

    def _degraded(self, request: SearchRequest) -> list[Degradation]:
        return list(self.calls.call("Search", request).degraded)

    def _index(self) -> Iterator[Diagnosis]:
        """Compare what is indexed with what is stored, of the most recently active sessions."""
        first = unindexed = self._unindexed()
        end = time.monotonic() + LAG_SECONDS
        while unindexed and unindexed >= first and time.monotonic() < end:
            time.sleep(_POLL_SECONDS)
            unindexed = self._unindexed()
        if not unindexed:
            yield ok("index", "every message is indexed")
        elif unindexed < first:
            yield warning("index", f"{unindexed} messages wait for the index", "Nothing: it is catching up.")
        else:
            yield fault(
                "index",
                f"{unindexed} messages wait for the index, and none was indexed within {LAG_SECONDS:g} s",
                "The lines with `episodic` in the sidecar's log name the cause: an embedder that does not answer "
                "(setting embedder_url), a full disk, or too little CPU. Meanwhile messages are stored, and found by "
                "their words.",
            )

    def _unindexed(self) -> int:
        request = ListSessionsRequest(namespace=self.calls.namespace)
        sessions = self.calls.items("ListSessions", request, "sessions", MAX_SESSIONS)
        return sum(
            max(0, session.stats.last_sequence - session.watermarks.get(INDEX_TASK, session.stats.last_sequence))
            for session in islice(sessions, MAX_SESSIONS)
        )

    def _certificate(self) -> Iterator[Diagnosis]:
        options = self.calls.options
        if not options.tls or options.target.startswith(UNIX_SCHEME):
            return
        host, _, port = options.target.rpartition(":")
        context = ssl.create_default_context()
        # gRPC verifies it. Here it is only read, also if it has expired.
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        try:
            with (
                socket.create_connection((host.strip("[]"), int(port)), timeout=options.ready_seconds) as plain,
                context.wrap_socket(plain, server_hostname=host.strip("[]")) as secure,
            ):
                certificate = secure.getpeercert(binary_form=True)
        except OSError as error:
            yield not_checked("certificate", f"the sidecar's certificate cannot be read: {error}")
            return
        yield from expiry("certificate", options.target, certificate or b"")
