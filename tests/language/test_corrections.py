"""A statement that was corrected later is not part of the summary."""

import pytest

from memsidecar.language.extractive.corrections import (
    Statement,
    can_correct,
    corrects,
    corrects_nearby,
)
from memsidecar.language.extractive.lexicon import is_correction, is_strong_cue
from memsidecar.language.extractive.selection import classified_words
from memsidecar.language.extractive.sentences import superseded
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.tokens.registry import CounterRegistry
from tests.language.conversations import utterances
from tests.support.work import calls_during

summarizer = ExtractiveSummarizer(CounterRegistry("o200k_base").default.count)


def corrected(*texts: str) -> list[str]:
    statements = [Statement.of(text, classified_words(text)) for text in texts]
    return [texts[position] for position in sorted(superseded(statements))]


def is_linked(later: Statement, earlier: Statement) -> bool:
    """Tell whether a correction of another conversation is found."""
    is_strong = is_strong_cue(later.text)
    return is_correction(later.text) and can_correct(later, is_strong) and corrects(later, earlier, is_strong)


@pytest.mark.parametrize(
    ("statement", "later"),
    [
        ("The inventory port is 9090.", "The inventory timeout is now 5 seconds."),
        ("Staging runs Postgres 15.", "We upgraded production to Postgres 17."),
        ("The frontend uses port 3000.", "The backend was moved to port 4000."),
        ("The API timeout is 30 seconds.", "The database timeout was increased to 60 seconds."),
        ("The billing database has 400 GB.", "We raised the connection limit to 200 so that the workers keep up."),
        ("Das Backup l\u00e4uft um 3 Uhr.", "Das Standup wurde auf 11 Uhr verschoben."),
        ("El backup corre a las 3.", "Cambiamos la reuni\u00f3n a las 11."),
        ("Checkout listens on port 8443.", "We moved it to 11:00."),
        ("Marta's phone extension is 4471.", "Jonas's phone extension is now 5582."),
        ("Invoice 1001 is due on May 3rd.", "Invoice 1002 is now due on May 24th."),
        ("Sprint 12 ends on May 3rd.", "Sprint 13 now ends on May 24th."),
        ("Order 1001 ships on Monday.", "Order 1002 now ships on Wednesday."),
        ("We ship order 1001 on Monday.", "We now ship order 1002 on Wednesday."),
        ("The staging API port is 8080.", "The production API port changed to 9090."),
        (
            "The rate limit of the public API is 100 per minute.",
            "The rate limit of the partner API is now 500 per minute.",
        ),
        ("The rate limit for Acme is 100 per minute.", "The rate limit for Globex is now 500 per minute."),
        ("The Berlin warehouse has 12 docks.", "The Hamburg warehouse now has 20 docks."),
        ("The warehouse in Berlin has 12 docks.", "The warehouse in Hamburg now has 20 docks."),
        ("Das Lager Berlin hat 12 Tore.", "Das Lager Hamburg hat jetzt 20 Tore."),
        ("Version 2.3 supports Python 3.9.", "Version 2.4 now supports Python 3.12."),
        ("The staging password expires on Monday.", "The production password expires on Friday now."),
        ("Checkout listens on port 8443.", "Billing now listens on port 9443."),
        ("Ticket #4711 is assigned to Kim.", "Ticket #4712 is now assigned to Lee."),
        ("The late shift starts at 14:00.", "The early shift now starts at 6:00."),
        ("The deadline of team red is Monday.", "The deadline of team blue moved to Friday."),
        ("The Berlin meeting is at 10:00.", "The Hamburg meeting is now at 11:00."),
        ("Kim owns search.", "Lee owns billing now."),
        ("Kim owns search and billing.", "Lee owns search now."),
        ("Checkout uses Redis.", "Billing uses Redis now."),
        (
            "Fine, two flags less since summer.",
            "Nobody in the beta used the map, it is behind a flag now, until spring.",
        ),
        ("Fine, two flags less since summer.", "The map is behind a flag for now and decided in spring."),
        ("We start at 14:00.", "Now I go at 15:00."),
    ],
)
def test_a_statement_about_another_subject_corrects_nothing(statement: str, later: str) -> None:
    earlier, correction = Statement.parse(statement), Statement.parse(later)
    assert not is_linked(correction, earlier)
    assert not corrects_nearby(correction, earlier)
    assert corrected(statement, later) == []


@pytest.mark.parametrize(
    ("statement", "later"),
    [
        ("The standup is at 10:00.", "We moved it to 11:00."),
        ("We deploy every Tuesday.", "No wait, we moved it to Thursday."),
        ("The limit is 300.", "It is now 450."),
    ],
)
def test_a_pronoun_stands_for_the_statement_before(statement: str, later: str) -> None:
    assert corrects_nearby(Statement.parse(later), Statement.parse(statement))


SENTENCES = (
    "We deploy on Tuesday.",
    "The deploy is slow now.",
    "Ana owns billing.",
    "Now Ben owns billing.",
    "The limit is 5 requests.",
    "Actually the limit is fine.",
    "I feel better about the deploy now.",
)


@pytest.mark.parametrize("correction", SENTENCES)
@pytest.mark.parametrize("statement", SENTENCES)
def test_a_sentence_that_cannot_correct_corrects_nothing(statement: str, correction: str) -> None:
    earlier, later = Statement.parse(statement), Statement.parse(correction)
    assert can_correct(later, is_strong=False) or not corrects(later, earlier, is_strong=False)


def test_only_a_sentence_with_a_value_or_a_strong_cue_can_correct() -> None:
    vague, valued = Statement.parse("The deploy is slow now."), Statement.parse("Standup is now at 10:00.")
    assert can_correct(valued, is_strong=False) and can_correct(vague, is_strong=True)
    assert not can_correct(vague, is_strong=False)


@pytest.mark.parametrize(
    ("statement", "correction"),
    [
        ("We deploy every Tuesday.", "Actually we moved the deploy to Thursday."),
        ("We deploy every Tuesday.", "we moved it to Thursday"),
        ("The launch is on May 5.", "The launch moved to May 12."),
        ("We deploy every Tuesday.", "No longer on Tuesday, on Thursday."),
        ("We use Redis for the queue.", "We switched the queue to Kafka."),
        ("We run Kafka in production.", "Henrik decided to go with Redpanda instead of Kafka."),
        ("We use Postgres 15 for billing.", "We no longer use Postgres for billing, it is MySQL now."),
        ("The API limit is 100 requests per minute.", "Correction: the limit is 250 requests."),
        ("The budget is 80,000 euros.", "The budget was raised to 95,000 euros."),
        (
            "The timeout of the payment call is 30 seconds.",
            "We need to set the payment timeout to 10 seconds, ops complained.",
        ),
        ("The cache keeps 500 entries.", "I cut the cache to 200 entries."),
        (
            "We deploy every Tuesday at 14:00, so it must be fixed before that.",
            "We moved the deploy to Thursday, because Marta is away on Tuesday.",
        ),
        ("Standup is at 9:30.", "Standup is now at 10:00."),
        ("We use a Postgres database.", "We moved to a MySQL database."),
        ("The API listens on port 8080.", "The API listens on port 9090 now."),
        ("The API listens on port 8080 with 4 workers.", "The API now listens on port 9090 with 8 workers."),
        ("The launch is on May 3 at 10:00.", "The launch moved to May 24 at 9:00."),
        ("Our office is on Main Street 12.", "Our office moved to Oak Street 14."),
        ("The late shift starts at 14:00.", "The late shift now starts at 15:00."),
        ("The deadline is 14 June.", "The deadline moved to 28 June."),
        ("Ana owns billing.", "Ben owns billing now, Ana left."),
        ("Kim owns search.", "Lee owns search now."),
        ("Kim owns search.", "Kim left, Lee owns search now."),
        ("Marta is responsible for billing.", "Jonas took over billing from Marta."),
        ("We deploy every Tuesday at 10:00.", "The deploy is on Wednesday now."),
        (
            "We deploy every Tuesday.",
            "The deploy is on Wednesday now, the Thursday slot collides with the board meeting.",
        ),
        (
            "Small change: we moved the deploy to Thursday.",
            "The deploy is on Wednesday now, the Thursday slot collides with the board meeting.",
        ),
        ("The API key rotates every 30 days.", "Forget what I said about the API key, it rotates every 90 days."),
        ("The launch is on May 12th.", "The launch slipped to June 10th."),
        ("The meeting is on Monday.", "The meeting is on Tuesday now."),
        ("Das Meeting ist montags um 10 Uhr.", "Das Meeting ist jetzt dienstags um 10 Uhr."),
        ("La reunión es el lunes.", "La reunión ahora es el martes."),
        ("上线时间是周二。", "上线时间改到周四了。"),
        ("The report goes to Marta.", "The report goes to Olga instead."),
        ("Das Release ist am Dienstag.", "Das Release wurde auf Donnerstag verschoben."),
        ("发布在星期二。", "发布改到星期四。"),
    ],
)
def test_a_statement_is_superseded_by_its_correction(statement: str, correction: str) -> None:
    earlier, later = Statement.parse(statement), Statement.parse(correction)
    assert is_linked(later, earlier) or corrects_nearby(later, earlier)
    assert corrected(statement, "Okay.", correction) == [statement]
    assert corrected(correction, "Okay.", statement) == []


@pytest.mark.parametrize(
    ("statement", "other"),
    [
        ("The launch is on May 5.", "The launch is on May 12."),
        ("Standup is at 9:30.", "Should we move standup to 10:00?"),
        ("Standup is at 9:30.", "If Ana agrees, standup could be moved to 10:00."),
        ("I love hiking.", "I changed my hiking boots."),
        ("I live in Berlin.", "I drove from Berlin to Hamburg."),
        ("My dog Rex is 5.", "I changed jobs in May."),
        ("We use Redis for the queue.", "The web tier moved to Frankfurt."),
        ("The label service listens on port 8443.", "I set the label service up to print 40 labels."),
        ("When is the launch, on May 5?", "The launch moved to May 12."),
    ],
)
def test_other_statements_are_not(statement: str, other: str) -> None:
    assert corrected(statement, "Okay.", other) == []


def test_the_summary_has_the_correction_and_not_what_it_corrects() -> None:
    talk = utterances("We deploy every Tuesday.", "Noted.", "Sorry, we moved it to Thursday.", "Thursday it is.")
    summary = summarizer.summarize("", talk, 400)
    assert "Thursday" in summary and "Tuesday" not in summary


def test_who_still_has_a_duty_is_not_replaced() -> None:
    assert not is_linked(Statement.parse("Kim now handles search with Lee."), Statement.parse("Kim owns search."))


def test_the_summary_names_who_has_a_duty_now() -> None:
    talk = utterances("Kim owns search.", "Noted.", "Kim left, Lee owns search now.", "Ok.")
    assert summarizer.summarize("", talk, 400) == "User: Kim left, Lee owns search now."


def test_a_later_correction_removes_a_sentence_of_the_former_summary() -> None:
    before = summarizer.summarize("", utterances("The release is on Tuesday.", "Ana signs it off."), 400)
    assert "Tuesday" in before
    summary = summarizer.summarize(before, utterances("The release was moved to Thursday because Ana is away."), 400)
    assert "Tuesday" not in summary and "moved to Thursday" in summary and "Ana signs it off" in summary


def test_a_correction_of_a_correction_counts() -> None:
    talk = utterances("The demo is on Monday.", "Ok.", "The demo moved to Tuesday.", "Ok.", "The demo moved to Friday.")
    assert summarizer.summarize("", talk, 400) == "User: The demo moved to Friday."


@pytest.mark.long
def test_many_corrections_of_one_subject_take_linear_time() -> None:
    texts = [f"The launch moved to May {number}." for number in range(800)]
    statements = [Statement.of(text, classified_words(text)) for text in texts]
    half = calls_during(lambda: superseded(statements[:400]))
    assert calls_during(lambda: superseded(statements)) < 2.5 * half


@pytest.mark.parametrize(
    "sentence",
    [
        "We moved the deploy to Thursday.",
        "The limit was raised from 300 to 450.",
        "We use Rust instead of Go.",
        "It is not Monday but Friday.",
        "We do not deploy on Monday any more.",
        "We no longer deploy on Monday.",
        "The deploy is on Friday after all.",
        "We set the limit to 450.",
        "Actually it is port 8443.",
        "The launch slipped to June 10th.",
        "The release is delayed by a week, until Friday.",
        "Forget what I said about the key, it rotates every 90 days.",
        "Jonas took over billing.",
        "The port is 8443 now.",
        "Das Fenster ist nicht mehr am Montag.",
        "Das Fenster wurde auf Freitag verschoben.",
        "Ya no usamos Jenkins.",
        "Cambiamos el despliegue al jueves.",
        "\u90e8\u7f72\u6539\u5230\u5468\u56db\u3002",
        "\u73b0\u5728\u7aef\u53e3\u662f 8443\u3002",
    ],
)
def test_a_cue_is_found_in_each_language(sentence: str) -> None:
    assert is_correction(sentence)
    assert not is_correction("Is this right? " + sentence.rstrip(".\u3002") + "?")
