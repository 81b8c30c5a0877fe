"""The two clients: one for threads, one for asyncio. Their methods come from the contract."""

from pathlib import Path
from typing import Self

from memsidecar_client._aio_methods import AsyncMethods
from memsidecar_client._connection import DEFAULT_TIMEOUT_SECONDS, connection
from memsidecar_client._methods import Methods
from memsidecar_client._retry import ATTEMPTS


class Client(Methods):
    """Blocking client of a sidecar. Thread-safe: one client is enough for a process.

    address: "host:port" or "unix:/path". None: MEMSIDECAR_ADDRESS, else 127.0.0.1:7600.
    token, token_file: What to show. None: MEMSIDECAR_TOKEN or MEMSIDECAR_TOKEN_FILE, if set. A file is read again
        when it changes.
    tls, ca_file: True, or a file with the authorities that sign the sidecar's certificate. None of both: in the clear.
    certificate_file, key_file: The client's own certificate, where the sidecar wants one. None of these four:
        MEMSIDECAR_TLS, MEMSIDECAR_CA_FILE, MEMSIDECAR_CLIENT_CERTIFICATE_FILE and MEMSIDECAR_CLIENT_KEY_FILE, if set.
    timeout: Seconds that a call may take, retries included, unless it says otherwise; more than 0. None or math.inf: no
        limit but the sidecar's. Streams have none.
    attempts: How often a call is sent at most. 1: never again.
    allow_token_in_clear: Whether a token may leave the machine without TLS.

    Raises ValueError where these do not go together. Connects with the first call.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        token: str | None = None,
        token_file: str | Path | None = None,
        tls: bool | None = None,
        ca_file: str | Path | None = None,
        certificate_file: str | Path | None = None,
        key_file: str | Path | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
        allow_token_in_clear: bool = False,
    ) -> None:
        way = connection(
            address,
            token=token,
            token_file=token_file,
            tls=tls,
            ca_file=ca_file,
            certificate_file=certificate_file,
            key_file=key_file,
            allow_token_in_clear=allow_token_in_clear,
        )
        super().__init__(way, timeout, attempts)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(AsyncMethods):
    """Asynchronous client of a sidecar, with the same arguments as Client.

    It belongs to the event loop of its first call; in another one, calls are refused with a RuntimeError.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        token: str | None = None,
        token_file: str | Path | None = None,
        tls: bool | None = None,
        ca_file: str | Path | None = None,
        certificate_file: str | Path | None = None,
        key_file: str | Path | None = None,
        timeout: float | None = DEFAULT_TIMEOUT_SECONDS,
        attempts: int = ATTEMPTS,
        allow_token_in_clear: bool = False,
    ) -> None:
        way = connection(
            address,
            token=token,
            token_file=token_file,
            tls=tls,
            ca_file=ca_file,
            certificate_file=certificate_file,
            key_file=key_file,
            allow_token_in_clear=allow_token_in_clear,
        )
        super().__init__(way, timeout, attempts)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
