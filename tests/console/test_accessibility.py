"""What axe and a keyboard find, and the pictures of the documentation."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.console.browser import DESKTOP, PHONE, ConsolePage, console_page
from tests.console.conversations import SENTENCE, SESSION
from tests.support.process import SidecarProcess

AXE = Path(__file__).parents[2] / ".tools/console/node_modules/axe-core/axe.min.js"
PICTURES = os.environ.get("CONSOLE_PICTURES", "")
"The folder to write pictures to, instead of one that is thrown away."
VIEWS = ("Conversation", "Context laboratory", "Facts", "Patterns", "Documents", "Usage")
APPEARANCES = [("light", DESKTOP), ("dark", DESKTOP), ("light", PHONE), ("dark", PHONE)]
PICTURED = {"light": ("light", DESKTOP), "dark": ("dark", DESKTOP), "phone": ("light", PHONE)}
QUESTION = "Where did I move last spring?"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = Path(PICTURES).resolve() if PICTURES else tmp_path
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@pytest.fixture(params=APPEARANCES, ids=lambda value: f"{value[0]}-{value[1]['width']}")
def appearance(request: pytest.FixtureRequest, browser: Any, stored: SidecarProcess) -> Iterator[ConsolePage]:
    """The console in one theme and width. axe needs a page that may run it, so this one has no policy."""
    scheme, size = request.param
    address = stored.ready["http_listen"]
    with console_page(browser, address, color_scheme=scheme, viewport=size, bypass_csp=True) as opened:
        opened.open()
        yield opened


def _violations(page: Any) -> list[str]:
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")["violations"]
    return [
        f"{rule['id']} ({rule['impact']}): {node['html'][:200]} {node.get('failureSummary', '')[:300]}"
        for rule in found
        for node in rule["nodes"]
        if rule["impact"] in {"serious", "critical", "moderate"}
    ]


def _fits(page: Any) -> bool:
    """Return whether nothing is wider than the window."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def test_axe_finds_nothing_and_every_view_fits(appearance: ConsolePage) -> None:
    page = appearance.page
    appearance.open_session(SESSION)
    assert _violations(page) == [] and _fits(page)
    appearance.messages.get_by_role("option").last.click()
    page.get_by_role("article", name="Message").wait_for()
    for view in VIEWS:
        appearance.show(view)
        page.get_by_role("heading").first.wait_for()
        if view == "Context laboratory":
            page.get_by_label("Compare two settings").check()
            page.get_by_text("More settings").first.click()
            page.get_by_text("built in").nth(1).wait_for()
        assert _violations(page) == [], view
        assert _fits(page), view


def test_axe_finds_nothing_in_a_dialog(appearance: ConsolePage) -> None:
    appearance.open_session(SESSION)
    appearance.page.get_by_role("button", name="Forget this session").click()
    appearance.page.get_by_role("button", name="Erase for good").wait_for()
    assert _violations(appearance.page) == []


def test_a_keyboard_is_enough(console: ConsolePage) -> None:
    page, keys = console.page, console.page.keyboard
    page.get_by_role("listbox", name="Sessions").get_by_role("option").first.wait_for()
    keys.press("/")
    keys.type(SESSION)
    page.get_by_role("listbox", name="Sessions").get_by_role("option").filter(has_text=SESSION).wait_for()
    for _ in range(3):  # the buttons of both lists, then the list
        keys.press("Tab")
    assert _focused(page) == "Sessions"
    keys.press("ArrowDown")
    keys.press("Enter")
    page.get_by_role("heading", name=SESSION, exact=True).wait_for()
    console.messages.get_by_role("option").first.wait_for()
    for _ in range(20):
        keys.press("Tab")
        if _focused(page).startswith("Messages"):
            break
    keys.press("End")
    keys.press("ArrowUp")
    page.get_by_role("article", name="Message").wait_for()
    console.messages.locator("[aria-selected=true][aria-posinset='9']").wait_for()
    chosen = console.messages.locator("[aria-selected=true]").get_attribute("id")
    assert console.messages.get_attribute("aria-activedescendant") == chosen
    keys.press("Escape")
    page.get_by_role("article", name="Message").wait_for(state="detached")


def _focused(page: Any) -> str:
    return str(page.evaluate("document.activeElement.getAttribute('aria-label') ?? ''"))


def test_the_theme_can_be_switched(console: ConsolePage) -> None:
    page = console.page
    page.get_by_role("listbox", name="Sessions").wait_for()
    ground = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(ground)
    for name in ("system", "light"):
        page.get_by_role("button", name=f"Theme: {name}").click()
    page.get_by_role("button", name="Theme: dark").wait_for()
    assert page.evaluate(ground) != light
    page.reload()
    page.get_by_role("button", name="Theme: dark").wait_for()
    assert page.evaluate(ground) != light


@pytest.mark.parametrize("name", PICTURED)
def test_pictures_are_taken(browser: Any, stored: SidecarProcess, pictures: Path, name: str) -> None:
    scheme, size = PICTURED[name]
    address = stored.ready["http_listen"]
    with console_page(browser, address, color_scheme=scheme, viewport=size, reduced_motion="reduce") as console:
        console.open()
        page = console.page
        console.open_session(SESSION)
        page.get_by_role("button", name="Open in the laboratory").click()
        page.get_by_role("textbox", name="Query").fill(QUESTION)
        page.get_by_label("Budget, tokens").fill("3000")
        page.get_by_role("searchbox", name="Is this sentence in the context, and why?").fill(SENTENCE)
        page.get_by_text("Yes, it is in the context.").wait_for()
        page.get_by_text("of 3,000 tokens").wait_for()
        if name == "phone":
            page.get_by_role("img").scroll_into_view_if_needed()
        page.screenshot(path=pictures / f"console-laboratory-{name}.png")
        console.show("Conversation")
        page.get_by_text("10 messages").wait_for()
        if name != "phone":
            console.messages.get_by_role("option").filter(has_text="calls opening_hours").click()
        page.screenshot(path=pictures / f"console-conversation-{name}.png")
    assert len(list(pictures.glob(f"console-*-{name}.png"))) == 2
