"""A newcomer asks the console why a sentence was or was not in the context."""

import re
from typing import Any

from tests.console.browser import ConsolePage
from tests.console.conversations import SENTENCE, SESSION, TILES, UNRELATED

QUESTION = "In which city do I live?"


def _laboratory(console: ConsolePage, query: str = "") -> Any:
    console.open_session(SESSION)
    console.page.get_by_role("button", name="Open in the laboratory").click()
    console.page.get_by_role("textbox", name="Query").fill(query)
    console.page.get_by_text(re.compile(r"^\s*built in")).first.wait_for()
    return console.page


def _ask(page: Any, words: str) -> Any:
    page.get_by_role("searchbox", name="Is this sentence in the context, and why?").fill(words)
    return page.get_by_role("region", name="Find a sentence").get_by_role("status")


def _set_budget(page: Any, tokens: int, setting: int = 0) -> None:
    field = page.get_by_label("Budget, tokens").nth(setting)
    field.fill(str(tokens))
    field.press("Tab")


def test_a_newcomer_finds_why_a_sentence_is_in_the_context(console: ConsolePage) -> None:
    page = _laboratory(console, QUESTION)
    answer = _ask(page, SENTENCE)
    answer.get_by_text("Yes, it is in the context.").wait_for()
    answer.get_by_text("Said before").wait_for()
    answer.get_by_text("relevance").first.wait_for()
    assert SENTENCE in page.get_by_role("listitem").filter(has_text="composed").last.inner_text()
    console.check(SESSION, "Lisbon", "city")


def test_a_newcomer_finds_why_a_sentence_is_not_in_the_context(console: ConsolePage) -> None:
    page = _laboratory(console, QUESTION)
    answer = _ask(page, UNRELATED)
    answer.get_by_text("No. It was considered and left out:").wait_for()
    answer.get_by_text("its relevance to the query is below the threshold").first.wait_for()
    _ask(page, TILES).get_by_text("Yes, it is in the context.").wait_for()
    page.get_by_role("checkbox", name="Conversation").uncheck()
    answer.get_by_text(re.compile("^No")).wait_for()
    answer.get_by_text("Switched off: Conversation.").wait_for()
    page.get_by_role("checkbox", name="Facts").uncheck()
    _ask(page, "location: Lisbon").get_by_text("its section is switched off").wait_for()


def test_words_that_were_never_said_are_not_found(console: ConsolePage) -> None:
    page = _laboratory(console)
    _ask(page, "never said in any conversation").get_by_text("No.", exact=True).wait_for()


def test_a_pruned_message_leads_to_its_answer(console: ConsolePage) -> None:
    console.open_session(SESSION)
    console.messages.get_by_role("option").filter(has_text=UNRELATED).click()
    console.page.get_by_text("Pruned: not in the window.").wait_for()
    console.page.get_by_role("button", name="Is it in the context?").click()
    answer = console.page.get_by_role("region", name="Find a sentence").get_by_role("status")
    answer.get_by_text(re.compile("^(No|Yes)")).first.wait_for()


def test_the_context_is_the_one_that_is_returned(console: ConsolePage) -> None:
    page = _laboratory(console, QUESTION)
    bar = page.get_by_role("img")
    assert re.search(r"Conversation: [\d,]+ tokens.*free: [\d,]+ tokens", bar.get_attribute("aria-label"))
    prefix = page.get_by_text(re.compile(r"Stable prefix: \d+ message"))
    count = int(re.search(r"\d+", prefix.inner_text())[0])  # type: ignore[index]
    assert page.get_by_role("listitem").filter(has_text="stable prefix").count() == count > 0


def test_the_laboratory_makes_dry_runs(console: ConsolePage) -> None:
    _laboratory(console, QUESTION)
    built = [request.post_data_json for request in console.requests if request.url.endswith("/BuildContext")]
    assert built and all(request["dryRun"] for request in built)


def test_a_budget_that_is_too_small_names_the_tokens_that_are_needed(console: ConsolePage) -> None:
    page = _laboratory(console)
    _set_budget(page, 20)
    page.get_by_role("alert").get_by_text(re.compile(r"This budget is too small: \d+ tokens are needed")).wait_for()


def test_two_settings_are_compared_side_by_side(console: ConsolePage) -> None:
    page = _laboratory(console, QUESTION)
    page.get_by_label("Compare two settings").check()
    page.get_by_role("group", name="Setting B").get_by_role("checkbox", name="Said before").uncheck()
    page.get_by_text("differs from the other setting").first.wait_for()
    assert page.get_by_role("img").count() == 2
    answer = _ask(page, SENTENCE)
    answer.get_by_text("Yes, it is in the context.").wait_for()
    answer.get_by_text(re.compile("^No")).wait_for()


def test_a_moving_slider_makes_one_call_at_a_time(console: ConsolePage) -> None:
    page = console.page
    running = [0, 0]

    def begin(request: Any) -> None:
        if request.url.endswith("/BuildContext"):
            running[0] += 1
            running[1] = max(running)

    def end(request: Any) -> None:
        running[0] -= request.url.endswith("/BuildContext")

    page.on("request", begin)
    page.on("requestfinished", end)
    _laboratory(console, QUESTION)
    before = console.called.count("BuildContext")
    slider = page.get_by_role("slider", name="Budget")
    for _ in range(40):
        slider.press("ArrowRight")
    limit = page.get_by_label("Budget, tokens").input_value()
    page.get_by_text(re.compile(rf"of {int(limit):,} tokens")).first.wait_for()
    assert running[1] == 1 and console.called.count("BuildContext") - before <= 41
