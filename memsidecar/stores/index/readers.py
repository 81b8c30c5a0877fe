"""Who is reading: files of an old version may go once nobody who began before is still under way."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition

from memsidecar.stores.contract.index import IndexUnavailable


class Readers:
    """Reading never waits. Whoever takes files away waits for the readers that may have seen them, and for no other.

    That is enough because a reader looks at the newest version there is when it begins, and that one stays.
    """

    def __init__(self) -> None:
        self._changed = Condition()
        self._under_way: set[int] = set()
        self._last = 0
        self._closed = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        mine = self._begin()
        try:
            yield
        finally:
            with self._changed:
                self._under_way.remove(mine)
                self._changed.notify_all()

    def _begin(self) -> int:
        with self._changed:
            if self._closed:
                raise IndexUnavailable("the table is closed")
            self._last += 1
            self._under_way.add(self._last)
            return self._last

    def wait_for_those_before(self) -> None:
        with self._changed:
            before = set(self._under_way)
            self._changed.wait_for(lambda: self._under_way.isdisjoint(before))

    def close(self) -> None:
        """Let nobody in any more, and wait for all who are."""
        with self._changed:
            self._closed = True
        self.wait_for_those_before()
