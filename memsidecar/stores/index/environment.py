"""What LanceDB reads from the environment when it is imported: assembly sets it before that, where nobody else has.

Measured once on two cores with 100,000 rows of 256 dimensions, all of it together with MALLOC_ARENA_MAX=2 and no part
alone: 420 MB instead of 670 MB after searches and appends, 340 MB instead of 570 MB after upkeep. Building the index on
vectors, or a purge, still peaks at 620 MB.
"""

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
