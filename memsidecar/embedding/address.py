"""Where an embeddings API is, apart from what opens it."""

from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import SplitResult, unquote, urlsplit

from memsidecar.embedding.invalid import InvalidEmbedder

_LEAF = "/embeddings"


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

    @property
    def embeddings_path(self) -> str:
        return self.path + _LEAF


def parse_address(url: str) -> ApiAddress:
    """From http://host:port/v1, with or without a slash or /embeddings at its end. Raises InvalidEmbedder.

    No message shows the URL, for it may carry a password.
    """
    parts, port = _split(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise InvalidEmbedder("the URL of the embedding endpoint must look like http://host:port/v1")
    if parts.query or parts.fragment:
        raise InvalidEmbedder("the URL of the embedding endpoint must not have a query or a fragment")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    origin = f"{parts.scheme}://{host}" + (f":{port}" if port else "")
    path = parts.path.rstrip("/").removesuffix(_LEAF).rstrip("/")
    return ApiAddress(origin, path, _basic(parts))


def _split(url: str) -> tuple[SplitResult, int | None]:
    # Python's own parser drops line breaks and tabs silently.
    if not url.isascii() or not url.isprintable() or " " in url:
        raise InvalidEmbedder("the URL of the embedding endpoint must be plain ASCII without spaces")
    try:
        parts = urlsplit(url)
        return parts, parts.port
    except ValueError:
        # Its message would repeat a part of the URL.
        raise InvalidEmbedder("the URL of the embedding endpoint has an impossible host or port") from None


def _basic(parts: SplitResult) -> str | None:
    if parts.username is None:
        return None
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"Basic {b64encode(pair.encode()).decode()}"
