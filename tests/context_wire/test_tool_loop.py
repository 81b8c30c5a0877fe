"""The task of a turn under way is shown however many tool exchanges follow it, and however large their results are."""

from collections.abc import Iterator
from typing import Any

import pytest

from memsidecar.v1.context_pb2 import (
    INCLUSION_SHORTENED,
    SECTION_DOCUMENTS,
    SECTION_WORKING,
    BuildContextResponse,
    SectionBudget,
)
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL, ROLE_USER, Message, ToolCall
from tests.context_wire.agent import Agent, new_agent, section_of, shown_in
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import Client, SidecarProcess, refusal
from tests.support.waiting import until

TASK = "Find out why the nightly build of the billing service fails since Tuesday, and tell me which commit did it."
BUDGETS = (400, 800, 2_000, 8_000, 32_000)
LOG_LINE = "2026-11-03T02:14:07Z billing-build step {number}: compiled 118 classes, 3 warnings, cache hit ratio 0.87\n"


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    with SidecarProcess(tmp_path_factory.mktemp("tool-loop") / "data", "--index", "volatile") as running:
        until_index_is_ready(running)
        yield running


def log_of(lines: int) -> str:
    return "".join(LOG_LINE.format(number=number) for number in range(lines))


def exchange(number: int, result: str) -> list[Message]:
    call = ToolCall(id=f"call-{number}", name="read_log", arguments_json=f'{{"page": {number}}}')
    return [
        Message(role=ROLE_ASSISTANT, content=f"I read page {number} of the log.", tool_calls=[call]),
        Message(role=ROLE_TOOL, tool_call_id=call.id, content=result),
    ]


def in_tool_loop(client: Client, *results: str) -> Agent:
    agent = new_agent(client, user=True)
    messages = [message for number, result in enumerate(results) for message in exchange(number, result)]
    for number, message in enumerate(messages):
        message.id = f"message-{number}"  # generated ids have different numbers of tokens in the markers of previews
    agent.conversation.add_batch(Message(role=ROLE_USER, content=TASK), *messages)
    return agent


def tasks_in(built: BuildContextResponse) -> list[str]:
    return [message.content for message in built.messages if message.role == ROLE_USER and not message.synthetic]


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_task_stays_in_a_long_tool_loop(client: Client, budget: int) -> None:
    agent = in_tool_loop(client, *[log_of(10)] * 13)
    built = agent.build(max_tokens=budget)
    assert tasks_in(built) == [TASK]
    assert not shown_in(built, "EPISODIC")
    newest = built.messages[-1]
    assert (newest.role, newest.tool_call_id) == (ROLE_TOOL, "call-12")
    assert built.total_tokens <= budget


@pytest.mark.parametrize(("budget", "lines"), [(2_000, 10), (8_000, 20)])
def test_a_tool_loop_uses_what_no_other_section_can_use(client: Client, budget: int, lines: int) -> None:
    built = in_tool_loop(client, *[log_of(lines)] * 13).build(max_tokens=budget)
    working = section_of(built, "WORKING")
    assert 0.9 * budget <= built.total_tokens <= budget
    assert working.used_tokens == working.limit_tokens > 0.6 * budget
    assert len([message for message in built.messages if message.role == ROLE_TOOL]) == 13


def test_a_request_may_limit_the_conversation_of_a_tool_loop(client: Client) -> None:
    sections = [SectionBudget(section=SECTION_WORKING, max_tokens=1_000)]
    built = in_tool_loop(client, *[log_of(20)] * 13).build(max_tokens=8_000, sections=sections)
    working = section_of(built, "WORKING")
    assert working.used_tokens <= working.limit_tokens == 1_000


def test_without_filling_a_tool_loop_keeps_to_its_share(client: Client) -> None:
    built = in_tool_loop(client, *[log_of(20)] * 13).build(max_tokens=8_000, context_fill=0.0)
    working = section_of(built, "WORKING")
    assert working.used_tokens <= working.limit_tokens == working.share_tokens


@pytest.mark.parametrize("fields", [{"top_k": 0}, {"disabled": True}], ids=str)
def test_a_conversation_without_turns_does_not_grow(client: Client, fields: dict[str, Any]) -> None:
    sections = [SectionBudget(section=SECTION_WORKING, **fields)]
    built = in_tool_loop(client, *[log_of(20)] * 13).build(max_tokens=8_000, sections=sections)
    assert built.total_tokens < 1_000


@pytest.mark.parametrize("fields", [{"top_k": 0}, {"disabled": True}, {"max_tokens": 0}], ids=str)
def test_a_section_that_may_show_nothing_keeps_no_tokens(client: Client, fields: dict[str, Any]) -> None:
    sections = [SectionBudget(section=SECTION_DOCUMENTS, **fields)]
    agent = in_tool_loop(client, *[log_of(20)] * 13)
    built = agent.build(max_tokens=8_000, sections=sections, documents=["The build runs on Jenkins."])
    assert built.total_tokens >= 0.9 * 8_000


@pytest.mark.parametrize("budget", [1_500, 1_750, 2_000])
def test_no_message_is_shown_twice(client: Client, budget: int) -> None:
    agent = new_agent(client, user=True)
    task = "Please compare the zebra invoices of Ada with the pelican ledger."
    results = [f"zebra invoice {number} of Ada: pelican ledger {log_of(12)}" for number in range(14)]
    messages = [message for number, result in enumerate(results) for message in exchange(number, result)]
    agent.conversation.add_batch(Message(role=ROLE_USER, content=task), *messages)
    query = "zebra invoices of Ada and the pelican ledger?"
    built = agent.build(max_tokens=budget, query=query, append_query=True)
    retrieved = [name for item in section_of(built, "EPISODIC").items if item.included for name in item.message_ids]
    assert retrieved and set(shown_in(built, "WORKING")).isdisjoint(retrieved)


def test_a_summary_keeps_what_the_conversation_does_not_show(client: Client) -> None:
    agent = in_tool_loop(client, *[log_of(2)] * 13)
    until(lambda: agent.summary() is not None)
    sections = [SectionBudget(section=SECTION_WORKING, disabled=True)]
    built = agent.build(max_tokens=2_000, sections=sections)
    assert section_of(built, "SUMMARY").used_tokens > 0
    assert TASK in built.messages[0].content


def test_a_summary_does_not_repeat_the_task(client: Client) -> None:
    agent = in_tool_loop(client, *[log_of(2)] * 13)
    until(lambda: agent.summary() is not None)
    built = agent.build(max_tokens=2_000)
    assert [TASK in message.content for message in built.messages].count(True) == 1


@pytest.mark.parametrize(("budget", "has_summary"), [(600, True), (8_000, False)])
def test_a_loop_that_is_shown_needs_no_summary(client: Client, budget: int, has_summary: bool) -> None:
    agent = in_tool_loop(client, *[log_of(2)] * 13)
    until(lambda: agent.summary() is not None)
    built = agent.build(max_tokens=budget)
    is_whole = len(shown_in(built, "WORKING")) == 27
    assert (section_of(built, "SUMMARY").used_tokens > 0, is_whole) == (has_summary, not has_summary)


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_passage_that_a_preview_leaves_out_is_retrieved(client: Client, budget: int) -> None:
    line = "ERROR importer batch=477 duplicate key (id)=(8812345) already exists"
    agent = in_tool_loop(client, f"{log_of(300)}{line}\n{log_of(300)}")
    agent.conversation.add("I read it.", ROLE_ASSISTANT)
    agent.conversation.add("What was the duplicate key in the log?")
    built = agent.build(max_tokens=budget)
    assert any(line in message.content for message in built.messages)


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_large_tool_result_is_shown_as_a_preview(client: Client, budget: int) -> None:
    agent = in_tool_loop(client, log_of(1_000))
    built = agent.build(max_tokens=budget)
    assert tasks_in(built) == [TASK]
    (result,) = [message for message in built.messages if message.role == ROLE_TOOL]
    assert result.content.startswith("2026-11-03T02:14:07Z billing-build step 0:") or budget < 500
    assert f"tokens left out; the whole is message {result.id}]" in result.content
    assert result.synthetic
    (receipt,) = [item for item in section_of(built, "WORKING").items if item.id == result.id]
    assert (receipt.reason, receipt.included) == (INCLUSION_SHORTENED, True)
    assert built.total_tokens <= budget


@pytest.mark.parametrize("budget", [800, 2_000, 8_000])
def test_a_preview_shows_a_line_that_reports_a_failure(client: Client, budget: int) -> None:
    line = "2026-11-03T02:20:00Z ERROR importer batch=477 duplicate key (id)=(8812345) already exists"
    built = in_tool_loop(client, f"{log_of(400)}{line}\n{log_of(400)}").build(max_tokens=budget)
    (result,) = [message for message in built.messages if message.role == ROLE_TOOL]
    assert line in result.content.splitlines() and result.synthetic
    assert built.total_tokens <= budget


def test_a_failure_in_a_line_without_end_is_shown_with_what_is_around_it(client: Client) -> None:
    content = f"{'word ' * 4_000}ERROR duplicate key 8812345 {'word ' * 4_000}"
    built = in_tool_loop(client, content).build(max_tokens=2_000)
    assert any("word ERROR duplicate key 8812345 word" in message.content for message in built.messages)


def test_a_preview_uses_what_no_other_section_can_use(client: Client) -> None:
    built = in_tool_loop(client, log_of(600)).build(max_tokens=800)
    assert 0.85 * 800 <= built.total_tokens <= 800


def test_the_newest_result_is_the_last_that_shrinks(client: Client) -> None:
    built = in_tool_loop(client, log_of(100), log_of(100), log_of(40)).build(max_tokens=4_000)
    first, second, newest = (message for message in built.messages if message.role == ROLE_TOOL)
    assert "tokens left out" in first.content and "tokens left out" in second.content
    assert newest.content == log_of(40)


@pytest.mark.parametrize("budget", BUDGETS)
def test_the_next_question_after_a_large_result_has_its_answer(client: Client, budget: int) -> None:
    agent = in_tool_loop(client, log_of(600))
    answer = "Commit 4f1c did it: it removed the cache key."
    agent.conversation.add_batch(
        Message(role=ROLE_ASSISTANT, content=answer), Message(role=ROLE_USER, content="Who wrote that commit?")
    )
    built = agent.build(max_tokens=budget)
    assert tasks_in(built) == [TASK, "Who wrote that commit?"]
    assert answer in [message.content for message in built.messages]


def test_pruning_keeps_the_task_of_a_large_result(client: Client) -> None:
    agent = in_tool_loop(client, log_of(10), log_of(600))
    agent.conversation.prune(8_000)
    left = [message.content for message in agent.conversation.messages()]
    assert left[0] == TASK and log_of(10) not in left


def test_large_arguments_of_a_call_are_left_out_as_valid_json(client: Client) -> None:
    agent = new_agent(client)
    call = ToolCall(id="write", name="write_file", arguments_json=f'{{"text": "{"word " * 9_000}"}}')
    agent.conversation.add_batch(
        Message(role=ROLE_USER, content=TASK),
        Message(role=ROLE_ASSISTANT, tool_calls=[call]),
        Message(role=ROLE_TOOL, tool_call_id="write", content="written"),
    )
    built = agent.build(max_tokens=1_000)
    (shown,) = [call for message in built.messages for call in message.tool_calls]
    assert shown.name == "write_file" and shown.arguments_json.startswith('{"left_out": "9,0')


def test_previews_that_do_not_fit_are_named(client: Client) -> None:
    refused = refusal(lambda: in_tool_loop(client, log_of(600)).build(max_tokens=60))
    assert (refused.reason, refused.metadata["item"]) == ("BUDGET_TOO_SMALL", "newest messages")


def test_a_task_that_does_not_fit_is_named(client: Client) -> None:
    agent = new_agent(client)
    agent.conversation.add("word " * 2_000)
    refused = refusal(lambda: agent.build(max_tokens=1_000))
    assert (refused.reason, refused.metadata["item"]) == ("BUDGET_TOO_SMALL", "newest user message")
    assert "Raise max_tokens to 2" in refused.message
    assert agent.build(max_tokens=int(refused.metadata["required_tokens"])).messages[-1].content == "word " * 2_000
