"""The corpus of the context benchmark is consistent, and the benchmark counts what it says."""

import json
import re
from collections import Counter
from collections.abc import Iterator

import pytest

from benchmarks.context import quality
from benchmarks.context.quality import AnyQuestion, Outcome
from benchmarks.context.work import HALVES, WORK, OffTopicQuestion, WorkCorpus, WorkQuestion, contains_any, plain, work
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.context_pb2 import (
    SECTION_DOCUMENTS,
    SECTION_EPISODIC,
    SECTION_FACTS,
    BuildContextResponse,
    ItemReceipt,
    Receipt,
    Section,
    SectionReceipt,
)
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Message

DATE = re.compile(r"\d{4}-\d\d-\d\d")
MIN_KINDS = {
    "fact": 8,
    "correction": 8,
    "list": 5,
    "temporal": 4,
    "tool": 5,
    "long_output": 3,
    "code": 4,
    "german": 2,
    "spanish": 2,
    "chinese": 2,
    "document": 3,
}


@pytest.fixture(scope="module")
def corpus() -> WorkCorpus:
    return work()


@pytest.fixture(scope="module")
def texts(corpus: WorkCorpus) -> dict[str, str]:
    """The text of every message and document by its id."""
    said = {message.id: plain(message.content) for session in corpus.sessions for message in session.messages}
    return said | {owned.document.id: plain(owned.document.text) for owned in corpus.documents}


@pytest.fixture(scope="module")
def dates(corpus: WorkCorpus) -> dict[str, str]:
    return {
        message.id: message.create_time.ToDatetime().date().isoformat()
        for session in corpus.sessions
        for message in session.messages
    }


# -- the corpus


def test_the_corpus_has_the_promised_size(corpus: WorkCorpus) -> None:
    own = [session for session in corpus.sessions if session.user == corpus.user]
    assert len(own) >= 15 and len(corpus.sessions) - len(own) == 2
    assert sum(len(session.messages) for session in corpus.sessions) >= 220
    assert len(corpus.documents) == 3 and {owned.user for owned in corpus.documents} == {"", corpus.user}


def test_every_id_is_unique(corpus: WorkCorpus, texts: dict[str, str]) -> None:
    count = sum(len(session.messages) for session in corpus.sessions) + len(corpus.documents)
    assert len(texts) == count
    asked: list[AnyQuestion] = [*corpus.questions, *corpus.off_topic]
    sessions = [session.id for session in corpus.sessions] + [question.session for question in asked]
    assert len(set(sessions)) == len(sessions)
    assert len({question.id for question in asked}) == len({question.text for question in asked}) == len(asked)


def test_messages_are_in_order_before_the_questions(corpus: WorkCorpus) -> None:
    for session in corpus.sessions:
        times = [message.create_time.ToDatetime() for message in session.messages]
        assert times == sorted(times) and len(set(times)) == len(times), session.id
        assert times[-1] < corpus.asked_at.replace(tzinfo=None)
    starts = [session.messages[0].create_time.ToDatetime() for session in corpus.sessions]
    assert (max(starts) - min(starts)).days > 110


def test_every_tool_result_answers_a_call_before_it(corpus: WorkCorpus) -> None:
    for session in corpus.sessions:
        open_calls: list[str] = []
        for message in session.messages:
            if message.role == ROLE_TOOL:
                assert message.tool_call_id == open_calls.pop(0), message.id
            else:
                assert not open_calls, message.id
            open_calls += [call.id for call in message.tool_calls]
            assert message.content or message.tool_calls, message.id
            assert message.role == ROLE_ASSISTANT or not message.tool_calls, message.id
        assert not open_calls, session.id


def test_some_tool_results_are_long(corpus: WorkCorpus) -> None:
    """A message of 1,500 tokens has at least 4,000 characters, so only those are counted."""
    count = CounterRegistry("o200k_base").default.count
    long = [
        count(message.content)
        for session in corpus.sessions
        for message in session.messages
        if message.role == ROLE_TOOL and len(message.content) > 4_000
    ]
    assert len(long) >= 5 and all(1_500 <= tokens <= 6_000 for tokens in long)


# -- the questions


def test_there_are_enough_questions_of_each_kind_in_both_halves(corpus: WorkCorpus) -> None:
    kinds = Counter(question.kind for question in corpus.questions)
    assert kinds.keys() == MIN_KINDS.keys() and len(corpus.questions) >= 44
    assert all(kinds[kind] >= least for kind, least in MIN_KINDS.items())
    for kind in MIN_KINDS:
        halves = Counter(question.half for question in corpus.questions if question.kind == kind)
        assert halves.keys() == set(HALVES) and abs(halves["tune"] - halves["check"]) <= 1, kind
    assert len({question.session for question in corpus.questions}) == len(corpus.questions)


def test_answers_stand_in_the_evidence_and_nowhere_else(
    corpus: WorkCorpus, texts: dict[str, str], dates: dict[str, str]
) -> None:
    for question in corpus.questions:
        assert question.evidence and question.evidence <= texts.keys(), question.id
        for answer in (answer for alternatives in question.answer for answer in alternatives):
            assert plain(answer) not in plain(question.text), question.id
            found = {name for name, text in texts.items() if plain(answer) in text}
            if DATE.fullmatch(answer):
                assert not found and any(dates.get(name) == answer for name in question.evidence), question.id
            else:
                assert found and found <= question.evidence, (question.id, answer)


def test_evidence_belongs_to_the_user_who_asks(corpus: WorkCorpus) -> None:
    others = {message.id for session in corpus.sessions if session.user != corpus.user for message in session.messages}
    assert others and not any(question.evidence & others for question in corpus.questions)


def test_answers_of_tools_stand_in_tool_results_only(corpus: WorkCorpus) -> None:
    roles = {message.id: message.role for session in corpus.sessions for message in session.messages}
    for question in corpus.questions:
        if question.kind in ("tool", "long_output"):
            assert {roles[name] for name in question.evidence} == {ROLE_TOOL}, question.id


def test_corrections_follow_what_they_correct_in_another_session(corpus: WorkCorpus, texts: dict[str, str]) -> None:
    places = {
        message.id: (message.create_time.ToDatetime(), session.id)
        for session in corpus.sessions
        for message in session.messages
    }
    for question in corpus.questions:
        assert (question.kind == "correction") == bool(question.outdated), question.id
        if question.outdated:
            (before, said), (after, corrected) = places[question.outdated], places[question.correction]
            assert before < after and said != corrected, question.id
            assert question.correction in question.evidence, question.id
            assert contains_any(texts[question.outdated], question.outdated_answer), question.id
            assert not question.is_answered_by(texts[question.outdated]), question.id


def test_there_are_a_hundred_off_topic_questions_and_few_about_software(corpus: WorkCorpus) -> None:
    kinds = Counter(question.kind for question in corpus.off_topic)
    assert len(corpus.off_topic) == 100 and kinds.keys() == {"general", "software"} and kinds["software"] <= 15
    assert Counter(question.half for question in corpus.off_topic) == {"tune": 50, "check": 50}


def test_the_file_is_written_in_readable_characters() -> None:
    assert "\\u" not in WORK.read_text(encoding="utf-8")
    assert json.loads(WORK.read_text(encoding="utf-8"))["about"]


# -- the counts


def _outcome(question: AnyQuestion, memory: str, *items: ItemReceipt, section: Section) -> Outcome:
    messages = [
        Message(role=ROLE_SYSTEM, content=memory, synthetic=True),
        Message(role=ROLE_USER, content=question.text),
    ]
    receipt = Receipt(sections=[SectionReceipt(section=SECTION_FACTS), SectionReceipt(section=section, items=items)])
    return Outcome(question, 800, "message", BuildContextResponse(messages=messages, receipt=receipt))


def _question(*answer: tuple[str, ...], outdated: str = "") -> WorkQuestion:
    return WorkQuestion(
        "q", "fact", "tune", "ask-q", "Which day?", frozenset({"m"}), answer, outdated, ("monday",), "m"
    )


def test_a_question_is_answered_if_every_piece_is_readable() -> None:
    question = _question(("Tuesday", "Tue"), ("at\n10",))
    assert _outcome(question, "On TUESDAY at 10.", section=SECTION_EPISODIC).is_answered
    assert not _outcome(question, "On Tuesday.", section=SECTION_EPISODIC).is_answered


def test_the_question_itself_answers_nothing() -> None:
    assert not _outcome(_question(("which day",)), "nothing", section=SECTION_EPISODIC).is_answered


def test_an_outdated_statement_counts_unless_the_answer_is_readable_too() -> None:
    question = _question(("Tuesday",), outdated="old")
    item = ItemReceipt(id="x", message_ids=["old"], included=True)
    assert _outcome(question, "something", item, section=SECTION_EPISODIC).is_outdated
    assert _outcome(question, "deploys: Monday", section=SECTION_EPISODIC).is_outdated
    assert not _outcome(question, "Monday, then Tuesday", item, section=SECTION_EPISODIC).is_outdated
    rejected = ItemReceipt(id="old", message_ids=["old"])
    assert not _outcome(question, "something", rejected, section=SECTION_EPISODIC).is_outdated


def test_only_included_memory_counts_for_off_topic_questions() -> None:
    question = OffTopicQuestion("off", "general", "tune", "Thanks!")
    assert not _outcome(question, "", ItemReceipt(id="a"), section=SECTION_DOCUMENTS).retrieved
    assert _outcome(question, "", ItemReceipt(id="a", included=True), section=SECTION_DOCUMENTS).retrieved
    assert not _outcome(question, "", ItemReceipt(id="a", included=True), section=SECTION_FACTS).retrieved


def test_the_table_has_a_row_for_each_kind() -> None:
    def outcomes() -> Iterator[Outcome]:
        for way in quality.WAYS:
            yield Outcome(_question(("Tuesday",)), 800, way, BuildContextResponse())
            yield Outcome(OffTopicQuestion("off", "general", "tune", "Thanks!"), 800, way, BuildContextResponse())

    rows = [line.split() for line in quality.table(list(outcomes())).splitlines()]
    assert rows[0] == ["of", "800", "message", "800", "query"]
    assert ["answer", "readable", "1", "0", "0"] in rows and ["fact", "1", "0", "0"] in rows
    assert ["outdated", "alone", "0", "0", "0"] in rows and ["off-topic,", "memory", "1", "0", "0"] in rows
