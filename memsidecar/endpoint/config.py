"""Endpoint configuration and its URL."""

import time
from base64 import b64encode
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from memsidecar.endpoint.resilience import InvalidEndpoint, RetryPolicy


class EndpointApi(NamedTuple):
    """An API of an endpoint: its name in messages ("the embedding endpoint") and the last part of its path."""

    label: str
    path_suffix: str


@dataclass(frozen=True)
class EndpointConfig:
    """Raises InvalidEndpoint, so that a wrong setting fails at start."""

    api: EndpointApi
    url: str = field(repr=False)
    """The API's base, such as http://host:port/v1."""

    key: str | None = field(default=None, repr=False)
    """Sent as a bearer token."""

    timeout_seconds: float = 10.0
    """Limit of the connect, of each read, and of the whole response."""

    retry_policy: RetryPolicy = field(default_factory=RetryPolicy)
    failures_before_open: int = 5
    """Consecutive failed requests after which the circuit breaker opens."""

    cool_down_seconds: float = 30.0
    """Time for which the circuit breaker stays open."""

    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        label = self.api.label
        if self.address.authorization and self.key:
            raise InvalidEndpoint(f"{label} has a key and credentials in its URL: keep one")
        if self.key is not None and not (self.key.isascii() and self.key.isprintable() and self.key.strip()):
            raise InvalidEndpoint(f"the key of {label} must be printable ASCII")
        if self.timeout_seconds <= 0:
            raise InvalidEndpoint(f"the timeout of {label} must be more than 0 seconds, not {self.timeout_seconds}")

    @property
    def address(self) -> "ApiAddress":
        return parse_address(self.url, self.api)

    @property
    def authorization(self) -> str | None:
        return f"Bearer {self.key}" if self.key else self.address.authorization


@dataclass(frozen=True)
class ApiAddress:
    """`origin` is scheme, host and port; `path` is the API's, such as "/v1". Neither contains credentials."""

    origin: str
    path: str
    authorization: str | None = field(default=None, repr=False)
    """The header for credentials that are in the URL."""

    @property
    def base(self) -> str:
        return self.origin + self.path


def parse_address(url: str, api: EndpointApi) -> ApiAddress:
    """Parse http://host:port/v1, with or without a slash or the API's suffix at its end. Raises InvalidEndpoint.

    No error message contains the URL, because it may have a password.
    """
    parts, port = _split(url, api)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidEndpoint(f"the URL of {api.label} must look like http://host:port/v1")
    if parts.query or parts.fragment:
        raise InvalidEndpoint(f"the URL of {api.label} must not have a query or a fragment")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    origin = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    path = parts.path.rstrip("/").removesuffix(api.path_suffix).rstrip("/")
    return ApiAddress(origin, path, _basic_authorization(parts))


def _split(url: str, api: EndpointApi) -> tuple[SplitResult, int | None]:
    # urlsplit removes line breaks and tabs silently.
    if not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidEndpoint(f"the URL of {api.label} must be plain ASCII without spaces")
    try:
        parts = urlsplit(url)
        return parts, parts.port
    except ValueError:
        # Its message would contain a part of the URL.
        raise InvalidEndpoint(f"the URL of {api.label} has an impossible host or port") from None


def _basic_authorization(parts: SplitResult) -> str | None:
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"
