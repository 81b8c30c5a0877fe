"""Load each vocabulary and the bundled embedding model once in a process: tests create many counters and embedders."""

from functools import cache

from memsidecar.embedding import static
from memsidecar.tokens import tiktoken_counter


def cache_models() -> None:
    """Cache the loaded files by their folder. A failed load is repeated. Both are immutable after loading."""
    tiktoken_counter.load_encoding = cache(tiktoken_counter.load_encoding)  # type: ignore[assignment]
    static._load = cache(static._load)
