"""TLS for the main listener; a certificate that was replaced is shown to the next caller that connects."""

from collections.abc import Callable
from typing import Any, cast

import grpc

from memsidecar.access.certificates import Certificates


class Tls:
    """gRPC asks `_renewed` at each handshake, on a thread of its own."""

    def __init__(self, current: Callable[[], Certificates]) -> None:
        self._current = current
        self._shown = current()

    def credentials(self) -> grpc.ServerCredentials:
        return grpc.dynamic_ssl_server_credentials(
            _configuration(self._shown),
            cast(Any, self._renewed),  # the stubs do not know that it may return None
            require_client_authentication=self._shown.client_ca is not None,
        )

    def _renewed(self) -> grpc.ServerCertificateConfiguration | None:
        """None: as before."""
        current = self._current()
        if current is self._shown:
            return None
        self._shown = current
        return _configuration(current)


def _configuration(certificates: Certificates) -> grpc.ServerCertificateConfiguration:
    pair = (certificates.key, certificates.certificate)
    return grpc.ssl_server_certificate_configuration([pair], root_certificates=certificates.client_ca)
