"""The unused bytes of pages: copies of deleted names in them are overwritten.

`secure_delete` overwrites a deleted row. But when SQLite builds a page again, copies of the rows that it moved stay in
the unused bytes between the page's row pointers and its rows, and the deletion of such a row does not reach them. Of a
thousand deleted names, about one stays in the file this way.
"""

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from struct import error as StructError
from struct import unpack_from

from memsidecar.domain.errors import DataCorrupted
from memsidecar.stores.sqlite.connection import translated

NAMED_TABLES = ("sessions", "policies", "documents", "records", "owners")
"Tables with names of users, sessions and documents. Content is in rows that are never moved (`secure_delete`)."
PAGES_PER_STEP = 256
"They take two milliseconds, in which no command is committed."
MAX_FILE_PAGES = 1 << 25
"""A larger file, of 128 GiB, is not cleaned. A page that continues a row begins with the number of the next one: from
here on, its first byte may be that of a table's page."""

_ROOTS = f"SELECT rootpage FROM sqlite_master WHERE rootpage > 0 AND tbl_name IN {NAMED_TABLES}"
_INTERIOR_PAGES, _LEAF_PAGES = (2, 5), (10, 13)
_INTERIOR_HEADER_BYTES, _LEAF_HEADER_BYTES = 12, 8


class SlackCleaner:
    """Overwrites the unused bytes of all pages with names, in steps, on the thread that writes.

    SQLite has no statement for it except VACUUM, which copies the whole file. The cleaner walks the tables in the file.
    A page that is written between two steps may be moved, or have children that the walk has missed. So it ends, when
    the write-ahead log is empty, with all pages that were written meanwhile.

    Nothing reads unused bytes: neither a reader nor a crash at any moment is affected. The file is closed after the
    connections: closing it would release the locks that the process has on it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1
        self._page_bytes = 0
        self._pages: list[int] = []
        self._visited: set[int] = set()
        self._changed = False

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)

    def begin(self, connection: sqlite3.Connection) -> None:
        if self._file < 0:
            with self._translated():
                self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        (self._page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        self._pages = [root for (root,) in connection.execute(_ROOTS)] if _is_small(connection) else []
        self._visited.clear()

    def step(self) -> bool:
        """Clean some pages; return whether there are more."""
        for _ in range(PAGES_PER_STEP):
            if not self._pages:
                return False
            self._visit(self._pages.pop())
        return True

    def finish(self, connection: sqlite3.Connection, written: Iterable[int]) -> None:
        """Clean the pages of the walk that were written since the beginning, and what they lead to.

        A page that SQLite adds to a table is found below one that it wrote for this. All others are pages of content.
        """
        self._pages = [number for number in written if number in self._visited] if _is_small(connection) else []
        self._visited.difference_update(self._pages)
        while self.step():
            pass
        self._visited.clear()
        if self._changed:
            with self._translated():
                os.fsync(self._file)
            # The writer must not write the old bytes again from its cache.
            connection.execute("PRAGMA shrink_memory")
            self._changed = False

    def _visit(self, number: int) -> None:
        if number in self._visited or number < 2:  # the first page has the schema, and there is no page 0
            return
        self._visited.add(number)
        with self._translated():
            offset = (number - 1) * self._page_bytes
            page = os.pread(self._file, self._page_bytes, offset)
            if page and page[0] in _INTERIOR_PAGES + _LEAF_PAGES:
                self._pages.extend(_children(page))
                self._clean(page, offset)

    def _clean(self, page: bytes, offset: int) -> None:
        rows, begin = _row_offsets(page)
        (end,) = unpack_from(">H", page, 5)
        if page.count(0, begin, end) == end - begin:
            return
        if not begin <= end <= min(rows, default=len(page)):
            raise self._damaged()
        os.pwrite(self._file, bytes(end - begin), offset + begin)
        self._changed = True

    def _damaged(self) -> DataCorrupted:
        return DataCorrupted(f"{self._path.name} has a damaged page", file=str(self._path))

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            with translated(self._path):
                yield
        except StructError as error:
            raise self._damaged() from error


def _is_small(connection: sqlite3.Connection) -> bool:
    (count,) = connection.execute("PRAGMA page_count").fetchone()
    return int(count) < MAX_FILE_PAGES


def _row_offsets(page: bytes) -> tuple[Sequence[int], int]:
    """Return where the rows of a page are, and where that list of offsets ends."""
    header = _INTERIOR_HEADER_BYTES if page[0] in _INTERIOR_PAGES else _LEAF_HEADER_BYTES
    (count,) = unpack_from(">H", page, 3)
    return unpack_from(f">{count}H", page, header), header + 2 * count


def _children(page: bytes) -> list[int]:
    """Return the pages below an interior page: one for each row, and the last one, which is in the header."""
    if page[0] in _LEAF_PAGES:
        return []
    rows, _ = _row_offsets(page)
    return [unpack_from(">I", page, offset)[0] for offset in (*rows, _LEAF_HEADER_BYTES)]
