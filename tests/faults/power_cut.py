"""A model of power loss: the disk after a cut, made from the recorded file operations of a process (`recorder.c`).

A sync makes the earlier writes to its file durable, and that of a directory the names in it. Of later operations any
may be lost: each sector of a write on its own, and names from some operation on. As CrashMonkey and ALICE do, one
recorded run yields many states of the disk.
"""

import random
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

SECTOR_BYTES = 512
_HEADER = struct.Struct("<cQQII")
SHARED_MEMORY = "-shm"
"SQLite makes this file again. After power loss it may hold anything."


class Event(NamedTuple):
    kind: str
    time_ns: int
    offset: int
    path: str
    content: bytes


def read_events(log: Path) -> list[Event]:
    data, events, at = log.read_bytes(), list[Event](), 0
    while at < len(data):
        kind, time_ns, offset, path_size, size = _HEADER.unpack_from(data, at)
        at += _HEADER.size
        path, content = data[at : at + path_size].decode(), data[at + path_size : at + path_size + size]
        events.append(Event(kind.decode(), time_ns, offset, path, content))
        at += path_size + size
    return events


@dataclass
class File:
    """The durable content of a file, and the operations on it since the last sync."""

    durable: bytearray = field(default_factory=bytearray)
    pending: list[Event] = field(default_factory=list)

    def sync(self) -> None:
        for event in self.pending:
            apply(self.durable, event)
        self.pending.clear()


def apply(content: bytearray, event: Event) -> None:
    if event.kind == "t":
        del content[event.offset :]
        content.extend(bytes(event.offset - len(content)))
        return
    content.extend(bytes(max(0, event.offset - len(content))))
    content[event.offset : event.offset + len(event.content)] = event.content


def sectors(event: Event) -> Iterator[Event]:
    """Split a write at the boundaries of sectors."""
    at, end = event.offset, event.offset + len(event.content)
    while at < end:
        after = min((at // SECTOR_BYTES + 1) * SECTOR_BYTES, end)
        yield event._replace(offset=at, content=event.content[at - event.offset : after - event.offset])
        at = after


Choice = Callable[[random.Random, str, Sequence[Event]], Iterator[Event]]
"From the operations on a file since its last sync, those that reach the disk."


def nothing(_: random.Random, __: str, ___: Sequence[Event]) -> Iterator[Event]:
    yield from ()


def everything(_: random.Random, __: str, pending: Sequence[Event]) -> Iterator[Event]:
    yield from pending


def first_ones(chance: random.Random, _: str, pending: Sequence[Event]) -> Iterator[Event]:
    """Choose the first operations; the last of them is torn."""
    count = chance.randint(0, len(pending))
    yield from pending[:count]
    if count < len(pending):
        parts = list(sectors(pending[count]))
        yield from parts[: chance.randint(0, len(parts))]


def any_sectors(chance: random.Random, _: str, pending: Sequence[Event]) -> Iterator[Event]:
    share = chance.random()
    for event in pending:
        parts = [event] if event.kind == "t" else sectors(event)
        yield from (part for part in parts if chance.random() < share)


def garbage(chance: random.Random, path: str, pending: Sequence[Event]) -> Iterator[Event]:
    """Choose sectors of the write-ahead log; others hold garbage. Other files are as with `any_sectors`."""
    if not path.endswith("-wal"):
        yield from any_sectors(chance, path, pending)
        return
    for event in pending:
        for part in [event] if event.kind == "t" else sectors(event):
            fate = chance.random()
            if fate < 0.2 and part.kind == "w":
                yield part._replace(content=chance.randbytes(len(part.content)))
            elif fate < 0.8:
                yield part


CHOICES: tuple[Choice, ...] = (nothing, everything, first_ones, any_sectors, garbage)


class Disk:
    """Files by their names now, and by the names that are durable."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._now: dict[str, File] = {}
        self._durable: dict[str, File] = {}
        self._names: list[Event] = []

    def apply(self, event: Event) -> None:
        if event.kind == "s":
            if event.path == self._folder:
                self._durable, self._names = dict(self._now), []
            elif event.path in self._now:
                self._now[event.path].sync()
        elif event.kind in "cur":
            rename(self._now, event, File())
            self._names.append(event)
        else:
            self._now.setdefault(event.path, File()).pending.append(event)

    def image(self, choice: Choice, chance: random.Random) -> dict[str, bytes]:
        """Return a state of the disk after a power cut: contents by file name."""
        files = self._files_after_cut(chance.randint(0, len(self._names)))
        image = {}
        for path, file in files.items():
            content = bytearray(file.durable)
            for event in choice(chance, path, file.pending):
                apply(content, event)
            image[Path(path).name] = bytes(content)
        return image

    def _files_after_cut(self, count: int) -> dict[str, File]:
        """Return the files by the durable names, after the first operations on names since."""
        files = dict(self._durable)
        for event in self._names[:count]:
            name = event.content.decode() if event.kind == "r" else event.path
            rename(files, event, self._now.get(name, File()))
        return {path: file for path, file in files.items() if not path.endswith(SHARED_MEMORY)}


def rename(files: dict[str, File], event: Event, created: File) -> None:
    if event.kind == "c":
        files[event.path] = created
    elif event.kind == "r":
        files[event.content.decode()] = files.pop(event.path, created)
    else:
        files.pop(event.path, None)


def cuts(
    events: Sequence[Event], folder: str, count: int, chance: random.Random
) -> Iterator[tuple[int, dict[str, bytes]]]:
    """Return this many states of the disk in the order of their moments, each with the time of the cut.

    A cut is directly before an event: what was acknowledged until that event must be on the disk.
    """
    disk = Disk(folder)
    chosen = sorted(chance.choices(range(len(events)), k=count))
    for at, event in enumerate(events):
        while chosen and chosen[0] == at:
            chosen.pop(0)
            yield event.time_ns, disk.image(chance.choice(CHOICES), chance)
        disk.apply(event)
