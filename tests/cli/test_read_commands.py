"""The commands that read a running sidecar: JSON lines in a pipe, tables on a terminal, limits and errors."""

import re
import socket
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from memsidecar.v1.knowledge_pb2 import Document, PutDocumentRequest, SummarizeRequest
from memsidecar.v1.session_pb2 import ListSessionsRequest
from tests.access.access_files import Grant, write_access_file
from tests.cli.commands import HOSTILE, WIDE, CommandLine
from tests.http.http_client import HTTP
from tests.metrics.scrape import scrape
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS

TERMINAL_CODES = re.compile(r"\x1b\[[0-9;]*m|[\r\n]")
READS = [
    ("sessions",),
    ("users",),
    ("show", "trip"),
    ("search", "title"),
    ("context", "trip"),
    ("context", "trip", "--explain", "--query", "red title"),
    ("facts", "--user", "ann"),
    ("documents",),
    ("stats",),
    ("stats", "trip"),
]


def test_sessions_are_listed_newest_first(memory: CommandLine) -> None:
    listed = memory.lines("sessions")
    assert [each["sessionId"] for each in listed] == ["bobs", "draft", "other", "trip"]
    assert [each["sessionId"] for each in memory.lines("sessions", "--user", "ann")] == ["other", "trip"]


def test_users_are_listed_by_id(memory: CommandLine) -> None:
    assert [(each["userId"], each["sessionCount"]) for each in memory.lines("users")] == [("ann", 2), ("bob", 1)]
    assert [each["userId"] for each in memory.lines("users", "--prefix", "b")] == ["bob"]
    assert re.search(r"ann +2 +\d{4}-\d\d-\d\d", memory.table("users"))
    done = memory.run("users", "--limit", "1")
    assert done.stdout.count("\n") == 1 and "--limit for more" in done.stderr
    assert "no such user" in memory.run("users", "--prefix", "x").stderr


def test_usage_is_shown_beside_the_quota(memory: CommandLine, tmp_path: Path) -> None:
    (totals,) = memory.lines("stats")
    assert (totals["users"], totals["usage"]["sessions"], totals["usage"]["messages"]) == (2, 4, 7)
    assert all(type(count) is int for count in (totals["messages"], *totals["usage"].values()))
    assert totals["usage"]["bytes"] > 100 and totals["quota"] == {"sessions": 0, "messages": 0, "bytes": 0}
    assert re.search(r"messages +7 +none\b", memory.table("stats"))
    assert "usage" not in memory.lines("stats", "--user", "ann")[0]
    with SidecarProcess(tmp_path / "data", "--quota-messages", "8") as sidecar:
        with sidecar.client() as client:
            client.add("s", "hello")
            client.add("s", "hello again")
        assert re.search(r"messages +2 +8 +25%", CommandLine(sidecar, tmp_path).table("stats"))


def test_a_limit_ends_a_listing_and_says_so(memory: CommandLine) -> None:
    done = memory.run("sessions", "--limit", "2")
    assert len(done.stdout.splitlines()) == 2 and "--limit for more" in done.stderr
    assert len(memory.lines("sessions", "--limit", "0")) == 4


def test_a_listing_longer_than_a_page_is_complete(memory: CommandLine) -> None:
    with memory.sidecar.client() as client:
        for at in range(1_003):
            client.add(f"s{at}", "hello", namespace="many")
    for limit, count in ((0, 1_003), (1_001, 1_001)):
        done = memory.shell(f"memsidecar sessions --namespace many --limit {limit}")
        assert (done.returncode, done.stdout.count("\n")) == (0, count)
    (totals,) = memory.lines("stats", "--namespace", "many")
    assert (totals["sessions"], totals["messages"]) == (1_003, 1_003)


def test_messages_are_shown_oldest_first(memory: CommandLine) -> None:
    assert [each["id"] for each in memory.lines("show", "trip")] == ["m1", "m2", "m3", "m4"]
    assert [each["id"] for each in memory.lines("show", "trip", "--last", "2")] == ["m3", "m4"]
    assert memory.lines("show", "trip")[2]["content"] == HOSTILE
    text = memory.table("show", "trip")
    assert "assistant #2" in text and "Noted: Lisbon, Friday.\n" in text and WIDE in text


def test_a_search_shows_the_parts_of_each_score(memory: CommandLine) -> None:
    hits = memory.lines("search", "flight to Lisbon", "--user", "ann", "--limit", "1")
    assert [hit["message"]["id"] for hit in hits] == ["o1"] and hits[0]["scores"]["keyword"] > 0
    assert "session other  o1  keyword 0." in memory.table("search", "flight to Lisbon", "--user", "ann")
    assert memory.lines("search", "Lisbon", "--user", "bob") == []


def test_a_context_is_explained_from_its_receipt(memory: CommandLine) -> None:
    (response,) = memory.lines("context", "trip", "--query", "Lisbon", "--explain")
    text = memory.table("context", "trip", "--query", "Lisbon", "--explain")
    assert f"{response['totalTokens']} of 8,000 tokens, counted with o200k_base (exact)" in text
    bar = next(line for line in text.splitlines() if line.startswith("█"))
    assert len(bar) == 100 and bar.strip("█░") == ""
    assert "in: whole" in text and "out: the conversation shows it already" in text
    assert re.search(r"relevance [01]\.\d\d  score [01]\.\d\d  keyword \d", text)
    for section in response["receipt"]["sections"]:
        for item in section.get("items", ()):
            assert f"{item['tokens']} tokens" in text


def test_a_context_that_is_only_shown_is_not_counted(tmp_path: Path) -> None:
    with SidecarProcess(tmp_path / "data", *HTTP, "--index", "volatile") as sidecar:
        with sidecar.client() as client:
            client.add("trip", "I fly to Lisbon on Friday.")
        command_line = CommandLine(sidecar, tmp_path)
        command_line.lines("context", "trip", "--query", "Lisbon", "--explain")
        assert "equal: " in command_line.run("compare", "--other-address", sidecar.address).stdout
        counted = scrape(sidecar)
        assert counted.value("memsidecar_context_build_duration_seconds_count", phase="pack") == 3
        assert counted.value("memsidecar_context_used_ratio_count") == 0


def test_the_context_of_an_unknown_session_is_named_as_such(memory: CommandLine) -> None:
    done = memory.run("context", "tripp", "--query", "Lisbon")
    assert done.returncode == 0 and "there is no session tripp in namespace default" in done.stderr
    assert "there is no session" not in memory.run("context", "trip", "--explain").stderr


def test_messages_of_the_summary_are_counted_apart(memory: CommandLine) -> None:
    with memory.sidecar.client() as client:
        for number in range(200):
            client.add("long", f"Hut {number} has {number} beds, and a long path leads to it.", namespace="huts")
        request = SummarizeRequest(namespace="huts", session_id="long", max_tokens=100)
        assert client.knowledge.Summarize(request).summary.last_sequence == 200
    text = memory.table("context", "long", "--namespace", "huts", "--budget", "1000", "--explain")
    assert re.search(r"The summary covers 19\d messages that the conversation does not show", text)
    assert "out: the summary covers it" in text and "more candidates" not in text


def test_facts_and_documents_are_listed(memory: CommandLine) -> None:
    assert [each["value"] for each in memory.lines("facts", "--user", "ann")] == ["Oslo"]
    assert [each["id"] for each in memory.lines("documents")] == ["guide"]
    assert "user_profile" in memory.table("facts", "--user", "ann") and "Guide to Lisbon" in memory.table("documents")
    done = memory.run("facts")
    assert done.returncode == 2 and "--user" in done.stderr


def test_a_session_is_counted_by_role(memory: CommandLine) -> None:
    (session,) = memory.lines("stats", "trip")
    assert session["stats"]["messageCount"] == 4
    assert re.search(r"user +3 ", memory.table("stats", "trip"))
    missing = memory.run("stats", "no such session")
    assert missing.returncode == 1 and "there is no session" in missing.stderr


def test_events_are_printed_until_the_count(memory: CommandLine) -> None:
    with memory.sidecar.client() as client:
        command = [sys.executable, "-m", "memsidecar", "watch", "--count", "2", "--heartbeats", "--namespace", "w"]
        environ = {"PYTHONPATH": ":".join(sys.path), **memory.variables}
        with subprocess.Popen(command, stdout=subprocess.PIPE, env=environ, text=True) as process:
            assert process.stdout is not None
            assert "HEARTBEAT" in process.stdout.readline()
            client.add("s", "hello", namespace="w", id="w1")
            assert '"id": "w1"' in process.stdout.readline()
            assert process.wait(HANG_SECONDS) == 0


# -- forget


def session_ids(memory: CommandLine, namespace: str) -> list[str]:
    with memory.sidecar.client() as client:
        answer = client.sessions.ListSessions(ListSessionsRequest(namespace=namespace))
        return sorted(session.session_id for session in answer.sessions)


@pytest.fixture
def erasable(memory: CommandLine, request: pytest.FixtureRequest) -> str:
    """Return a namespace with two sessions of ann and one of bob."""
    namespace: str = request.node.name
    with memory.sidecar.client() as client:
        for session_id, user_id in (("a1", "ann"), ("a2", "ann"), ("b1", "bob")):
            client.add(session_id, "hello", namespace=namespace, user_id=user_id, id=f"{session_id}-1")
    return namespace


def test_nothing_is_forgotten_without_a_confirmation(memory: CommandLine, erasable: str) -> None:
    done = memory.run("forget", "user", "ann", "--namespace", erasable)
    assert done.returncode == 1 and "give --yes" in done.stderr.lower()
    assert '"sessions": 2' in done.stdout and '"dryRun": true' in done.stdout
    assert memory.run("forget", "user", "ann", "--namespace", erasable, "--dry-run").returncode == 0
    assert session_ids(memory, erasable) == ["a1", "a2", "b1"]


def test_of_an_unknown_user_nothing_is_asked(memory: CommandLine) -> None:
    code, received = memory.terminal("forget", "user", "nobody")
    assert code == 0 and "Nothing is stored of user nobody" in received and "for good?" not in received


def test_an_interrupted_question_erases_nothing(memory: CommandLine, erasable: str) -> None:
    code, received = memory.terminal("forget", "user", "ann", "--namespace", erasable, interrupted_at="[y/N]")
    assert code == 130 and "Nothing was erased." in received and "interrupted" in received
    assert "Traceback" not in received and session_ids(memory, erasable) == ["a1", "a2", "b1"]


def test_user_session_and_message_are_forgotten_with_yes(memory: CommandLine, erasable: str) -> None:
    in_namespace = ("--namespace", erasable, "--yes")
    assert memory.lines("forget", "message", "a1", "a1-1", *in_namespace)[0]["messages"] == 1
    assert memory.lines("forget", "session", "b1", *in_namespace)[0]["sessions"] == 1
    assert memory.lines("forget", "user", "ann", *in_namespace)[0]["sessions"] == 2
    assert session_ids(memory, erasable) == []
    again = memory.run("forget", "session", "b1", *in_namespace)
    assert again.returncode == 1 and "NOT_FOUND" in again.stderr


@pytest.mark.parametrize(("typed", "left"), [("y\n", ["b1"]), ("n\n", ["a1", "a2", "b1"])], ids=["yes", "no"])
def test_a_terminal_is_asked_before_anything_is_forgotten(
    memory: CommandLine, erasable: str, typed: str, left: list[str]
) -> None:
    code, received = memory.terminal("forget", "user", "ann", "--namespace", erasable, typed=typed)
    assert "This would be erased" in received and "for good? [y/N]" in received
    assert (code, session_ids(memory, erasable)) == (int(typed == "n\n"), left)


# -- terminals, pipes and hostile text


def test_a_terminal_gets_colour_unless_no_color_is_set(memory: CommandLine) -> None:
    code, received = memory.terminal("context", "trip", "--explain")
    assert code == 0 and "\x1b[1m" in received and "█" in received
    code, plain = memory.terminal("context", "trip", "--explain", NO_COLOR="1")
    assert code == 0 and not re.search(r"\x1b\[[0-9;]*(3|9)[0-7]m", plain) and "█" in plain


@pytest.mark.parametrize("arguments", READS, ids=" ".join)
def test_stored_text_cannot_act_on_a_terminal(memory: CommandLine, arguments: tuple[str, ...]) -> None:
    text = memory.table(*arguments)
    acting = {character for character in TERMINAL_CODES.sub("", text) if unicodedata.category(character) in ACTING}
    assert acting - {"\u200d"} == set()


ACTING = ("Cc", "Cf", "Zl", "Zp", "Cs")


def test_hostile_text_is_shown_as_escapes(memory: CommandLine) -> None:
    text = memory.table("show", "trip")
    for escape in (r"\x1b[31m", r"\x1b]0;owned\x07", r"\x9b2J", r"\x08\x7f", r"\u202etxt.exe\u2066", r"\u2028"):
        assert escape in text
    code, received = memory.terminal("show", "trip", "--json")
    assert code == 0 and r"\u202e" in received and "\x1b" not in received


@pytest.mark.parametrize("name", ["wide 日本", "\u202eevil"])
def test_names_fit_into_the_table(memory: CommandLine, name: str) -> None:
    with memory.sidecar.client() as client:
        client.add(name, "hello", namespace="names", user_id=name)
    table = memory.table("sessions", "--namespace", "names")
    rows = [line for line in table.splitlines() if "2" in line]
    assert {width(row) for row in rows} == {width(table.splitlines()[1])}


def width(line: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in line)


@pytest.mark.parametrize("columns", [30, 70, 300])
def test_a_narrow_terminal_cuts_prose_and_no_id(memory: CommandLine, columns: int) -> None:
    with memory.sidecar.client() as client:
        client.add("s" * 200, "hello", namespace="long", user_id="u" * 60)
        document = Document(id="d" * 50, title="A guide to Lisbon. " * 9, text="Trams.", source="guide.txt")
        client.knowledge.PutDocument(PutDocumentRequest(namespace="long", document=document))
    in_namespace = ("--namespace", "long")
    listed = memory.table("sessions", *in_namespace, COLUMNS=str(columns)).splitlines()[3]
    assert re.search(r"s{200} +u{60} +\d+ +0 +\d+ +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", listed)
    listed = memory.table("documents", *in_namespace, COLUMNS=str(columns)).splitlines()[3]
    assert re.search(r"d{50} +A guide[^…]*(…)? +guide\.txt +1 +\d+ ", listed) and ("…" in listed) == (columns < 300)
    assert "u" * 60 in memory.table("users", *in_namespace, COLUMNS=str(columns))


def test_a_reader_that_ends_is_no_error_message(memory: CommandLine) -> None:
    with memory.sidecar.client() as client:
        client.add("s", "long " * 50_000, namespace="pipe")
    done = memory.shell("memsidecar show s --namespace pipe | head -c 5")
    assert (done.stdout, done.stderr) == ('{"id"', "")


@pytest.mark.parametrize(
    "command", ["sessions", "sessions --table", "settings", "--help", "stats --help", "export --out -", "doctor"]
)
def test_a_full_output_is_an_error_of_one_line(memory: CommandLine, command: str) -> None:
    done = memory.shell(f"memsidecar {command} > /dev/full")
    assert done.returncode == 1 and "Traceback" not in done.stderr
    assert done.stderr.splitlines()[-1] == "memsidecar: cannot write: No space left on device"


# -- errors


def test_an_error_names_status_reason_and_field(memory: CommandLine) -> None:
    done = memory.run("show", "trip", "--user", "bob")
    assert (done.returncode, done.stdout) == (1, "")
    assert "GetAll is refused (FAILED_PRECONDITION, reason SESSION_OWNER_MISMATCH)" in done.stderr
    done = memory.run("show", "x" * 300)
    assert done.returncode == 1 and "INVALID_ARGUMENT" in done.stderr and "field session_id" in done.stderr


def test_an_address_without_a_sidecar_is_named(memory: CommandLine) -> None:
    with socket.socket() as reserved:
        reserved.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{reserved.getsockname()[1]}"
        done = memory.run("sessions", "--address", address, "--timeout", "5")
    assert done.returncode == 1 and f"{address} does not answer: nothing listens there" in done.stderr


@pytest.mark.parametrize("command", ["sessions", "check", "compare"])
def test_a_call_without_a_token_is_told_how_to_give_one(tmp_path: Path, command: str) -> None:
    access_file = write_access_file(tmp_path / "access.toml", [Grant("agent", ("*",))])
    with SidecarProcess(tmp_path / "data", "--index", "off", "--access-file", str(access_file)) as sidecar:
        same = ("--other-address", sidecar.address) if command == "compare" else ()
        done = CommandLine(sidecar, tmp_path).run(command, *same)
    assert done.returncode == 1 and "UNAUTHENTICATED" in done.stderr
    assert "give a token with --token-file, or in MEMSIDECAR_TOKEN" in done.stderr


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "86401", "soon"])
def test_a_timeout_that_is_no_time_is_refused(memory: CommandLine, seconds: str) -> None:
    done = memory.run("sessions", "--timeout", seconds)
    assert done.returncode == 2 and "is no number of seconds above 0 and up to 86400" in done.stderr


@pytest.mark.parametrize("cursor", ["bad", "x" * 2_000])
def test_a_cursor_of_another_request_is_explained(memory: CommandLine, cursor: str) -> None:
    done = memory.run("watch", "--cursor", cursor)
    assert done.returncode == 2 and "must be those that it came from" in done.stderr
    assert "Without --cursor, the events begin now" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "nearest"), [(("sessions", "--limt", "3"), "--limit"), (("forget", "user", "x", "--yess"), "--yes")]
)
def test_an_unknown_flag_is_answered_with_the_nearest(
    memory: CommandLine, arguments: tuple[str, ...], nearest: str
) -> None:
    done = memory.run(*arguments)
    assert done.returncode == 2 and f"the nearest known one is {nearest}\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "nearest"), [(("sesions",), "sessions"), (("contxt", "trip"), "context"), (("forget", "usr"), "user")]
)
def test_an_unknown_command_is_answered_with_the_nearest(
    memory: CommandLine, arguments: tuple[str, ...], nearest: str
) -> None:
    done = memory.run(*arguments)
    assert done.returncode == 2 and f"unknown command; the nearest known one is {nearest}\n" in done.stderr


def test_an_abbreviated_flag_is_unknown(memory: CommandLine) -> None:
    assert memory.run("sessions", "--lim", "3").returncode == 2


def test_serving_loads_no_terminal_library(tmp_path: Path) -> None:
    code = "import sys, memsidecar.assembly, memsidecar.__main__; sys.exit('rich' in sys.modules)"
    environ = {"PYTHONPATH": ":".join(sys.path), "HOME": str(tmp_path)}
    assert subprocess.run([sys.executable, "-c", code], env=environ, timeout=HANG_SECONDS, check=False).returncode == 0
