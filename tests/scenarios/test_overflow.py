"""The provider refused the context: large tool results are shortened before anything is pruned."""

import pytest

from tests.scenarios.conversation import Conversation, tagged

MIDDLE = "the needle in the middle"


def report(name: str) -> str:
    lines = [f"{name} line {at}: nothing of note happened here" for at in range(200)]
    lines[100] = f"{name} line 100: {MIDDLE} of {name}"
    return "\n".join(lines)


@pytest.fixture
def long_conversation(conversation: Conversation) -> Conversation:
    """Return a conversation with two large tool results, each followed by a reply."""
    for name in ("old", "new"):
        conversation.add(f"look at {name}", id=f"ask-{name}")
        conversation.add_tool_call(f"c-{name}", id=f"call-{name}")
        conversation.add_tool_result(f"c-{name}", report(name), id=name)
        conversation.assistant(f"seen {name}", id=f"seen-{name}")
    return conversation


def test_the_oldest_large_result_is_shortened_and_nothing_is_pruned(long_conversation: Conversation) -> None:
    before = long_conversation.count().tokens
    answer = long_conversation.prune(before - 500, overflow=True)
    assert (list(answer.shortened_ids), answer.removed_count) == (["old"], 0)
    assert answer.tokens_before == before
    assert answer.tokens_after == long_conversation.count().tokens <= before - 500


def test_a_shortened_result_keeps_head_and_tail_and_marks_the_cut(long_conversation: Conversation) -> None:
    long_conversation.prune(long_conversation.count().tokens - 500, overflow=True)
    short = next(message for message in long_conversation.messages() if message.id == "old")
    assert short.content.startswith("old line 0:")
    assert short.content.endswith("old line 199: nothing of note happened here")
    assert "cut by memsidecar" in short.content and MIDDLE not in short.content
    assert (short.synthetic, short.tool_call_id, short.sequence) == (True, "c-old", 3)
    assert [message.id for message in long_conversation.messages() if message.synthetic] == ["old"]


def test_the_original_of_a_shortened_result_is_still_found(long_conversation: Conversation) -> None:
    long_conversation.prune(long_conversation.count().tokens - 500, overflow=True)
    (hit,) = long_conversation.search(f"{MIDDLE} of old").hits
    assert (hit.message.content, hit.message.synthetic) == (report("old"), False)


def test_all_reads_of_the_window_return_the_short_form(long_conversation: Conversation) -> None:
    long_conversation.prune(long_conversation.count().tokens - 500, overflow=True)
    recent = {message.id: message for message in long_conversation.client.recent(long_conversation.session_id, 100)}
    assert recent["old"].synthetic and not recent["new"].synthetic
    assert sum(message.tokens for message in recent.values()) == long_conversation.count().tokens


def test_when_shortening_is_not_enough_the_rest_is_pruned(long_conversation: Conversation) -> None:
    answer = long_conversation.prune(60, overflow=True)
    assert answer.removed_count > 0
    assert answer.tokens_after == long_conversation.count().tokens
    assert not answer.over_budget or long_conversation.ids()[-2:] == ["new", "seen-new"]
    assert long_conversation.find(f"{MIDDLE} of old") == [report("old")]


def test_without_overflow_nothing_is_shortened(long_conversation: Conversation) -> None:
    answer = long_conversation.prune(long_conversation.count().tokens - 500)
    assert not answer.shortened_ids and answer.removed_count > 0
    assert not any(message.synthetic for message in long_conversation.messages(include_pruned=True))


def test_a_dry_run_lists_messages_to_shorten_and_changes_nothing(long_conversation: Conversation) -> None:
    budget = long_conversation.count().tokens - 500
    planned = long_conversation.prune(budget, overflow=True, dry_run=True)
    assert not any(message.synthetic for message in long_conversation.messages())
    assert long_conversation.prune(budget, overflow=True) == planned


def test_a_second_overflow_within_the_budget_changes_nothing(long_conversation: Conversation) -> None:
    budget = long_conversation.count().tokens - 500
    long_conversation.prune(budget, overflow=True)
    before = long_conversation.messages()
    again = long_conversation.prune(budget, overflow=True)
    assert (again.removed_count, list(again.shortened_ids)) == (0, [])
    assert long_conversation.messages() == before


def test_a_shortened_result_can_be_annotated_and_stays_short(long_conversation: Conversation) -> None:
    long_conversation.prune(long_conversation.count().tokens - 500, overflow=True)
    tokens = long_conversation.count().tokens
    long_conversation.annotate("old", {"checked": True})
    short = next(message for message in long_conversation.messages() if message.id == "old")
    assert short.synthetic and short.metadata == tagged({"checked": True})
    assert long_conversation.count().tokens == tokens
    (hit,) = long_conversation.search(f"{MIDDLE} of old").hits
    assert hit.message.metadata == tagged({"checked": True})


def test_a_retry_of_the_original_is_still_a_duplicate(long_conversation: Conversation) -> None:
    long_conversation.prune(long_conversation.count().tokens - 500, overflow=True)
    assert long_conversation.add_tool_result("c-old", report("old"), id="old").duplicate


# -- late tool results


def test_a_result_of_a_pruned_call_restores_the_call(conversation: Conversation) -> None:
    conversation.add_tool_call("c1", id="call")
    conversation.add_turns(2)
    conversation.prune(1)
    assert conversation.ids() == ["q2", "a2"]
    conversation.add_tool_result("c1", "at last", id="late")
    assert conversation.ids() == ["call", "q2", "a2", "late"]
    stats = conversation.count()
    assert (stats.message_count, stats.pruned_count) == (4, 2)
    assert stats.tokens == sum(message.tokens for message in conversation.messages())


def test_a_late_result_restores_the_whole_exchange(conversation: Conversation) -> None:
    conversation.add_tool_call("c1", "c2", id="call")
    conversation.add_tool_result("c1", "the first of two", id="r1")
    conversation.add_turns(2)
    conversation.prune(1)
    conversation.add_tool_result("c2", "at last", id="r2")
    assert conversation.ids() == ["call", "r1", "q2", "a2", "r2"]


def test_a_result_belongs_to_the_nearest_open_call_with_its_id(conversation: Conversation) -> None:
    conversation.add_tool_call("c", id="first")
    conversation.add_tool_call("c", id="second")
    conversation.add_turns(2)
    conversation.prune(1)
    conversation.add_tool_result("c", "for the second", id="late")
    assert conversation.ids() == ["second", "q2", "a2", "late"]
