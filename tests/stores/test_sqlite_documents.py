"""Documents on disk: deleted and replaced text is in no file, and damage is detected."""

import random
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.domain.errors import DataCorrupted
from memsidecar.stores.contract import DeleteDocument, Journal, Owner
from memsidecar.stores.sqlite.integrity import examine
from memsidecar.stores.sqlite.secure_delete import MAX_ROWS_PER_STEP
from tests.conformance.builders import NAMESPACE_OWNER, append, draft, erase, execute, follow, put
from tests.stores.directories import bytes_of, opened

SESSION = Owner("default", "", "s1")
SECRETS = {"title": "S3CRET title", "source": "S3CRET source", "metadata": b"S3CRET metadata"}


def put_secret(journal: Journal, name: str = "d1", owner: Owner = NAMESPACE_OWNER) -> None:
    """Put chunks of all sizes, with a header that is replaced once."""
    chunks = [f"S3CRET {number} {'x' * (number * 977 % 9_000)}" for number in range(600)]
    put(journal, *chunks, name=name, owner=owner, **SECRETS)
    put(journal, *chunks, name=name, owner=owner, **SECRETS | {"title": "S3CRET again"})


@pytest.mark.parametrize("count", [1, 31, 32, 33, 500])
def test_chunks_are_written_in_batches_and_read_singly(folder: Path, count: int) -> None:
    texts = [f"chunk {number}" for number in range(count)]
    with opened(folder) as journal:
        statements: list[str] = []
        journal._writer._connection.set_trace_callback(statements.append)
        version = put(journal, *texts).document.version
        assert sum("INTO texts" in statement for statement in statements) == (count + 1 + 31) // 32
        found = journal.find_chunks("default", [(version, ordinal) for ordinal in range(count)])
        assert [chunk.text for _, chunk in found.values()] == texts
    assert examine(folder) == []


def test_a_deleted_document_is_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        put(journal, "kept", name="other")
        put_secret(journal)
        assert b"S3CRET" in bytes_of(folder)
        execute(journal, DeleteDocument(NAMESPACE_OWNER, "d1"))
        assert b"S3CRET" not in bytes_of(folder)
        assert put(journal, "kept", name="other").unchanged
    assert examine(folder) == []


def test_replaced_text_is_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        put_secret(journal)
        put(journal, "public")
        assert b"S3CRET" not in bytes_of(folder)
        assert b"public" in bytes_of(folder)
    assert examine(folder) == []


def test_a_replaced_title_is_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        put(journal, "public", **SECRETS)
        assert b"S3CRET" in bytes_of(folder)
        put(journal, "public", title="harmless")
        assert b"S3CRET" not in bytes_of(folder)


def test_the_documents_of_a_deleted_session_are_in_no_file(folder: Path) -> None:
    with opened(folder) as journal:
        append(journal, draft("S3CRET message"))
        for number in range(3):
            put_secret(journal, f"d{number}", SESSION)
        erase(journal, delete_session=True)
        assert b"S3CRET" not in bytes_of(folder)
    assert examine(folder) == []


def test_a_session_with_many_documents_is_erased_in_few_steps(folder: Path) -> None:
    with opened(folder) as journal:
        for number in range(300):
            put(journal, f"S3CRET {number}", name=f"d{number}", owner=SESSION)
        statements: list[str] = []
        journal._writer._connection.set_trace_callback(statements.append)
        erase(journal, delete_session=True)
        assert b"S3CRET" not in bytes_of(folder)
        texts = 2 * 300  # a chunk and a header each
        assert statements.count("COMMIT") < texts / MAX_ROWS_PER_STEP + 4


@pytest.mark.parametrize("seed", range(6))
def test_text_stored_beside_deleted_text_is_in_no_file_after_its_own_deletion(folder: Path, seed: int) -> None:
    chance = random.Random(seed)
    names = [f"k{number}z" for number in range(chance.randint(2, 12))]
    present: set[str] = set()
    with opened(folder) as journal:
        for step in range(25):
            for _ in range(chance.randint(1, 8)):
                name = chance.choice(names)
                present.add(name)
                put_random_chunks(journal, name, f"{step}", chance)
            name = chance.choice(sorted(present))
            present.remove(name)
            execute(journal, DeleteDocument(NAMESPACE_OWNER, name))
            assert f"{name} S3CRET".encode() not in bytes_of(folder)
    assert examine(folder) == []


def put_random_chunks(journal: Journal, name: str, mark: str, chance: random.Random) -> None:
    secret = f"{name} S3CRET"
    sizes = [chance.choice([1, 10, 100, 700, 1_500, 3_000, 9_000]) for _ in range(chance.randint(1, 9))]
    chunks = [f"{secret} {mark} {'y' * size}" for size in sizes]
    put(journal, *chunks, name=name, title=f"{secret} title", metadata=secret.encode() * chance.randint(1, 200))


def test_orphaned_text_is_purged_at_the_next_start(folder: Path) -> None:
    """A crash after the commit and before the first step leaves the text and its row in `orphaned_texts`."""
    with opened(folder) as journal:
        put_secret(journal)
        put(journal, "kept", name="other")
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as connection:
        (first, count) = connection.execute("SELECT first_chunk, chunk_count FROM documents WHERE id = 'd1'").fetchone()
        connection.execute("INSERT INTO orphaned_texts SELECT header, header FROM documents WHERE id = 'd1'")
        connection.execute("INSERT INTO orphaned_texts VALUES (?, ?)", (first, first + count - 1))
        connection.execute("DELETE FROM documents WHERE id = 'd1'")
    assert b"S3CRET" in bytes_of(folder)
    with opened(folder) as journal:
        assert put(journal, "kept", name="other").unchanged
        assert put(journal, "new").document.row_id == 3
    assert b"S3CRET" not in bytes_of(folder)
    assert examine(folder) == []


def test_row_ids_continue_after_a_restart(folder: Path) -> None:
    with opened(folder) as journal:
        first = put(journal, "one").document
        execute(journal, DeleteDocument(NAMESPACE_OWNER, "d1"))
    with opened(folder) as journal:
        assert put(journal, "two").document.row_id == first.row_id + 1
        assert append(journal, draft("a")).head.row_id == 1


def damage(folder: Path, statement: str) -> None:
    with closing(sqlite3.connect(folder / "journal.db", isolation_level=None)) as connection:
        connection.execute(statement)


def test_a_chunk_that_does_not_match_its_checksum_is_detected_and_can_be_deleted(folder: Path) -> None:
    with opened(folder) as journal:
        version = put(journal, "one", "two").document.version
    damage(folder, "UPDATE texts SET text = x'00'")
    assert examine(folder) == [
        f"{folder / 'journal.db'}: text {number} does not match its checksum" for number in (1, 2, 3)
    ]
    with opened(folder) as journal:
        for read in (lambda: journal.find_chunks("default", [(version, 1)]), lambda: follow(journal)):
            with pytest.raises(DataCorrupted):
                read()
        execute(journal, DeleteDocument(NAMESPACE_OWNER, "d1"))
    assert examine(folder) == []


def test_a_document_that_lost_text_is_detected(folder: Path) -> None:
    with opened(folder) as journal:
        put(journal, "one", "two")
    damage(folder, "DELETE FROM texts WHERE row_id = 3")
    assert examine(folder) == [f"{folder / 'journal.db'}: document 'd1' in namespace 'default' has lost text"]
