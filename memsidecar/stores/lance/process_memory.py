"""Memory of the process: glibc's malloc, the environment of LanceDB and Arrow, a deferred import."""

import ctypes
import sys
from importlib.util import find_spec, module_from_spec
from threading import RLock
from typing import Any

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # parameters of mallopt
# Rankings of large partitions allocate and free blocks of half a megabyte all the time: malloc keeps these.
_MMAP_BYTES = 2 * 1024 * 1024
_TRIM_BYTES = 8 * 1024 * 1024
_REST_CLIENT = "lance_namespace_urllib3_client"

ENVIRONMENT = {
    "LANCE_CPU_THREADS": "1",
    "LANCE_IO_THREADS": "2",
    # Rows per batch of a scan: 8,192 of them with vectors are 8 MB for each active thread and fragment.
    "LANCE_DEFAULT_BATCH_SIZE": "512",
    "LANCE_DEFAULT_FRAGMENT_READAHEAD": "1",
    # How much a scan reads ahead; the default is much more. Measured later than the rest, with 100,000 rows: peak
    # resident size while they are indexed, compacted and loaded 460, 477 and 502 MB without it, 429, 427 and 483 with.
    "LANCE_DEFAULT_IO_BUFFER_SIZE": str(8 << 20),
    # One allocator instead of two: LanceDB reuses what pyarrow frees.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    # Its warnings are lines of plain text, also among JSON logs, and say nothing that an operator could act on.
    "LANCEDB_LOG": "error",
}


def limit_malloc_arenas(arenas: int = 2) -> None:
    """Limit the number of malloc's arenas, and make it return large blocks to the system as soon as they are freed.

    By default every thread may get an arena that keeps what is freed in it, and LanceDB has many threads; and glibc
    raises its thresholds for large blocks.
    """
    if sys.platform == "linux":
        mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
        if mallopt is not None:
            mallopt(_ARENA_MAX, arenas)
            mallopt(_MMAP_THRESHOLD, _MMAP_BYTES)
            mallopt(_TRIM_THRESHOLD, _TRIM_BYTES)


def defer_rest_client() -> None:
    """Delay the code of a REST client that LanceDB imports until an attribute of it is used. The index uses none.

    Its package builds a validator for each parameter of a hundred functions. Without it, `import lancedb` takes 1.5
    instead of 2.6 s of CPU, and the process has 116 instead of 129 MB (best of five). LanceDB refers to the package's
    models, which are loaded as before. The lazy loader of importlib would run the package with the first of them.
    """
    spec = None if _REST_CLIENT in sys.modules else find_spec(_REST_CLIENT)
    if spec is None or spec.loader is None:
        return
    package, loader, lock = module_from_spec(spec), spec.loader, RLock()
    is_loading = False

    def load(attribute: str) -> Any:
        nonlocal is_loading
        with lock:
            if not is_loading and vars(package).get("__getattr__") is load:
                is_loading = True
                try:
                    loader.exec_module(package)
                    del vars(package)["__getattr__"]
                finally:
                    is_loading = False
        try:
            return vars(package)[attribute]
        except KeyError:
            raise AttributeError(f"module {_REST_CLIENT!r} has no attribute {attribute!r}") from None

    vars(package)["__getattr__"] = load
    sys.modules[_REST_CLIENT] = package


def release_memory() -> None:
    """Return freed memory to the system: after compaction glibc holds a hundred megabytes and more. Linux only."""
    if sys.platform == "linux":
        malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if malloc_trim is not None:
            malloc_trim(0)
