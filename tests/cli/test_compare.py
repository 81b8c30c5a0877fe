"""`memsidecar compare`: differences are shown as JSON."""

from collections.abc import Iterator

import pytest

from memsidecar.v1.session_pb2 import SessionPolicy, SetPolicyRequest
from tests.archives.filled_memory import export_records, import_records, settle
from tests.cli.commands import CommandLine
from tests.support.process import Client, SidecarProcess

HUGE = "words of a message without an end " * 2_000


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("other") / "data", "--index", "volatile") as sidecar:
        yield sidecar


def compared(memory: CommandLine, other_address: str, namespace: str) -> list[str]:
    """Return the lines of a comparison that did not fail."""
    done = memory.run("compare", "--namespace", namespace, "--other-address", other_address)
    assert done.stderr == "" and done.returncode == int(not done.stdout.startswith("equal: ")), done
    return done.stdout.splitlines()


def test_values_are_shown_as_json_of_one_line(memory: CommandLine, other: SidecarProcess) -> None:
    with memory.sidecar.client() as here, other.client() as there:
        here.add("s", 'red \x1b[31m "title"\n日本', namespace="values", id="m", user_id="ann")
        there.add("s", "blue", namespace="values", id="m", user_id="ann")
        there.add("s", "one more", namespace="values", id="n", user_id="ann")
    lines = compared(memory, other.address, "values")
    assert lines[0] == "Export().message: 1 here, 2 there"
    found = next(line for line in lines if line.startswith("GetRecent(s).messages: "))
    assert found.startswith(
        'GetRecent(s).messages: 1 item with {"id": "m", "role": "ROLE_USER", "content": "red \\u001b'
    )
    assert " here, 2 items with {" in found
    assert not any("\x1b" in line or "'" in line or "None" in line for line in lines), lines
    assert lines[-1].endswith(" differences")


def test_one_difference_is_not_counted_in_the_plural(memory: CommandLine, other: SidecarProcess) -> None:
    with other.client() as there:
        there.sessions.SetPolicy(SetPolicyRequest(namespace="single", policy=SessionPolicy(auto_prune_tokens=1_000)))
    assert compared(memory, other.address, "single") == ["Export().policy: nothing here, 1 there", "1 difference"]


def test_a_context_that_both_refuse_for_its_size_is_equal(memory: CommandLine, other: SidecarProcess) -> None:
    with memory.sidecar.client() as here, other.client() as there:
        here.add("s", HUGE, namespace="huge")
        copy(here, there, "huge")
    assert compared(memory, other.address, "huge") == ["equal: 1 message records, 1 session records"]


def test_a_session_of_another_owner_is_a_difference(memory: CommandLine, other: SidecarProcess) -> None:
    with memory.sidecar.client() as here, other.client() as there:
        here.add("s", "hello", namespace="owners", user_id="ann")
        there.add("s", "hello", namespace="owners")
    assert any(
        line.startswith('GetSession(s).session.userId: "ann" here, nothing there')
        for line in compared(memory, other.address, "owners")
    )


def test_a_sidecar_that_does_not_answer_is_named(memory: CommandLine) -> None:
    done = memory.run("compare", "--other-address", "127.0.0.1:1")
    assert done.returncode == 1 and "127.0.0.1:1 does not answer: nothing listens there" in done.stderr


def copy(here: Client, there: Client, namespace: str) -> None:
    settle(here, namespace)
    import_records(there, export_records(here, namespace), namespace)
    settle(there, namespace)
