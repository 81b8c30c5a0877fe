"""The shelves that are in RAM: bounded in bytes, the one that was not used for the longest time goes first."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

from memsidecar.layers.episodic.shelf import Shelf
from memsidecar.stores.contract import Harvest


class ShelfKey(NamedTuple):
    """A shelf of one generation of a namespace's index."""

    namespace: str
    generation: int
    shelf: int


class HotShelves:
    """Thread-safe."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._lock = threading.Lock()
        self._shelves: OrderedDict[ShelfKey, Shelf] = OrderedDict()
        self._loading: dict[ShelfKey, threading.Lock] = {}

    def get(self, key: ShelfKey) -> Shelf | None:
        with self._lock:
            shelf = self._shelves.get(key)
            if shelf is not None:
                self._shelves.move_to_end(key)
            return shelf

    def get_or_load(self, key: ShelfKey, load: Callable[[], Shelf]) -> Shelf:
        """The shelf; whoever comes while another loads it waits for that one."""
        if (shelf := self.get(key)) is not None:
            return shelf
        with self._lock:
            loading = self._loading.setdefault(key, threading.Lock())
        with loading:
            if (shelf := self.get(key)) is None:
                shelf = load()
                self._keep(key, shelf)
        return shelf

    def _keep(self, key: ShelfKey, shelf: Shelf) -> None:
        with self._lock:
            self._shelves[key] = shelf
            self._loading.pop(key, None)
            self._make_room()

    def _make_room(self) -> None:
        size = sum(shelf.size_bytes for shelf in self._shelves.values())
        while size > self.max_bytes and self._shelves:
            _, dropped = self._shelves.popitem(last=False)
            size -= dropped.size_bytes

    def tell(self, namespace: str, generation: int, after: int, end: int, harvest: Harvest) -> None:
        """Pass on what was indexed to the shelves that are here. One that has missed something is dropped."""
        with self._lock:
            told = [(key, shelf) for key, shelf in self._shelves.items() if key[:2] == (namespace, generation)]
        lost = [
            key
            for key, shelf in told
            if not shelf.advance(after, end, harvest.on_shelves([key.shelf])) or shelf.is_mostly_dead
        ]
        with self._lock:
            for key in lost:
                self._shelves.pop(key, None)
            self._make_room()

    def discard(self, key: ShelfKey) -> None:
        with self._lock:
            self._shelves.pop(key, None)

    def drop(self, namespace: str, generation: int) -> None:
        with self._lock:
            for key in [key for key in self._shelves if key[:2] == (namespace, generation)]:
                del self._shelves[key]
