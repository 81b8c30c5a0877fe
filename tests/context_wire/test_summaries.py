"""Rolling summaries: a summary covers the older turns, which contexts omit."""

from itertools import pairwise

from memsidecar.v1.context_pb2 import SECTION_SUMMARY, SECTION_WORKING, BuildContextResponse, Inclusion, SectionBudget
from memsidecar.v1.knowledge_pb2 import Summary
from memsidecar.v1.memory_pb2 import PRUNE_STRATEGY_WINDOW
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM
from tests.context_wire.agent import Agent, new_agent, section_of, stored_messages
from tests.context_wire.generated_conversation import turns
from tests.context_wire.summary_model import add_turns_about_huts
from tests.support.process import Client
from tests.support.waiting import until

EVERY, KEPT, A_TURN = 12, 6, 2
"Messages: between two summaries, left verbatim, and of the current turn."
TRIES = 20


def summary_of(agent: Agent) -> Summary:
    found = agent.summary()
    assert found is not None
    return found


def context_of_one_summary(agent: Agent) -> tuple[Summary | None, BuildContextResponse]:
    """Build a context; return it with the summary, which did not change meanwhile."""
    for _ in range(TRIES):
        before, built = agent.summary(), agent.build()
        if agent.summary() == before:
            return before, built
    raise AssertionError(f"with every one of {TRIES} contexts another summary was written")


def test_after_twelve_messages_there_is_a_summary_and_its_turns_are_omitted(client: Client) -> None:
    agent = new_agent(client)
    add_turns_about_huts(agent, 6)
    until(lambda: agent.summary() is not None)
    summary = summary_of(agent)
    assert (summary.first_sequence, summary.last_sequence, summary.origin) == (1, 6, "extractive")
    assert 0 < summary.tokens <= 400 and summary.text
    built = agent.build_recent()
    assert [message.sequence for message in stored_messages(built.messages)] == list(range(7, 13))
    assert summary.text.replace("\n", "\n  ") in built.messages[0].content
    assert [item.id for item in section_of(built, "SUMMARY").items] == [summary.id]


def test_messages_that_the_summary_covers_are_counted_apart_from_those_that_do_not_fit(client: Client) -> None:
    agent = new_agent(client)
    add_turns_about_huts(agent, 6)
    until(lambda: agent.summary() is not None)
    two_turns = SectionBudget(section=SECTION_WORKING, top_k=2)
    working = section_of(agent.build(sections=[two_turns], debug=True), "WORKING")
    assert (working.summarized_count, working.left_out_count) == (6, 2)
    reasons = [Inclusion.Name(item.reason).removeprefix("INCLUSION_") for item in working.items if not item.included]
    assert sorted(reasons) == 2 * ["OVER_SECTION"] + 6 * ["SUMMARIZED"]
    without = SectionBudget(section=SECTION_SUMMARY, disabled=True)
    working = section_of(agent.build(sections=[two_turns, without]), "WORKING")
    assert (working.summarized_count, working.left_out_count) == (0, 8)


def test_system_messages_and_pruned_ones_are_not_counted_as_summarized(client: Client) -> None:
    agent = new_agent(client)
    agent.conversation.system("Be kind.")
    add_turns_about_huts(agent, 40)
    agent.conversation.system("Be brief.")
    agent.conversation.prune(strategy=PRUNE_STRATEGY_WINDOW, window=50, summarize=True)
    spoken = [message for message in agent.conversation.messages() if message.role != ROLE_SYSTEM]
    until(lambda: summary_of(agent).last_sequence > 60)
    built = agent.build_recent()
    working = section_of(built, "WORKING")
    assert working.summarized_count == len(spoken) - len(stored_messages(built.messages)) - working.left_out_count > 30


def test_a_summary_that_fits_only_without_its_indentation_covers_nothing(client: Client) -> None:
    agent = new_agent(client)
    add_turns_about_huts(agent, 6)
    until(lambda: agent.summary() is not None)
    five_turns = SectionBudget(section=SECTION_WORKING, top_k=5)
    built = agent.build(
        sections=[five_turns, SectionBudget(section=SECTION_SUMMARY, max_tokens=summary_of(agent).tokens)]
    )
    assert [message.sequence for message in stored_messages(built.messages)] == list(range(3, 13))


def test_with_eleven_messages_there_is_no_summary(client: Client) -> None:
    agent = new_agent(client)
    add_turns_about_huts(agent, 5)
    agent.conversation.add("And hut number 99?")
    built = agent.build()
    assert agent.summary() is None and not section_of(built, "SUMMARY").items
    assert [message.sequence for message in stored_messages(built.messages)] == list(range(1, 12))


def test_a_long_session_has_one_summary_and_no_gap_to_the_shown_messages(client: Client) -> None:
    agent, ranges = new_agent(client), []
    for number, (question, answer) in enumerate(turns(150)):
        agent.conversation.add(question)
        if number % 5 == 4:
            found, built = context_of_one_summary(agent)
            shown = [message.sequence for message in stored_messages(built.messages)]
            ranges.append(found.last_sequence if found and section_of(built, "SUMMARY").items else 0)
            assert shown == list(range(ranges[-1] + 1, 2 * number + 2)), ranges
            working = section_of(built, "WORKING")
            assert (working.summarized_count, working.left_out_count) == (ranges[-1], 0), "of messages not read, too"
        agent.conversation.add(answer, ROLE_ASSISTANT)
    until(lambda: 300 - summary_of(agent).last_sequence < EVERY + KEPT + A_TURN)
    summary = summary_of(agent)
    assert summary.first_sequence == 1 and 0 < summary.tokens <= 400
    assert 300 - summary.last_sequence >= KEPT and summary.last_sequence % 2 == 0, "it ends with a turn"
    assert ranges[0] == 0 < ranges[-1], "at first the conversation fits whole"
    assert all(before <= after for before, after in pairwise(ranges))


def test_summarize_covers_all_messages_within_the_requested_length(client: Client) -> None:
    agent = new_agent(client)
    agent.turns(turns(20))
    until(lambda: agent.summary() is not None)
    found = agent.summarize(max_tokens=60)
    assert found is not None and (found.first_sequence, found.last_sequence) == (1, 40) and found.tokens <= 60
    assert summary_of(agent) == found
    assert [message.sequence for message in stored_messages(agent.build_recent().messages)] == list(range(35, 41)), (
        "the newest stay as they were"
    )


def test_without_messages_there_is_no_summary(client: Client) -> None:
    assert new_agent(client).summarize() is None
    assert new_agent(client).summary() is None


def test_a_cleared_session_has_no_summary(client: Client) -> None:
    agent = new_agent(client)
    add_turns_about_huts(agent, 6)
    until(lambda: agent.summary() is not None)
    agent.conversation.clear()
    assert agent.summary() is None and not section_of(agent.build(), "SUMMARY").items
    add_turns_about_huts(agent, 6)
    until(lambda: agent.summary() is not None)
    assert summary_of(agent).last_sequence == 18
