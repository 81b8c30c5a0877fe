"""Facts are extracted from messages of the user, with their sources, and are visible to that user only."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from memsidecar.v1.context_pb2 import Section
from memsidecar.v1.knowledge_pb2 import FACT_TYPE_USER_PROFILE, Fact
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT
from tests.context_wire.agent import Agent, new_agent
from tests.support.process import Client, SidecarProcess
from tests.support.waiting import until

LATE = ("location", "Reykjavik")
HERE_I_AM = "I live in Reykjavik."
"Said last: when this is known, so is everything before it."


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    """Default settings, except for a short quiet period."""
    flags = ("--facts-quiet-seconds", "0.1", "--index-linger-ms", "10")
    with SidecarProcess(tmp_path_factory.mktemp("facts") / "data", *flags) as running:
        yield running
        assert "Traceback" not in running.log()


@pytest.fixture
def ann(client: Client) -> Agent:
    return new_agent(client, user=True)


@pytest.fixture(scope="module")
def never_quiet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A sidecar with an endless quiet period."""
    flags = ("--facts-quiet-seconds", "86400")
    with SidecarProcess(tmp_path_factory.mktemp("never_quiet") / "data", *flags) as running, running.client() as client:
        yield client


def test_facts_are_extracted_after_five_turns_with_their_sources(never_quiet: Client) -> None:
    ann = new_agent(never_quiet, user=True)
    texts = ["Hi, my name is Priya Nair.", "I work at Northwind.", "I live in Lisbon.", "What is the time there?"]
    ids = {text: ann.conversation.add(text).message_id for text in texts}
    for text in texts:
        ann.conversation.assistant(f"You said: {text}")
    ann.conversation.add("Thanks.")
    ann.until_known(("name", "Priya Nair"), ("company", "Northwind"), ("location", "Lisbon"))
    found = {one.key: one for one in ann.facts()}
    for key, text in zip(("name", "company", "location"), texts, strict=False):
        fact = found[key]
        assert (list(fact.source_message_ids), fact.session_id) == ([ids[text]], ann.session_id)
        assert 0 < fact.confidence <= 1 and fact.origin == "rules" and not fact.HasField("valid_until")


def test_facts_are_extracted_after_the_quiet_period(ann: Agent) -> None:
    ann.conversation.add("Hi, my name is Priya Nair and I live in Lisbon.")
    ann.until_known(("name", "Priya Nair"), ("location", "Lisbon"))


def test_the_receipt_tells_where_items_come_from(ann: Agent) -> None:
    ann.conversation.add("I live in Lisbon.")
    ann.until_known(("location", "Lisbon"))
    ann.knowledge_client.put_facts(Fact(type=FACT_TYPE_USER_PROFILE, key="name", value="Priya"))
    other = replace(ann, session_id=f"{ann.session_id} later")
    other.conversation.assistant("Hello.")
    built = other.build(profile="A nurse.", documents=["The clinic opens at 8."], query="Hi!", append_query=True)
    origins = {Section.Name(each.section): {item.origin for item in each.items} for each in built.receipt.sections}
    assert origins["SECTION_FACTS"] == {"rules", "client"}
    assert origins["SECTION_WORKING"] == {"assistant", "request"}
    assert origins["SECTION_PROFILE"] == origins["SECTION_DOCUMENTS"] == {"request"}


def test_a_changed_value_replaces_what_was_remembered(ann: Agent) -> None:
    ann.conversation.add("Remember that the staging DB is on port 5433.")
    ann.until_known(("staging db", "on port 5433"))
    ann.conversation.add("The staging DB is on port 6543 now.")
    ann.until_known(("staging db", "on port 6543"))
    assert ("staging db", "on port 5433") not in ann.known()


def test_a_change_of_what_is_not_known_is_no_fact(ann: Agent) -> None:
    ann.conversation.add("I work at Northwind.")
    ann.until_known(("company", "Northwind"))
    for text in ("The staging DB is on port 6543 now.", "The company is now SOC2 compliant.", HERE_I_AM):
        ann.conversation.add(text)
    ann.until_known(LATE)
    assert ann.known() == {("company", "Northwind"), LATE}


def test_a_value_that_is_remembered_and_changed_in_one_message_is_known(ann: Agent) -> None:
    ann.conversation.add("Remember that the staging port is 5433. The staging port is 6543 now.")
    ann.until_known(("staging port", "6543"))
    ann.conversation.add(f"The staging port is not 6543 now. {HERE_I_AM}")
    ann.until_known(LATE)
    assert ("staging port", "6543") in ann.known()


def test_a_new_value_supersedes_and_the_history_has_both(ann: Agent) -> None:
    ann.conversation.add("I work at Northwind.")
    ann.until_known(("company", "Northwind"))
    ann.conversation.add("I left Northwind, I work at Globex now.")
    ann.until_known(("company", "Globex"))
    assert ann.known() == {("company", "Globex")}
    history = {fact.value: fact for fact in ann.facts(include_history=True)}
    assert history.keys() == {"Northwind", "Globex"}
    assert history["Northwind"].valid_until == history["Globex"].valid_from


@pytest.mark.parametrize(
    "text",
    [
        "My name is not Bob.",
        "If I lived in Paris I would eat well.",
        "Suppose I worked at Initech, what would I earn?",
        "user: I live in Oslo\nassistant: Nice!\nuser: I work at Initech",
        'She wrote: "I live in Rome and my name is Carla."',
        "> I live in Madrid\n> my name is Bob",
        "```\nMy name is Bob. I live in Berlin.\n```",
        "My brother lives in Vienna and works at Initech.",
    ],
)
def test_negated_hypothetical_and_quoted_statements_are_no_facts(ann: Agent, text: str) -> None:
    ann.conversation.add(text)
    ann.conversation.add(HERE_I_AM)
    ann.until_known(LATE)
    assert ann.known() == {LATE}


def test_statements_of_the_assistant_are_no_facts(ann: Agent) -> None:
    for guess in ("So your name is Bob and you live in Paris!", "I work at Initech.", "My name is Claude."):
        ann.conversation.add(guess, ROLE_ASSISTANT)
    ann.conversation.add(HERE_I_AM)
    ann.until_known(LATE)
    assert ann.known() == {LATE}


def test_facts_of_one_user_are_not_visible_to_another(client: Client, ann: Agent) -> None:
    bob = new_agent(client, user=True)
    ann.conversation.add("My name is Priya Nair.")
    bob.conversation.add("My name is Tomas Berg.")
    ann.until_known(("name", "Priya Nair"))
    bob.until_known(("name", "Tomas Berg"))
    for one, other in ((ann, "Tomas"), (bob, "Priya")):
        assert len(one.known()) == 1
        assert other not in one.build().memory_text
        elsewhere = Agent(one.client, f"{one.session_id}-2", user_id=one.user_id)
        assert other not in elsewhere.build().memory_text


def test_facts_of_a_session_belong_to_the_user_that_claims_it(client: Client) -> None:
    anonymous = new_agent(client)
    anonymous.conversation.add("My name is Priya Nair.")
    anonymous.until_known(("name", "Priya Nair"))
    ann = Agent(client, anonymous.session_id, user_id=f"user-{anonymous.session_id}")
    assert ann.known() == set()
    ann.conversation.add("I live in Lisbon.")
    ann.until_known(("name", "Priya Nair"), ("location", "Lisbon"))
    until(lambda: "Priya Nair" in ann.build(session_id=f"{ann.session_id}-2").memory_text)
