"""Malloc tuning, LanceDB environment."""

import ctypes
import re
import sys
from pathlib import Path

_ARENA_MAX, _MMAP_THRESHOLD, _TRIM_THRESHOLD = -8, -3, -1  # as mallopt calls them
# The rankings of large shelves take and free pieces of half a megabyte all the time: these are better kept.
_LARGE_BYTES = 2 * 1024 * 1024
_KEPT_BYTES = 8 * 1024 * 1024
_DONT_NEED = 4  # MADV_DONTNEED of madvise
_LIBRARIES = re.compile(r"/(lancedb|pyarrow)/[^/]+\.so[.\d]*$")

ENVIRONMENT = {
    "LANCE_CPU_THREADS": "1",
    "LANCE_IO_THREADS": "2",
    # Rows per batch of a scan: 8,192 of them with vectors are 8 MB for each thread and fragment under way.
    "LANCE_DEFAULT_BATCH_SIZE": "512",
    "LANCE_DEFAULT_FRAGMENT_READAHEAD": "1",
    # How much a scan reads ahead; by itself much more. Measured later than the rest, with 100,000 rows: at the most
    # resident while they are indexed, compacted and loaded, 460, 477 and 502 MB without it, 429, 427 and 483 with it.
    "LANCE_DEFAULT_IO_BUFFER_SIZE": str(8 << 20),
    # One allocator instead of two: what pyarrow frees, LanceDB uses again.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
}
"MALLOC_ARENA_MAX=2 is read by the C library when the process starts, too early for assembly: it belongs in the image."


def limit_malloc_arenas(arenas: int = 2) -> None:
    """Every thread may get an arena of its own that keeps what is freed in it, and LanceDB has many threads.

    Large pieces are to go back to the system as soon as they are freed: by itself glibc begins to keep them, too.
    """
    if sys.platform == "linux":
        choose = getattr(ctypes.CDLL(None), "mallopt", None)
        if choose is not None:
            choose(_ARENA_MAX, arenas)
            choose(_MMAP_THRESHOLD, _LARGE_BYTES)
            choose(_TRIM_THRESHOLD, _KEPT_BYTES)


def release_memory() -> None:
    """Compaction frees memory that glibc keeps: a hundred megabytes and more. Elsewhere there is nothing to do."""
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
        _forget_code()


def _forget_code() -> None:
    """Let go of the libraries' code, 120 MB of which was touched and most not needed again until the next upkeep.

    It is mapped from files and never written to, so whatever is called next comes back from the system's cache.
    """
    libc = ctypes.CDLL(None)
    libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    for line in Path("/proc/self/maps").read_text().splitlines():
        addresses, permissions, *rest = line.split()
        if permissions == "r-xp" and _LIBRARIES.search(rest[-1]):
            start, end = (int(address, 16) for address in addresses.split("-"))
            libc.madvise(start, end - start, _DONT_NEED)
