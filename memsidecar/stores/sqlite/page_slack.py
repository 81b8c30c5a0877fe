"""The unused bytes of pages: copies of deleted names in them are overwritten.

`secure_delete` overwrites a deleted row. But when SQLite builds a page again, copies of the rows that it moved stay in
the unused bytes between the page's row pointers and its rows, and the deletion of such a row does not reach them. Of a
thousand deleted names, about one stays in the file this way.
"""

import errno
import os
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from struct import error as StructError
from struct import unpack_from

from memsidecar.domain.errors import DataCorrupted, DiskFull, FatalStoreError, SidecarError

NAMED_TABLES = ("sessions", "policies", "documents", "records", "owners")
"Tables with names of users, sessions and documents. Content is in rows that are never moved (`secure_delete`)."

_ROOTS = f"SELECT rootpage FROM sqlite_master WHERE rootpage > 0 AND tbl_name IN {NAMED_TABLES}"
_INTERIOR_PAGES = (2, 5)
_INTERIOR_HEADER_BYTES, _LEAF_HEADER_BYTES = 12, 8


class SlackCleaner:
    """Overwrites the unused bytes of all pages with names, on the thread that writes.

    SQLite has no statement for it except VACUUM, which copies the whole file. The write-ahead log has to be empty, so
    that every page is in the file. Nothing reads unused bytes: neither a reader nor a crash at any moment is affected.
    The file is closed after the connections: closing it would release the locks that the process has on it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = -1

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)

    def clean(self, connection: sqlite3.Connection) -> None:
        try:
            changed = self._clean(connection)
        except OSError as error:
            raise self._translate(error) from error
        except (StructError, IndexError) as error:
            raise self._damaged() from error
        if changed:  # the writer must not write the old bytes again from its cache
            connection.execute("PRAGMA shrink_memory")

    def _clean(self, connection: sqlite3.Connection) -> bool:
        if self._file < 0:
            self._file = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
        (page_count,) = connection.execute("PRAGMA page_count").fetchone()
        pages = [root for (root,) in connection.execute(_ROOTS)]
        changed = False
        while pages:
            offset = (pages.pop() - 1) * page_bytes
            page = os.pread(self._file, page_bytes, offset)
            pages.extend(_children(page))
            changed |= self._clean_page(page, offset)
            page_count -= 1
            if page_count < 0:
                raise self._damaged()
        if changed:
            os.fsync(self._file)
        return changed

    def _clean_page(self, page: bytes, offset: int) -> bool:
        rows, begin = _row_offsets(page)
        (end,) = unpack_from(">H", page, 5)
        if page.count(0, begin, end) == end - begin:
            return False
        if not begin <= end <= min(rows, default=len(page)):
            raise self._damaged()
        os.pwrite(self._file, bytes(end - begin), offset + begin)
        return True

    def _damaged(self) -> DataCorrupted:
        return DataCorrupted(f"{self._path.name} has a damaged page", file=str(self._path))

    def _translate(self, error: OSError) -> SidecarError:
        return DiskFull() if error.errno == errno.ENOSPC else FatalStoreError(f"{self._path}: {error}")


def _row_offsets(page: bytes) -> tuple[Sequence[int], int]:
    """Return where the rows of a page are, and where that list of offsets ends."""
    header = _INTERIOR_HEADER_BYTES if page[0] in _INTERIOR_PAGES else _LEAF_HEADER_BYTES
    (count,) = unpack_from(">H", page, 3)
    return unpack_from(f">{count}H", page, header), header + 2 * count


def _children(page: bytes) -> list[int]:
    """Return the pages below an interior page: one for each row, and the last one, which is in the header."""
    if page[0] not in _INTERIOR_PAGES:
        return []
    rows, _ = _row_offsets(page)
    return [unpack_from(">I", page, offset)[0] for offset in (*rows, _LEAF_HEADER_BYTES)]
