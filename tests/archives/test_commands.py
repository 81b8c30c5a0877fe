"""`memsidecar export`, `memsidecar import` and `memsidecar compare` as a user runs them."""

import gzip
import json
import re
import stat
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from memsidecar.access.policy import AccessRole
from memsidecar.cli.archive_file import MAX_UNSAVED_BYTES, ArchiveWriter
from memsidecar.cli.compare import MAX_VALUE_CHARACTERS
from memsidecar.v1 import session_pb2 as sessions
from memsidecar.v1.memory_pb2 import AddRequest
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.access.access_files import Grant
from tests.access.restricted_sidecar import restricted_sidecar
from tests.archives.filled_memory import differences, export_records, import_records, settle
from tests.archives.test_formats import SAMPLE_FORMATS, SAMPLES
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.support.forked import run
from tests.support.process import Client
from tests.support.waiting import HANG_SECONDS


def memsidecar(client: Client, command: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    given = (command, "--address", client.address, *arguments)
    return run(*given, environ={}, timeout=HANG_SECONDS)


@pytest.mark.parametrize("name", ["memory.jsonl", "memory.jsonl.gz"])
def test_a_file_moves_a_memory(filled: Client, empty: Client, tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    done = memsidecar(filled, "export", "--out", str(file))
    assert done.returncode == 0, done.stderr
    count = len(export_records(filled))
    assert f"exported {count} records" in done.stderr and [path.name for path in tmp_path.iterdir()] == [name]
    content = file.read_bytes()
    lines = (gzip.decompress(content) if name.endswith(".gz") else content).decode().splitlines()
    assert len(lines) == count and all(json.loads(line)["version"] == 1 for line in lines)
    done = memsidecar(empty, "import", str(file))
    assert done.returncode == 0, done.stderr
    assert f"imported {count} records: 0 were there already" in done.stderr
    settle(empty)
    assert differences(filled, empty) == []
    compared = memsidecar(filled, "compare", "--other-address", empty.address)
    assert compared.returncode == 0 and re.fullmatch(r"equal: .*\b\d+ message records.*\n", compared.stdout)
    again = memsidecar(empty, "import", str(file))
    assert f"imported {count} records: {count} were there already" in again.stderr


def test_only_the_owner_may_read_an_archive(empty: Client, tmp_path: Path) -> None:
    empty.add("s", "a secret")
    file = tmp_path / "memory.jsonl"
    done = memsidecar(empty, "export", "--out", str(file))
    assert done.returncode == 0, done.stderr
    (tmp_path / "other.jsonl.partial").touch(0o644)
    writer = ArchiveWriter(tmp_path / "other.jsonl", "", resume=False)
    writer.save("a cursor")
    writer.close()
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == {"memory.jsonl": 0o600, "other.jsonl.partial": 0o600, "other.jsonl.partial.cursor": 0o600}


def test_a_checkpoint_has_a_bounded_number_of_bytes(empty: Client, tmp_path: Path) -> None:
    text = "one more line\n" * 70_000
    for at in range(10):
        empty.add("s", f"{at} {text}")
    file = tmp_path / "memory.jsonl.gz"
    done = memsidecar(empty, "export", "--out", str(file))
    assert done.returncode == 0, done.stderr
    sizes = member_sizes(file.read_bytes())
    assert len(sizes) == 2 and max(sizes) < MAX_UNSAVED_BYTES + 2 * len(text)


def member_sizes(content: bytes) -> list[int]:
    """Return the sizes of the members of a gzip file, uncompressed: there is one for each checkpoint."""
    sizes = []
    while content:
        member = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        sizes.append(len(member.decompress(content)))
        content = member.unused_data
    return sizes


def test_compare_reports_differences(filled: Client, empty: Client) -> None:
    done = memsidecar(filled, "compare", "--other-address", empty.address)
    assert done.returncode == 1 and "ListSessions()" in done.stdout and "differences" in done.stdout
    assert max(map(len, done.stdout.splitlines())) < 2 * MAX_VALUE_CHARACTERS + 200, done.stdout


def test_compare_finds_users_without_a_session(filled: Client, empty: Client) -> None:
    KnowledgeClient(filled, "facts", "ann").put_facts(fact("Oslo"))
    KnowledgeClient(empty, "facts", "ann").put_facts(fact("Rome"))
    done = memsidecar(filled, "compare", "--namespace", "facts", "--other-address", empty.address)
    assert done.returncode == 1 and "ListFacts(ann)" in done.stdout


def test_compare_says_that_both_are_empty(filled: Client, empty: Client) -> None:
    done = memsidecar(filled, "compare", "--namespace", "mistyped", "--other-address", empty.address)
    assert (done.returncode, done.stdout) == (0, "equal: both are empty, there is nothing in namespace mistyped\n")


def test_compare_does_not_take_the_same_refusal_for_equal(tmp_path: Path) -> None:
    """A reader may not let patterns be computed again."""
    reader, admin = Grant("reader", ("n",), AccessRole.READ), Grant("admin", ("n",), AccessRole.ADMIN)
    with restricted_sidecar(tmp_path, [reader, admin]) as restricted:
        message = Message(role=ROLE_USER, content="hello")
        add = AddRequest(namespace="n", session_id="s", user_id="ann", message=message)
        restricted.client.memory.Add(add, metadata=[("authorization", f"Bearer {admin.text}")])
        for grant, code in ((reader, 1), (admin, 0)):
            token_file = tmp_path / "token"
            token_file.write_text(grant.text)
            same = ("--namespace", "n", "--token-file", str(token_file), "--other-address", restricted.client.address)
            done = memsidecar(restricted.client, "compare", *same)
            assert done.returncode == code and ("PERMISSION_DENIED" in done.stderr) == bool(code), done


def test_standard_output_and_input_move_a_user(filled: Client, empty: Client) -> None:
    exported = memsidecar(filled, "export", "--out", "-", "--user", "bob")
    assert exported.returncode == 0, exported.stderr
    command = [sys.executable, "-m", "memsidecar", "import", "--address", empty.address, "--namespace", "copy", "-"]
    environ = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run(
        command, input=exported.stdout, env=environ, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert done.returncode == 0, done.stderr
    assert export_records(empty, "copy", user_id="bob") == export_records(filled, user_id="bob")


@pytest.mark.parametrize(("name", "file_format"), SAMPLE_FORMATS.items())
def test_a_chat_of_another_system_is_imported_once(empty: Client, name: str, file_format: str) -> None:
    count = 0
    for times in range(2):
        done = memsidecar(
            empty, "import", str(SAMPLES / name), "--format", file_format, "--user", "ann", "--namespace", "chats"
        )
        assert done.returncode == 0, done.stderr
        count = int(done.stderr.split("imported ")[1].split()[0])
        assert f"{count if times else 0} were there already" in done.stderr
    messages = [record for record in export_records(empty, "chats") if record.HasField("message")]
    assert len(messages) == count > 0


def test_an_invalid_record_is_named_with_its_line(empty: Client, tmp_path: Path) -> None:
    lines = [json.dumps({"role": "user", "content": f"message {at}", "id": f"m{at}"}) for at in range(300)]
    lines[250] = json.dumps({"role": "user", "content": "x", "id": "a\u0007"})
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(lines))
    done = memsidecar(empty, "import", str(file), "--session", "s")
    assert done.returncode == 1
    assert (
        "line 251: Import is refused (INVALID_ARGUMENT, reason INVALID_FIELD, field record.message.id)" in done.stderr
    )
    assert len(empty.all("s")) == 250


def test_an_id_with_another_body_is_named_with_its_line(empty: Client, tmp_path: Path) -> None:
    empty.add("s", "known", id="m7")
    lines = [json.dumps({"role": "user", "content": f"message {at}", "id": f"m{at}"}) for at in range(20)]
    file = tmp_path / "chat.jsonl"
    file.write_text("\n".join(lines))
    done = memsidecar(empty, "import", str(file), "--session", "s")
    assert done.returncode == 1 and "line 8: Import is refused (ALREADY_EXISTS, reason ID_CONFLICT)" in done.stderr
    assert len(empty.all("s")) == 8


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("import", "missing.jsonl"), "missing.jsonl cannot be read"),
        (("import", "README.md", "--format", "yaml"), "auto, memsidecar, openai"),
        (("export", "--out", "x.jsonl", "--resume"), "there is nothing to resume"),
        (("export", "--out", "README.md"), "README.md exists already"),
        (("export", "--out", "missing/x.jsonl"), "cannot be written"),
    ],
)
def test_a_problem_is_reported_without_a_traceback(empty: Client, arguments: tuple[str, ...], problem: str) -> None:
    command, *rest = arguments
    done = memsidecar(empty, command, *rest)
    assert done.returncode == 1 and problem in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--user", "--session"])
@pytest.mark.parametrize("file_format", ["auto", "memsidecar"])
def test_another_user_or_session_than_those_of_an_archive_is_refused(
    empty: Client, tmp_path: Path, option: str, file_format: str
) -> None:
    file = tmp_path / "memory.jsonl"
    file.write_text('{"userId": "ann", "sessionId": "s", "session": {}, "version": 1}\n')
    done = memsidecar(empty, "import", str(file), "--format", file_format, option, "bob")
    assert done.returncode == 2 and option in done.stderr and "not for archives" in done.stderr
    assert export_records(empty) == []


def test_a_sidecar_that_is_down_is_waited_for(tmp_path: Path) -> None:
    done = run(
        "export", "--address", "127.0.0.1:1", "--timeout", "0.5", "--out", str(tmp_path / "x"), environ={}, timeout=60
    )
    assert done.returncode == 1 and "127.0.0.1:1 does not answer: nothing listens there" in done.stderr
    assert not (tmp_path / "x").exists()


def test_an_interrupted_export_goes_on(filled: Client, empty: Client, tmp_path: Path) -> None:
    """The state that a killed command leaves: a checkpoint, and half a line after it."""
    whole = list(filled.sessions.Export(sessions.ExportRequest(namespace="default")))
    file = tmp_path / "memory.jsonl"
    done = memsidecar(filled, "export", "--out", str(file))
    assert done.returncode == 0
    lines = file.read_text().splitlines(keepends=True)
    file.unlink()
    kept = "".join(lines[:40])
    (tmp_path / "memory.jsonl.partial").write_text(kept + lines[40][:10])
    checkpoint = {
        "request": "namespace default",
        "bytes": len(kept.encode()),
        "records": 40,
        "cursor": whole[39].cursor,
    }
    (tmp_path / "memory.jsonl.partial.cursor").write_text(json.dumps(checkpoint))
    done = memsidecar(filled, "export", "--out", str(file), "--resume", "--user", "ann")
    assert done.returncode == 1 and "and not of" in done.stderr
    done = memsidecar(filled, "export", "--out", str(file), "--resume")
    assert done.returncode == 0, done.stderr
    assert file.read_text().splitlines(keepends=True) == lines
    assert import_records(empty, [response.record for response in whole]).durable_count == len(lines)
