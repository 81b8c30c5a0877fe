"""Pages of an export: bounded in items and bytes."""

from collections.abc import Iterable
from typing import NamedTuple

from memsidecar.stores.contract import ArchivedMessage, ArchivedRecord, ArchivePage

MAX_PAGE_BYTES = 1 << 20
MAX_PAGE_ITEMS = 256
MAX_PAGE_ROWS = 8_192
"Rows out of the scope that one page may walk over."


class PageItem(NamedTuple):
    """An item, the place after which the next page begins if it is the last, and the size of its content."""

    item: ArchivedMessage | ArchivedRecord
    place: int
    size: int


def record_item(record: ArchivedRecord) -> PageItem:
    return PageItem(record, record.row_id, len(record.record.body))


def message_item(message: ArchivedMessage) -> PageItem:
    displayed = message.displayed.body if message.displayed else b""
    return PageItem(message, message.lsn, len(message.original.body) + len(displayed))


def bounded_page(found: Iterable[PageItem], next_after: int | None) -> ArchivePage:
    """Return the items until the page is full; `next_after` is where the next page begins if it is not."""
    items: list[ArchivedMessage | ArchivedRecord] = []
    size = 0
    for item, place, item_bytes in found:
        items.append(item)
        size += item_bytes
        if len(items) == MAX_PAGE_ITEMS or size > MAX_PAGE_BYTES:
            return ArchivePage(items, place)
    return ArchivePage(items, next_after)
