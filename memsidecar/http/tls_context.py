"""TLS of the HTTP listener, with the certificates of gRPC. They are exchanged while the listener runs."""

import logging
import ssl
from collections.abc import Callable

from memsidecar.access.certificates import CertificateFiles, Certificates

log = logging.getLogger(__name__)


class TlsContext:
    """The context of a listener, which hands each handshake to a context with the current certificates."""

    def __init__(self, current: Callable[[], Certificates], files: CertificateFiles) -> None:
        self._current = current
        self._files = files
        self._used = current()
        self._context = self._load()

    def listening(self) -> ssl.SSLContext:
        context = self._load()
        context.sni_callback = self._choose
        return context

    def _choose(self, connection: ssl.SSLObject, _name: str | None, _context: ssl.SSLContext) -> None:
        """Give a connection the current context. Called in each handshake, also if the client names no server."""
        current = self._current()
        if current is not self._used:
            self._reload(current)
        connection.context = self._context

    def _reload(self, current: Certificates) -> None:
        try:
            self._context = self._load()
            self._used = current
        except (ssl.SSLError, OSError, ValueError) as error:
            # The files change again at this moment. The next handshake tries again.
            log.warning("the new certificates cannot be loaded yet, and the old ones stay: %s", type(error).__name__)

    def _load(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_alpn_protocols(["http/1.1"])
        # A password, so that OpenSSL does not ask for one on the terminal. The key has been checked to need none.
        context.load_cert_chain(self._files.certificate, self._files.key, password="")
        client_ca = self._current().client_ca
        if client_ca is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(cadata=client_ca.decode("ascii"))
            # A resumed session would keep a client whose authority was removed. TLS 1.2 resumes without tickets, too.
            context.minimum_version = ssl.TLSVersion.TLSv1_3
            context.num_tickets = 0
        return context
