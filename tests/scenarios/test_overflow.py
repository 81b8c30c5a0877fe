"""The provider refused the context: large tool results are shortened before anything is pruned."""

import pytest

from tests.scenarios.talk import Talk, tagged

MIDDLE = "the needle in the middle"


def report(name: str) -> str:
    lines = [f"{name} line {at}: nothing of note happened here" for at in range(200)]
    lines[100] = f"{name} line 100: {MIDDLE} of {name}"
    return "\n".join(lines)


@pytest.fixture
def long_talk(talk: Talk) -> Talk:
    """Two large tool results, the newer one already talked about."""
    for name in ("old", "new"):
        talk.say(f"look at {name}", id=f"ask-{name}")
        talk.call(f"c-{name}", id=f"call-{name}")
        talk.answer(f"c-{name}", report(name), id=name)
        talk.assistant(f"seen {name}", id=f"seen-{name}")
    return talk


def test_the_oldest_large_result_is_shortened_and_nothing_is_pruned(long_talk: Talk) -> None:
    before = long_talk.count().tokens
    answer = long_talk.prune(before - 500, overflow=True)
    assert (list(answer.shortened_ids), answer.removed_count) == (["old"], 0)
    assert answer.tokens_before == before
    assert answer.tokens_after == long_talk.count().tokens <= before - 500


def test_a_shortened_result_keeps_head_and_tail_and_marks_the_cut(long_talk: Talk) -> None:
    long_talk.prune(long_talk.count().tokens - 500, overflow=True)
    short = next(message for message in long_talk.messages() if message.id == "old")
    assert short.content.startswith("old line 0:")
    assert short.content.endswith("old line 199: nothing of note happened here")
    assert "cut by memsidecar" in short.content and MIDDLE not in short.content
    assert (short.synthetic, short.tool_call_id, short.sequence) == (True, "c-old", 3)
    assert [message.id for message in long_talk.messages() if message.synthetic] == ["old"]


def test_the_original_of_a_shortened_result_is_still_found(long_talk: Talk) -> None:
    long_talk.prune(long_talk.count().tokens - 500, overflow=True)
    (hit,) = long_talk.search(f"{MIDDLE} of old").hits
    assert (hit.message.content, hit.message.synthetic) == (report("old"), False)


def test_every_read_of_the_window_shows_the_short_form(long_talk: Talk) -> None:
    long_talk.prune(long_talk.count().tokens - 500, overflow=True)
    recent = {message.id: message for message in long_talk.client.recent(long_talk.session_id, 100)}
    assert recent["old"].synthetic and not recent["new"].synthetic
    assert sum(message.tokens for message in recent.values()) == long_talk.count().tokens


def test_when_shortening_is_not_enough_the_rest_is_pruned(long_talk: Talk) -> None:
    answer = long_talk.prune(60, overflow=True)
    assert answer.removed_count > 0
    assert answer.tokens_after == long_talk.count().tokens
    assert not answer.over_budget or long_talk.ids()[-2:] == ["new", "seen-new"]
    assert long_talk.find(f"{MIDDLE} of old") == [report("old")]


def test_without_overflow_nothing_is_shortened(long_talk: Talk) -> None:
    answer = long_talk.prune(long_talk.count().tokens - 500)
    assert not answer.shortened_ids and answer.removed_count > 0
    assert not any(message.synthetic for message in long_talk.messages(include_pruned=True))


def test_a_dry_run_tells_what_would_be_shortened_and_leaves_it(long_talk: Talk) -> None:
    budget = long_talk.count().tokens - 500
    told = long_talk.prune(budget, overflow=True, dry_run=True)
    assert not any(message.synthetic for message in long_talk.messages())
    assert long_talk.prune(budget, overflow=True) == told


def test_a_second_overflow_within_the_budget_changes_nothing(long_talk: Talk) -> None:
    budget = long_talk.count().tokens - 500
    long_talk.prune(budget, overflow=True)
    before = long_talk.messages()
    again = long_talk.prune(budget, overflow=True)
    assert (again.removed_count, list(again.shortened_ids)) == (0, [])
    assert long_talk.messages() == before


def test_a_shortened_result_can_be_annotated_and_stays_short(long_talk: Talk) -> None:
    long_talk.prune(long_talk.count().tokens - 500, overflow=True)
    tokens = long_talk.count().tokens
    long_talk.annotate("old", {"checked": True})
    short = next(message for message in long_talk.messages() if message.id == "old")
    assert short.synthetic and short.metadata == tagged({"checked": True})
    assert long_talk.count().tokens == tokens
    (hit,) = long_talk.search(f"{MIDDLE} of old").hits
    assert hit.message.metadata == tagged({"checked": True})


def test_a_retry_of_the_original_is_still_a_duplicate(long_talk: Talk) -> None:
    long_talk.prune(long_talk.count().tokens - 500, overflow=True)
    assert long_talk.answer("c-old", report("old"), id="old").duplicate


# -- answers that come late


def test_an_answer_to_a_pruned_call_brings_the_call_back(talk: Talk) -> None:
    talk.call("c1", id="call")
    talk.turns(2)
    talk.prune(1)
    assert talk.ids() == ["q2", "a2"]
    talk.answer("c1", "at last", id="late")
    assert talk.ids() == ["call", "q2", "a2", "late"]
    stats = talk.count()
    assert (stats.message_count, stats.pruned_count) == (4, 2)
    assert stats.tokens == sum(message.tokens for message in talk.messages())


def test_a_late_answer_brings_the_whole_exchange_back(talk: Talk) -> None:
    talk.call("c1", "c2", id="call")
    talk.answer("c1", "the first of two", id="r1")
    talk.turns(2)
    talk.prune(1)
    talk.answer("c2", "at last", id="r2")
    assert talk.ids() == ["call", "r1", "q2", "a2", "r2"]


def test_an_answer_belongs_to_the_nearest_open_call_with_its_id(talk: Talk) -> None:
    talk.call("c", id="first")
    talk.call("c", id="second")
    talk.turns(2)
    talk.prune(1)
    talk.answer("c", "for the second", id="late")
    assert talk.ids() == ["second", "q2", "a2", "late"]
