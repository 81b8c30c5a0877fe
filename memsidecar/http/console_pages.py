"""The files of the web console, as pages.

The console is static: it calls the RPCs of this listener with the token that its user types. A page has no data and
needs no credentials.
"""

import hashlib
from importlib import resources
from importlib.resources.abc import Traversable

from memsidecar.http.application import Page
from memsidecar.http.exchange import TEXT, Exchange, HttpResponse

PREFIX = "/console/"
INDEX = "index.html"
_CONTENT_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".txt": TEXT,
}
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "connect-src 'self'",
        "img-src 'self' data:",
        "frame-ancestors 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        # Nothing may turn a string into markup or code.
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
_HEADERS = (
    ("content-security-policy", CONTENT_SECURITY_POLICY),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("referrer-policy", "no-referrer"),
    # Asked for again each time, and answered with 304 while the file is the same: an upgrade is complete at once.
    ("cache-control", "no-cache"),
)


def console_pages() -> dict[str, Page]:
    """Read the files of the console and return them by path. The index is at `/`."""
    folder = resources.files("memsidecar") / "console"
    return {_path(name): _page(name, content) for name, content in _files(folder, "")}


def _files(folder: Traversable, prefix: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        name = f"{prefix}{entry.name}"
        if entry.is_dir():
            found += _files(entry, f"{name}/")
        else:
            found.append((name, entry.read_bytes()))
    return found


def _path(name: str) -> str:
    return "/" if name == INDEX else PREFIX + name


def _page(name: str, content: bytes) -> Page:
    kind = _CONTENT_TYPES[name[name.rindex(".") :]]
    tag = ("etag", f'"{hashlib.sha256(content).hexdigest()[:32]}"')
    response = HttpResponse(200, kind, content, (*_HEADERS, tag))

    async def show(_exchange: Exchange) -> HttpResponse:
        return response

    return show
