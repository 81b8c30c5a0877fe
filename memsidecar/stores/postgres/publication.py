"""The order of a commit's publication and the reads that see it.

A commit is visible some microseconds before the listeners of this process know of it. A read that has seen it waits for
them: else a caller could read it in one call and miss it in a cache in the next.

Only commits of this process are known here. A commit of another one is visible to all reads at once, and no cache may
rest on listeners where there can be others.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Condition

from memsidecar.stores.postgres.namespaces import NamespaceChanges


class Publication:
    """The commit that is under way, if there is one, with the namespaces that it changes. Thread-safe.

    A lone commit at a time: the committer has one thread.
    """

    def __init__(self) -> None:
        self._ended = Condition()
        self._first_lsns: dict[str, int] = {}
        self._count = 0

    @contextmanager
    def of(self, namespaces: Sequence[NamespaceChanges]) -> Iterator[None]:
        """Hold back reads that see the commit until the block ends. Its lsns are above those that were read."""
        with self._ended:
            self._first_lsns = {changes.name: changes.read_lsn + 1 for changes in namespaces}
        try:
            yield
        finally:
            with self._ended:
                self._first_lsns = {}
                self._count += 1
                self._ended.notify_all()

    def wait_for_current(self, namespace: str) -> None:
        """Wait until all that a read may have seen of a namespace is published: the commit that is under way."""
        with self._ended:
            count = self._count
            if namespace in self._first_lsns:
                self._ended.wait_for(lambda: self._count > count)

    def wait_for(self, namespace: str, lsn: int) -> None:
        """Wait until what a read saw of a namespace, up to an lsn, is published."""
        with self._ended:
            self._ended.wait_for(lambda: lsn < self._first_lsns.get(namespace, lsn + 1))
