"""Rejection of requests that a web page makes through the browser of a user of this machine.

Without an access file, every client that reaches the listener may do everything, and on loopback each page that a user
opens is such a client. A page of another origin is recognized by the headers `Origin` and `Sec-Fetch-Site`. A page can
also point a DNS name of its own at 127.0.0.1 (DNS rebinding): its requests are of the same origin, but their `Host` is
that name.
"""

from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import urlsplit

from memsidecar.domain.network_address import LOCALHOST
from memsidecar.http.exchange import Exchange

_FOREIGN_SITES = ("cross-site", "same-site")


@dataclass(frozen=True)
class BrowserGuard:
    """Tells whether a request may come from a page of another origin."""

    hosts: frozenset[str]
    "Host names of the sidecar, in lower case, besides localhost and IP addresses."
    checks_host: bool
    "False if each caller needs credentials: a page has none."

    def problem(self, exchange: Exchange) -> str:
        """Return why the request is rejected; empty if it is not."""
        host = exchange.header("host")
        comes_from_elsewhere = exchange.header("sec-fetch-site") in _FOREIGN_SITES and not _is_link(exchange)
        if comes_from_elsewhere or self._is_foreign(exchange.header("origin"), host):
            return "requests from pages of another origin are not allowed"
        if self.checks_host and not self._is_own(host):
            return f"the host {host[:100]!r} is not known: use localhost or an IP address, or name it in http_hosts"
        return ""

    def _is_foreign(self, origin: str, host: str) -> bool:
        if not origin:
            return False
        return _netloc(origin) != host.lower()

    def _is_own(self, host: str) -> bool:
        name = _hostname(host)
        return name == LOCALHOST or name in self.hosts or _is_ip(name)


def _is_link(exchange: Exchange) -> bool:
    """Return whether a user followed a link to one of our pages. That changes nothing, and no frame shows the page."""
    return exchange.method == "GET" and exchange.header("sec-fetch-dest") == "document"


def _netloc(origin: str) -> str | None:
    """Return host and port of an origin; None for an opaque or malformed one."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _hostname(host: str) -> str:
    """Return the name in a Host header, without port and brackets; empty if it is malformed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _is_ip(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True
