"""The files of an index, read with LanceDB alone, without the sidecar's repair."""

import sqlite3
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import lancedb

from memsidecar.stores.lance import files
from tests.support import waiting
from tests.support.waiting import HANG_SECONDS

NEWEST_POSSIBLE = 2**64 - 1

Place = tuple[str, int]
"A session's id and a sequence in it."


class Row(NamedTuple):
    """One row of the index; a chunk of a document has no session."""

    lsn: int
    sequence: int
    session: int
    terms: str


def until(
    holds: Callable[[], object],
    what: str,
    *,
    progress: Callable[[], object] = lambda: None,
    pause_seconds: float = 0.05,
) -> None:
    """Wait until a condition holds. A condition that raises does not hold; the last error is part of the failure.

    A table that is being rewritten may be unreadable for a moment.
    """
    errors: list[Exception] = []

    def tried(condition: Callable[[], object]) -> object:
        try:
            return condition()
        except Exception as error:  # noqa: BLE001 - it is part of the message
            errors[:] = [error]
            return None

    try:
        waiting.until(lambda: tried(holds), what, progress=lambda: tried(progress), pause_seconds=pause_seconds)
    except AssertionError as late:
        raise late from (errors[0] if errors else None)


class IndexFiles:
    """The index of one namespace in a data directory."""

    def __init__(self, data_dir: Path, namespace: str = "default") -> None:
        self.data_dir = data_dir
        self.namespace = namespace
        self.directory = data_dir / "index"

    # -- current state

    @property
    def generation(self) -> int:
        """Return the generation of the live table, as stored in the journal; 0 for none."""
        found = self._query("SELECT lsn FROM watermarks WHERE task = 'episodic.generation' AND namespace = ?")
        return int(found[0][0]) if found else 0

    @property
    def folder(self) -> Path:
        return self.directory / f"{files.name(self.namespace, self.generation)}.lance"

    @property
    def metadata_file(self) -> Path:
        return self.directory / f"{files.name(self.namespace, self.generation)}.json"

    @property
    def manifests(self) -> list[Path]:
        """Return the manifests, newest first."""
        return sorted((self.folder / "_versions").glob("*.manifest"))

    @property
    def version(self) -> int:
        """Return the version of the newest manifest; the names count down, so that the newest comes first."""
        return NEWEST_POSSIBLE - int(self.manifests[0].stem)

    @property
    def data_files(self) -> list[Path]:
        """Return the data files, largest first."""
        return sorted((self.folder / "data").glob("*.lance"), key=lambda path: -path.stat().st_size)

    def entries(self) -> set[str]:
        """Return the names in the index folder that belong to the namespace."""
        return {path.name for path in self.directory.glob(f"{files.stem(self.namespace)}*")}

    def tables(self) -> set[str]:
        return {name for name in self.entries() if name.endswith(".lance")}

    def rows(self) -> list[Row]:
        table = lancedb.connect(self.directory).open_table(self.folder.stem)
        columns: Any = table.to_arrow().select(list(Row._fields)).to_pydict()
        return [Row(*row) for row in zip(*columns.values(), strict=True)]

    def places(self) -> Counter[Place]:
        """Count the rows of each message; a deleted session is named by its row id."""
        names = dict(self._query("SELECT row_id, session_id FROM sessions WHERE namespace = ?"))
        rows = [row for row in self.rows() if row.session >= 0]
        return Counter((str(names.get(row.session, f"number {row.session}")), row.sequence) for row in rows)

    # -- checks

    def is_complete(self, expected: Iterable[Place]) -> bool:
        return self.places() == Counter(set(expected))

    def wait_until_complete(self, expected: Iterable[Place]) -> None:
        """Wait as long as there is progress: new versions of the table, or another table."""
        wanted = set(expected)
        try:
            until(
                lambda: self.is_complete(wanted),
                "the index is complete",
                progress=lambda: (self.folder.name, self.version),
            )
        except AssertionError as late:
            raise AssertionError(f"{self.namespace}: {self._difference(wanted)}") from late

    def wait_for_commits(self, count: int) -> None:
        """Wait for this many commits to one table."""
        first: dict[str, int] = {}

        def enough() -> bool:
            table, version = self.folder.name, self.version
            return version - first.setdefault(table, version) >= count

        until(enough, f"{self.namespace}: {count} commits")

    def wait_until_single_table(self) -> None:
        """Wait until a new table has replaced the old one."""
        until(lambda: self.tables() == {self.folder.name}, f"{self.namespace}: one table")

    def check_final(self, expected: Iterable[Place]) -> None:
        """Check a directory that is not in use: nothing missing, duplicated, or left over from another table."""
        wanted = set(expected)
        assert self.is_complete(wanted), self._difference(wanted)
        keys = Counter((row.lsn, row.sequence) for row in self.rows())
        assert max(keys.values(), default=1) == 1, keys.most_common(3)
        assert self._dead_letters() == []
        assert self.tables() == {self.folder.name}, self.tables()

    def _difference(self, wanted: set[Place]) -> str:
        try:
            found = self.places()
        except Exception as error:  # noqa: BLE001 - it is part of the message
            return f"the table cannot be read: {error!r}"
        missing = sorted(wanted - set(found))
        more = sorted(set(found) - wanted)
        duplicated = sorted(place for place, count in found.items() if count > 1)
        return f"missing {len(missing)} {missing[:5]}, too many {more[:5]}, duplicated {duplicated[:5]}"

    def _dead_letters(self) -> list[Any]:
        """Return the entries that a task skips. Tasks with a slash in their names are marks of attempts."""
        return self._query("SELECT lsn, reason FROM dead_letters WHERE namespace = ? AND task NOT LIKE '%/%'")

    def _query(self, query: str) -> list[Any]:
        connection = sqlite3.connect(f"file:{self.data_dir}/journal.db?mode=ro", uri=True, timeout=HANG_SECONDS)
        try:
            return connection.execute(query, (self.namespace,)).fetchall()
        finally:
            connection.close()


def files_with(directory: Path, *texts: str) -> list[str]:
    """Return the files below the directory that have one of the texts in their bytes or their name."""
    wanted = [text.encode() for text in texts]
    found = []
    for path in directory.rglob("*"):
        try:
            content = path.name.encode() + (path.read_bytes() if path.is_file() else b"")
        except FileNotFoundError:
            continue
        if any(text in content for text in wanted):
            found.append(str(path.relative_to(directory)))
    return found
