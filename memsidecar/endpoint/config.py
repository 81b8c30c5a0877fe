"""EndpointConfig, URL parsing."""

import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from memsidecar.endpoint.errors import InvalidEndpoint
from memsidecar.endpoint.resilience import RetryPolicy


class EndpointApi(NamedTuple):
    """What is asked of an endpoint: as messages call it ("the embedding endpoint"), and the end of its path."""

    called: str
    leaf: str


@dataclass(frozen=True)
class ApiAddress:
    """`origin` is scheme, host and port; `path` is that of the API, such as "/v1". Credentials are in neither."""

    origin: str
    path: str
    authorization: str | None = field(default=None, repr=False)
    """The header for credentials that were written into the URL."""

    @property
    def base(self) -> str:
        return self.origin + self.path


def parse_address(url: str, api: EndpointApi) -> ApiAddress:
    """From http://host:port/v1, with or without a slash or the API's leaf at its end. Raises InvalidEndpoint.

    No message shows the URL, for it may carry a password.
    """
    parts, port = _split(url, api)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidEndpoint(f"the URL of {api.called} must look like http://host:port/v1")
    if parts.query or parts.fragment:
        raise InvalidEndpoint(f"the URL of {api.called} must not have a query or a fragment")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    origin = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    path = parts.path.rstrip("/").removesuffix(api.leaf).rstrip("/")
    return ApiAddress(origin, path, _basic(parts))


def _split(url: str, api: EndpointApi) -> tuple[SplitResult, int | None]:
    # Python's own parser drops line breaks and tabs silently.
    if not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidEndpoint(f"the URL of {api.called} must be plain ASCII without spaces")
    try:
        parts = urlsplit(url)
        return parts, parts.port
    except ValueError:
        # Its message would repeat a part of the URL.
        raise InvalidEndpoint(f"the URL of {api.called} has an impossible host or port") from None


def _basic(parts: SplitResult) -> str | None:
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"


@dataclass(frozen=True)
class EndpointConfig:
    """Raises InvalidEndpoint, so that a wrong setting is refused at start."""

    api: EndpointApi
    url: str = field(repr=False)
    """The API's base, such as http://host:port/v1."""

    key: str | None = field(default=None, repr=False)
    """Sent as a bearer token."""

    timeout_seconds: float = 10.0
    """For connecting, for each wait for the server, and for the whole answer once it begins."""

    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    failures_before_open: int = 5
    """After so many failed requests in a row none is sent for a while."""

    cool_down_seconds: float = 30.0
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        called = self.api.called
        if self.address.authorization and self.key:
            raise InvalidEndpoint(f"{called} has a key and credentials in its URL: keep one")
        if self.key is not None and not (self.key.isascii() and self.key.isprintable() and self.key.strip()):
            raise InvalidEndpoint(f"the key of {called} must be printable ASCII")
        if self.timeout_seconds <= 0:
            raise InvalidEndpoint(f"the timeout of {called} must be more than 0 seconds, not {self.timeout_seconds}")

    @property
    def address(self) -> ApiAddress:
        return parse_address(self.url, self.api)

    @property
    def authorization(self) -> str | None:
        return f"Bearer {self.key}" if self.key else self.address.authorization
