"""Code, data, logs and stack traces are recognised, and prose about them is not."""

import pytest

from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.sentences import is_raw, prose_sentences
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.tokens.registry import CounterRegistry
from tests.language.conversations import utterances
from tests.support.work import costs_at_most

COUNTER = CounterRegistry("o200k_base").default
summarizer = ExtractiveSummarizer(COUNTER.count)

RAW = [
    '{"a": [1, 2, {"b": "c"}]}',
    '"name": "Ana",',
    "2026-11-17 10:53:46,120 ERROR worker-7 timeout after 30000 ms",
    "[2026-11-17T10:53:46Z] INFO started",
    "Nov 17 10:53:46 host sshd[1]: Accepted publickey for deploy",
    "INFO: server started on port 8080",
    "worker-3 | WARN retrying in 5s",
    '10.0.0.1 - - [17/Nov/2026:10:53:46 +0000] "GET / HTTP/1.1" 200 512',
    "level=info msg=started port=80",
    "Traceback (most recent call last):",
    'File "/app/x.py", line 12, in run',
    "ValueError: invalid literal for int()",
    "at com.acme.Foo.bar(Foo.java:12)",
    "Caused by: java.net.SocketException: reset",
    "def total(prices):",
    "const limit = 5",
    "import os",
    "from a.b import c",
    "x += 1",
    "SELECT * FROM users WHERE id = 1",
    "$ npm install",
    '<div class="a">x</div>',
    "| service | status |",
    "retention_hours: 336",
    "550e8400-e29b-41d4-a716-446655440000 failed",
    "drwxr-xr-x 2 root root 4096 Nov 17 10:53 docs",
]
PROSE = [
    "The window is Sunday from 02:00 to 05:00 UTC.",
    "400 GB in three hours is fine with pg_upgrade in link mode.",
    "We decided: Redpanda instead of Kafka.",
    "Error handling is missing in the parser.",
    "Warning signs were everywhere.",
    "The ValueError came from int().",
    "Select the first one and delete the rest.",
    "I import wine from Italy",
    "Class starts at 9.",
    "let me check that for you",
    "return the book by friday",
    "from monday on we deploy twice",
    "Our repo is at https://github.com/foo/bar?x=1&y=2 now.",
    "Use `make test` before pushing.",
    "The p95 went from 120 ms to 80 ms.",
    "Ana: the limit is 250 requests/min, not 100.",
    "Meeting notes 2026-11-17: Ana owns billing.",
    "We pay $45,000 per year.",
    "My number is +49 170 1234567.",
    "明日は会議です。資料を送ります！",
]


@pytest.mark.parametrize("line", RAW)
def test_output_of_programs_is_raw(line: str) -> None:
    assert is_raw(line)


@pytest.mark.parametrize("line", PROSE)
def test_prose_is_not(line: str) -> None:
    assert not is_raw(line)
    assert list(prose_sentences(line))


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("def f(x):\n    y = x\n    return y\n\n    print(y)\nThat was the code.", ["That was the code."]),
        ("server:\n  port: 80\n  tls:\n    enabled\nWe keep port 80.", ["We keep port 80."]),
        (
            "We agreed on this.\nDecisions:\n  - Ana owns billing.",
            ["We agreed on this.", "Decisions:", "Ana owns billing."],
        ),
        ('Here it is: {"msg": "It failed. Retry later.", "code": 5}. Then we left.', ["Here it is:", "Then we left."]),
        ('The config {"a": 1} is wrong. Next we fix it.', ["Next we fix it."]),
    ],
)
def test_prose_around_raw_lines_is_kept(text: str, sentences: list[str]) -> None:
    assert list(prose_sentences(text)) == sentences


def test_a_tool_result_is_never_summarised() -> None:
    texts = (
        "Deployed build 4711 to Reykjavik. All 12 checks passed.",
        '{"city": "Oslo. Norway", "status": "It works."}',
    )
    results = [Utterance("t", int(Role.TOOL), "deploy", text, 2) for text in texts]
    talk = [*utterances("I moved to Bergen in March."), *results, *utterances("My brother Olav lives in Trondheim.")]
    assert (
        summarizer.summarize("", talk, 400) == "User: I moved to Bergen in March. My brother Olav lives in Trondheim."
    )
    assert summarizer.summarize("", results, 400) == ""


def test_a_pasted_log_leaves_what_was_said_about_it() -> None:
    paste = "\n".join([f"2026-11-17 10:{minute}:46 ERROR worker-7 lost lease {minute}." for minute in range(10, 59)])
    summary = summarizer.summarize(
        "", utterances(f"The export job failed last night.\n{paste}\nAna looks into it."), 400
    )
    assert summary == "User: The export job failed last night. Ana looks into it."


@pytest.mark.long
@pytest.mark.parametrize("unit", ["a", "a-", "1 ", "a.", "[", "a=", "{ ", "<a", "::", "f-0 ", "from "])
def test_the_time_for_hostile_lines_is_linear(unit: str) -> None:
    part, whole = (unit * (size // len(unit)) for size in (1 << 12, 1 << 15))
    assert costs_at_most(
        24, lambda: list(prose_sentences(part)), lambda: list(prose_sentences(whole)), slack_seconds=0.01
    )
