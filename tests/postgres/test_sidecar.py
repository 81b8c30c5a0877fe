"""`memsidecar serve`, `migrate` and `doctor` with a journal on PostgreSQL, over the wire."""

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest

from memsidecar.stores.postgres.migrations import migrate
from memsidecar.v1 import knowledge_pb2 as knowledge
from tests.postgres.conftest import NEWEST
from tests.support.forked import run
from tests.support.postgres_server import PostgresServer, create_database, free_port, postgres_server
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import HANG_SECONDS, until

TEXTS = ["My name is Ann.", "I live in Lisbon."]


@pytest.fixture
def flags(tmp_path: Path, url: str) -> tuple[str, ...]:
    file = tmp_path / "postgres-url"
    file.write_text(f"{url}\n")
    return "--journal", "postgres", "--postgres-url-file", str(file)


@pytest.fixture
def sidecar(tmp_path: Path, flags: tuple[str, ...]) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path / "data", *flags) as running:
        yield running


def values(client: Client) -> list[str]:
    request = knowledge.ListFactsRequest(session_id="s1")
    return [fact.value for fact in client.knowledge.ListFacts(request).facts]


def contents(client: Client) -> list[str]:
    return [message.content for message in client.recent("s1", 10)]


def test_what_was_added_is_there_after_a_kill(sidecar: SidecarProcess) -> None:
    with sidecar.client() as client:
        for text in TEXTS:
            client.add("s1", text)
    sidecar.kill()
    sidecar.start()
    with sidecar.client() as client:
        assert contents(client) == TEXTS


def test_the_commands_prepare_and_examine_the_database(
    tmp_path: Path, server: PostgresServer, new_database: str
) -> None:
    file = tmp_path / "postgres-url"
    file.write_text(server.url(new_database))
    flags = ("--journal", "postgres", "--postgres-url-file", str(file))
    refused = run("serve", *flags, "--data-dir", str(tmp_path / "data"), timeout=HANG_SECONDS)
    assert refused.returncode != 0 and "memsidecar migrate" in refused.stderr
    assert run("migrate", "--postgres-url-file", str(file), timeout=HANG_SECONDS).returncode == 0
    with SidecarProcess(tmp_path / "data", *flags) as running, running.client() as client:
        client.add("s1", TEXTS[0])
        examined = run("doctor", *flags, timeout=HANG_SECONDS)
    assert (examined.returncode, examined.stdout) == (0, "the database: whole\n")


def test_a_sidecar_does_not_start_without_its_database(tmp_path: Path) -> None:
    file = tmp_path / "postgres-url"
    file.write_text(f"postgresql://memsidecar@127.0.0.1:{free_port()}/none")
    flags = ("--journal", "postgres", "--postgres-url-file", str(file), "--data-dir", str(tmp_path / "data"))
    refused = run("serve", *flags, timeout=HANG_SECONDS)
    assert refused.returncode != 0
    assert refused.stderr.splitlines()[-1].endswith("the journal's database does not answer; nothing was changed")


def test_a_directory_with_a_journal_of_sqlite_is_refused(tmp_path: Path, flags: tuple[str, ...]) -> None:
    SidecarProcess(tmp_path / "data").stop()
    refused = run("serve", *flags, "--data-dir", str(tmp_path / "data"), timeout=HANG_SECONDS)
    assert refused.returncode != 0 and "needs a directory of its own" in refused.stderr


def test_without_its_database_a_sidecar_answers_unavailable_and_goes_on(tmp_path: Path) -> None:
    with postgres_server(NEWEST, durable=True) as server:
        url = create_database(server, "memsidecar")
        migrate(lambda: url)
        file = tmp_path / "postgres-url"
        file.write_text(url)
        flags = ("--journal", "postgres", "--postgres-url-file", str(file))
        quickly = ("--facts-quiet-seconds", "0")
        with SidecarProcess(tmp_path / "data", *flags, *quickly) as running, running.client() as client:
            client.add("s1", TEXTS[0])
            server.kill()
            refused = refusal(lambda: client.add("s1", TEXTS[1], id="second"))
            assert (refused.code, refused.reason) == (grpc.StatusCode.UNAVAILABLE, "JOURNAL_UNAVAILABLE")
            assert refused.retry
            until(lambda: "background tasks wait" in running.log())
            server.start()
            client.add("s1", TEXTS[1], id="second")
            assert contents(client) == TEXTS
            until(lambda: "Lisbon" in values(client), "the facts")
