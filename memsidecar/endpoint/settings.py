"""What has to be known of an endpoint before it is asked."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from memsidecar.endpoint.address import Api, ApiAddress, parse_address
from memsidecar.endpoint.errors import InvalidEndpoint
from memsidecar.endpoint.patience import Patience


@dataclass(frozen=True)
class EndpointSettings:
    """Raises InvalidEndpoint, so that a wrong setting is refused at start."""

    api: Api
    url: str = field(repr=False)
    """The API's base, such as http://host:port/v1."""

    key: str | None = field(default=None, repr=False)
    """Sent as a bearer token."""

    timeout_seconds: float = 10.0
    """For connecting, for each wait for the server, and for the whole answer once it begins."""

    patience: Patience = field(default_factory=Patience)
    failures_before_rest: int = 5
    """After so many failed requests in a row none is sent for a while."""

    rest_seconds: float = 30.0
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
