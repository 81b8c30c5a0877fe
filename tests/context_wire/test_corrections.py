"""A context never shows a statement without the later one that corrects it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memsidecar.v1.context_pb2 import SECTION_EPISODIC, BuildContextRequest, SectionBudget
from memsidecar.v1.memory_pb2 import AddBatchRequest
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT
from tests.context_wire.agent import Agent, section_of
from tests.context_wire.test_earlier_messages import add, ask, earlier, said
from tests.scenarios.index_readiness import until_index_is_ready
from tests.scenarios.knowledge_client import KnowledgeClient, fact
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import until

BUDGETS = range(400, 1_001, 50)


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    folder: Path = tmp_path_factory.mktemp("corrections")
    with SidecarProcess(folder / "data", "--index", "volatile") as running:
        until_index_is_ready(running)
        yield running


def add_distractors(client: Client, user: str) -> None:
    """Add messages that mention the subject, so that a small section does not show all that is known."""
    topics = ["the frontend", "the billing worker", "the mobile app", "the router", "the label service", "the gateway"]
    texts = [f"The deploy of {topic} takes about {at + 3} minutes every time." for at, topic in enumerate(topics)]
    add(client, user, "distractors", [said(text, 30.1) for text in texts])


@pytest.mark.parametrize(
    ("user", "stated", "corrected", "query", "old", "new"),
    [
        (
            "english",
            "We deploy every Tuesday.",
            "Small change: we moved the deploy to Thursday.",
            "On which day do we deploy every week?",
            "Tuesday",
            "Thursday",
        ),
        (
            "german",
            "Das Wartungsfenster ist am Dienstag um 02:00 Uhr.",
            "Das Wartungsfenster wurde auf Donnerstag verschoben.",
            "Wann ist das Wartungsfenster?",
            "Dienstag",
            "Donnerstag",
        ),
        (
            "spanish",
            "El despliegue de producción es el martes a las 10.",
            "Cambiamos el despliegue de producción al jueves a las 11.",
            "¿Qué día es el despliegue de producción?",
            "martes",
            "jueves",
        ),
        ("chinese", "部署窗口是每周二上午。", "部署窗口改到每周四上午。", "部署窗口是什么时候?", "周二", "周四"),
        (
            "replaced",
            "Our exceptions go to Sentry, self-hosted by Jonas.",
            "By the way, we replaced Sentry with GlitchTip.",
            "Where do our exceptions go?",
            "Sentry, self-hosted",
            "GlitchTip",
        ),
    ],
)
def test_a_corrected_statement_is_never_shown_alone(  # noqa: PLR0917 - a row of the table
    client: Client, user: str, stated: str, corrected: str, query: str, old: str, new: str
) -> None:
    add_distractors(client, user)
    add(client, user, "first", [said(stated, 60.1), said("Noted.", 60.1, ROLE_ASSISTANT)])
    add(client, user, "second", [said(corrected, 20.1), said("Noted, thanks.", 20.1, ROLE_ASSISTANT)])
    for budget in BUDGETS:
        shown = "\n".join(earlier(ask(client, user, query, max_tokens=budget)))
        assert new in shown, budget
        assert old not in shown or f"User (superseded later): {stated}" in shown, budget


def test_a_correction_without_a_subject_is_shown_with_what_it_corrects(client: Client) -> None:
    messages = [said("We deploy every Tuesday.", 9.1), said("Good.", 9.1, ROLE_ASSISTANT)]
    add(client, "pronoun", "old", [*messages, said("No wait, we moved it to Thursday.", 9.1)])
    add_distractors(client, "pronoun")
    for budget in BUDGETS:
        shown = "\n".join(earlier(ask(client, "pronoun", "When do we deploy?", max_tokens=budget)))
        assert "User (superseded later): We deploy every Tuesday." in shown and "moved it to Thursday" in shown, budget


def test_an_item_that_does_not_fit_with_its_correction_is_left_out(client: Client) -> None:
    add(client, "tight", "first", [said("We deploy on Tuesday.", 60.1)])
    long = "We moved the deploy to Thursday, because " + "the carriers change their tariffs on Monday, and " * 12
    add(client, "tight", "second", [said(long, 20.1)])
    sections = [SectionBudget(section=SECTION_EPISODIC, max_tokens=20)]
    shown = "\n".join(earlier(ask(client, "tight", "When do we deploy?", sections=sections)))
    assert "Tuesday" not in shown


def test_a_statement_that_the_conversation_corrects_is_marked(client: Client) -> None:
    add(client, "window", "first", [said("We deploy to production every Tuesday.", 60.1)])
    client.add("window now", "We moved the production deploy to Thursday.", user_id="window")
    request = BuildContextRequest(
        user_id="window", session_id="window now", query="When do we deploy to production?", max_tokens=4_000
    )
    assert earlier(client.memory.BuildContext(request))[1:] == [
        "- User (superseded later): We deploy to production every Tuesday."
    ]


def test_a_similar_statement_without_a_cue_supersedes_nothing(client: Client) -> None:
    add(client, "plain", "first", [said("The deploy of billing is on Tuesday.", 60.1)])
    add(client, "plain", "second", [said("The deploy of routing is on Thursday.", 20.1)])
    shown = earlier(ask(client, "plain", "When is the deploy of billing and of routing?"))
    assert "superseded" not in "\n".join(shown) and len(shown) == 4


def test_a_message_of_another_user_corrects_nothing(client: Client) -> None:
    add(client, "mine", "first", [said("We deploy to production every Tuesday.", 60.1)])
    add(client, "yours", "second", [said("We moved the production deploy to Thursday.", 20.1)])
    shown = earlier(ask(client, "mine", "When do we deploy to production?", scope="SCOPE_NAMESPACE"))
    assert "- User: We deploy to production every Tuesday." in shown


def test_the_source_of_a_superseded_fact_is_shown_with_the_new_one(client: Client) -> None:
    agent = Agent(client, "facts once", user_id="facts")
    add(client, "facts", "once", [said("I live in Berlin.", 60.1)])
    until(lambda: ("location", "Berlin") in agent.known())
    add(client, "facts", "later", [said("I live in Hamburg.", 20.1)])
    until(lambda: ("location", "Hamburg") in agent.known())

    def shown(**fields: Any) -> str:
        return "\n".join(earlier(ask(client, "facts", "Where in Berlin do I live?", **fields)))

    assert "User (superseded later): I live in Berlin." in shown() and "I live in Hamburg." in shown()
    assert "Berlin" not in shown(sections=[SectionBudget(section=SECTION_EPISODIC, max_tokens=12)])


def test_a_fact_that_names_a_message_of_another_user_does_not_show_it(client: Client) -> None:
    add(client, "owner", "private", [said("The code of my safe is 4711.", 20.1, id="secret")])
    add(client, "thief", "once", [said("My favourite drink is green tea.", 60.1, id="drink")])
    knowledge = KnowledgeClient(client, user_id="thief")
    knowledge.put_facts(fact("green tea", key="drink", session_id="thief once", source_message_ids=["drink"]))
    knowledge.put_facts(fact("coffee", key="drink", session_id="owner private", source_message_ids=["secret"]))
    built = ask(client, "thief", "What is my favourite drink, green tea?")
    assert "green tea" in "\n".join(earlier(built))
    assert "4711" not in built.memory_text


def test_a_correction_of_another_session_is_not_shown_in_the_scope_of_one(client: Client) -> None:
    add(client, "scoped", "now", [said("My favourite drink is green tea.", 60.1, id="old")])
    add(client, "scoped", "other", [said("Coffee, by all means.", 20.1, id="new")])
    knowledge = KnowledgeClient(client, user_id="scoped")
    knowledge.put_facts(fact("green tea", key="drink", session_id="scoped now", source_message_ids=["old"]))
    knowledge.put_facts(fact("coffee", key="drink", session_id="scoped other", source_message_ids=["new"]))
    add(client, "scoped", "now", [said(f"And what about topic {number}?", 0.1) for number in range(40)])
    built = ask(client, "scoped", "What is my favourite drink, green tea?", scope="SCOPE_SESSION", max_tokens=800)
    assert "Coffee" not in built.memory_text


def test_sessions_without_a_user_correct_nothing_of_each_other(client: Client) -> None:
    for session, text, days in (
        ("anonymous 1", "The standup meeting is on Tuesday.", 60.1),
        ("anonymous 2", "We moved the standup meeting to Thursday.", 20.1),
    ):
        client.memory.AddBatch(AddBatchRequest(namespace="anonymous", session_id=session, messages=[said(text, days)]))
    request = BuildContextRequest(
        namespace="anonymous", session_id="anonymous 3", query="When is the standup meeting?", scope="SCOPE_NAMESPACE"
    )
    shown = earlier(client.memory.BuildContext(request))
    assert "- User: The standup meeting is on Tuesday." in shown


def test_messages_of_two_sessions_may_have_the_same_id(client: Client) -> None:
    for session, month, first in (("a", "March", 100), ("b", "April", 300)):
        long = " ".join(f"Detail {number} of the report is not important." for number in range(first, first + 80))
        text = f"{long} The quarterly invoice report of {month} is late. {long}"
        add(client, "same", session, [said(text, 10.1, id="1")])
    shown = "\n".join(earlier(ask(client, "same", "Which quarterly invoice report is late?")))
    assert "of March is late" in shown and "of April is late" in shown


@pytest.mark.parametrize(
    "noise", ["The warehouse counted {} pallets of tiles.", "Our CI number {0} is now at {0} jobs."]
)
@pytest.mark.parametrize(
    "correction",
    [
        "Big day: no longer Jenkins, GitHub Actions builds it all.",
        "Ab heute nicht mehr Jenkins, alles baut GitHub Actions.",
        "Ya no usamos Jenkins, todo lo construye GitHub Actions.",
    ],
)
def test_a_correction_that_shares_no_word_with_the_question_is_found(
    client: Client, correction: str, noise: str
) -> None:
    user = f"names {correction} {noise}"
    add(client, user, "first", [said("Our CI is Jenkins, in the basement.", 60.1)])
    add(client, user, "second", [said(correction, 40.1)])
    add(client, user, "third", [said(noise.format(number), 20.1) for number in range(100)])

    def shown() -> str:
        return "\n".join(earlier(ask(client, user, "Which CI is in the basement?", max_tokens=800)))

    until(lambda: "GitHub Actions" in shown())  # after the namespace has an index
    assert "User (superseded later): Our CI is Jenkins, in the basement." in shown()


def test_two_sentences_of_a_message_have_two_corrections(client: Client) -> None:
    stated = "Our CI is Jenkins. We deploy to production every Tuesday."
    add(client, "twice", "first", [said(stated, 60.1)])
    add(client, "twice", "second", [said("We no longer use Jenkins, our CI is GitHub Actions.", 40.1)])
    add(client, "twice", "third", [said("We moved the production deploy to Thursday.", 20.1)])
    shown = "\n".join(earlier(ask(client, "twice", "When do we deploy to production?", max_tokens=800)))
    assert f"User (partly superseded later): {stated}" in shown
    assert "GitHub Actions" in shown and "Thursday" in shown


def test_two_facts_of_a_message_have_two_corrections(client: Client) -> None:
    agent = Agent(client, "moves first", user_id="moves")
    for session, text, days, known in (
        ("first", "I work at Siemens as an electrician. I live in Boston.", 60.1, ("location", "Boston")),
        ("second", "I moved to Denver.", 40.1, ("location", "Denver")),
        ("third", "I work at Bosch now.", 20.1, ("company", "Bosch")),
    ):
        add(client, "moves", session, [said(text, days)])
        until(lambda known=known: known in agent.known())  # type: ignore[misc]
    shown = "\n".join(earlier(ask(client, "moves", "Where do I live and work as an electrician?")))
    assert "User (partly superseded later): I work at Siemens" in shown
    assert "I moved to Denver." in shown and "I work at Bosch now." in shown


def test_one_of_two_clauses_is_outdated(client: Client) -> None:
    stated = "The late shift starts at 14:00, the early shift at 6:00."
    add(client, "shifts", "first", [said(stated, 60.1)])
    add(client, "shifts", "second", [said("The late shift now starts at 15:00.", 20.1)])
    shown = "\n".join(earlier(ask(client, "shifts", "When does the late shift start?")))
    assert f"User (partly superseded later): {stated}" in shown and "15:00" in shown


def test_the_newest_corrections_of_a_long_conversation_count(client: Client) -> None:
    add(client, "long", "first", [said("The deadline is 14 June.", 60.1)])
    add(client, "long", "now", [said(f"Depot {number} now has {number} trucks.", 0.1) for number in range(100, 160)])
    client.add("long now", "The deadline moved to 28 June.", user_id="long")
    request = BuildContextRequest(user_id="long", session_id="long now", query="When is the deadline?")
    assert "- User (superseded later): The deadline is 14 June." in earlier(client.memory.BuildContext(request))


def test_a_pronoun_corrects_only_the_statement_before_it(client: Client) -> None:
    contents = ["Checkout listens on port 8443.", "The standup is at 10:00.", "We moved it to 11:00."]
    messages = [each for text in contents for each in (said(text, 9.1), said("Ok.", 9.1, ROLE_ASSISTANT))]
    add(client, "standup", "old", messages)
    shown = "\n".join(earlier(ask(client, "standup", "Which port does checkout listen on?", max_tokens=8_000)))
    assert "User: Checkout listens on port 8443." in shown


def test_a_receipt_lists_a_correction_once(client: Client) -> None:
    """A correction of low relevance is shown with what it corrects, and not among the hits that were left out."""
    add(client, "receipt", "first", [said("Our CI is Jenkins, in the basement.", 60.1)])
    add(client, "receipt", "second", [said("Big day: no longer Jenkins, GitHub Actions builds it all.", 40.1)])
    built = ask(client, "receipt", "Which CI is in the basement?", max_tokens=800, debug=True)
    assert "GitHub Actions" in "\n".join(earlier(built))
    items = section_of(built, "EPISODIC").items
    named = [(item.session_id, name) for item in items for name in item.message_ids]
    assert len(named) == len(set(named)) == 2
