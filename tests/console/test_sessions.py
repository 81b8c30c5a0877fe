"""Sessions, conversations and knowledge as the console shows them, and live updates."""

import re
import socket
from pathlib import Path
from typing import Any

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import session_pb2 as session
from tests.console.browser import ConsolePage, console_page
from tests.console.conversations import (
    HOSTILE_SESSION,
    HOSTILE_TEXTS,
    LARGE_COUNT,
    LARGE_SESSION,
    LINE_CHARACTERS,
    SESSION,
    USER,
)
from tests.http.http_client import HTTP
from tests.support.process import CALL_SECONDS, Client, SidecarProcess

MAX_ROWS = 60
"Rows in the document, whatever the length of a conversation."
MORE_THAN_A_PAGE = 201
MANY_USERS = 230
"More than a page of users."


def test_users_lead_to_their_sessions(console: ConsolePage) -> None:
    page = console.page
    page.get_by_role("button", name="Users").click()
    page.get_by_role("listbox", name="Users").get_by_role("option").filter(has_text=USER).click()
    page.get_by_role("listbox", name="Sessions").get_by_role("option").filter(has_text=SESSION).wait_for()
    page.get_by_role("searchbox", name="Search sessions and users").fill("no such id")
    page.get_by_text("No id contains this.").wait_for()
    page.get_by_role("searchbox", name="Search sessions and users").fill("")
    page.get_by_role("button", name="All sessions").click()
    page.get_by_role("listbox", name="Sessions").get_by_role("option").filter(has_text=LARGE_SESSION).wait_for()


def test_users_are_read_by_prefix_and_page_by_page(console: ConsolePage, stored_client: Client) -> None:
    """These users have facts and no session."""
    for number in range(MANY_USERS):
        fact = knowledge.Fact(type=knowledge.FACT_TYPE_USER_PROFILE, key="number", value=str(number))
        request = knowledge.PutFactsRequest(user_id=f"reader {number:03}", facts=[fact])
        stored_client.knowledge.PutFacts(request, timeout=CALL_SECONDS)
    page = console.page
    page.get_by_role("button", name="Users").click()
    page.get_by_role("searchbox", name="Search sessions and users").fill("reader")
    users = page.get_by_role("listbox", name="Users")
    users.get_by_role("option").filter(has_text="0 sessions").first.wait_for()
    page.get_by_text("200 users").wait_for()
    page.get_by_role("button", name="load more").click()
    page.get_by_text(f"{MANY_USERS} users").wait_for()
    users.press("End")
    users.get_by_role("option").filter(has_text=f"reader {MANY_USERS - 1}").wait_for()
    assert users.get_by_role("option").count() <= MAX_ROWS
    page.get_by_role("searchbox", name="Search sessions and users").fill("reader 03")
    page.get_by_text("10 users").wait_for()
    users.press("Home")
    users.press("Enter")
    page.get_by_text("This user has no session.").wait_for()


def test_a_forgotten_user_leaves_the_list(console: ConsolePage, stored_client: Client) -> None:
    page = console.page
    page.get_by_text("live", exact=True).wait_for()
    page.get_by_role("button", name="Users").click()
    stored_client.add("of a guest", "hello", user_id="guest")
    option = page.get_by_role("listbox", name="Users").get_by_role("option").filter(has_text="guest")
    option.filter(has_text="1 session").wait_for()
    stored_client.sessions.ForgetUser(session.ForgetUserRequest(user_id="guest"), timeout=CALL_SECONDS)
    option.wait_for(state="detached")


def test_usage_is_shown_against_the_quota(browser: Any, data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP, "--quota-messages", "20") as sidecar, sidecar.client() as client:
        for number in range(5):
            client.add("s", f"message {number}", user_id=USER)
        with console_page(browser, sidecar.ready["http_listen"]) as console:
            console.open()
            console.show("Usage")
            stored = console.page.get_by_role("list", name="Stored").get_by_role("listitem")
            stored.filter(has_text="5 of 20, 25 %").wait_for()
            assert console.page.get_by_role("meter", name="Share of the quota").count() == 1
            assert stored.filter(has_text="no limit").count() == 2
            client.add("s", "message 5", user_id=USER)
            stored.filter(has_text="6 of 20, 30 %").wait_for()


def test_a_tool_call_leads_to_its_result_and_back(console: ConsolePage) -> None:
    console.open_session(SESSION)
    console.messages.get_by_role("option").filter(has_text="calls opening_hours").click()
    console.page.get_by_role("region", name="Arguments").get_by_text('"Monday"').wait_for()
    console.page.get_by_role("button", name="Go to its result").click()
    console.page.get_by_role("region", name="Content").get_by_text("Gulbenkian: open").wait_for()
    console.page.get_by_role("button", name="Go to its call").click()
    console.page.get_by_role("region", name="Arguments").wait_for()


def test_facts_have_their_history_and_documents_their_chunks(console: ConsolePage) -> None:
    page = console.page
    console.open_session(SESSION)
    console.show("Facts")
    card = page.get_by_role("listitem").filter(has_text="location: Lisbon").first
    card.get_by_text("1 earlier value").click()
    card.get_by_text("Porto").wait_for()
    console.show("Documents")
    page.get_by_text("Museum guide").wait_for()
    page.get_by_role("searchbox", name="Search in documents").fill("Is the tile museum closed?")
    page.get_by_role("list", name="Chunks found").get_by_text("closed on Mondays").first.wait_for()
    console.show("Patterns")
    page.get_by_role("heading", name=f"Patterns of {USER}").wait_for()
    console.show("Usage")
    page.get_by_role("list", name="Stored").get_by_role("listitem").filter(has_text="no limit").first.wait_for()
    windows = page.get_by_role("list", name="Windows").get_by_role("listitem")
    windows.filter(has_text=SESSION).get_by_text("no budget").wait_for()
    console.check(SESSION, USER, "guide")


def test_facts_of_another_user_leave_with_the_name(console: ConsolePage) -> None:
    page = console.page
    console.open_session(SESSION)
    console.show("Facts")
    page.get_by_text("location: Lisbon").wait_for()
    page.get_by_role("searchbox", name="Search sessions and users").fill(LARGE_SESSION)
    other = page.get_by_role("listbox", name="Sessions").get_by_role("option").filter(has_text=LARGE_SESSION)
    other.wait_for()
    page.route("**/ListFacts", lambda route: route.abort())
    other.click()
    page.get_by_role("heading", name="Facts about ben").wait_for()
    assert page.get_by_text("location: Lisbon").count() == 0


def test_ten_thousand_messages_scroll(quick_console: ConsolePage, capsys: Any) -> None:
    console = quick_console
    page, rows = console.page, console.messages.get_by_role("option")
    page.get_by_role("searchbox", name="Search sessions and users").fill(LARGE_SESSION)
    row = page.get_by_role("listbox", name="Sessions").get_by_role("option").first
    row.wait_for()
    page.evaluate("performance.mark('open')")
    row.click()
    rows.filter(has_text=f"Message number {LARGE_COUNT},").wait_for()
    newest = page.evaluate("performance.measure('newest', 'open').duration")
    page.get_by_text(re.compile(rf"^\s*{LARGE_COUNT:,} messages$")).wait_for()
    complete = page.evaluate("performance.measure('complete', 'open').duration")
    console.messages.press("Home")
    rows.filter(has_text="Message number 1,").wait_for()
    for share in (0.2, 0.5, 0.8):
        console.messages.evaluate(f"box => {{ box.scrollTop = {share} * box.scrollHeight }}")
        rows.filter(has_text=re.compile(rf"Message number {int(share * LARGE_COUNT / 100)}\d\d,")).first.wait_for()
        assert rows.count() <= MAX_ROWS
    console.messages.press("End")
    rows.filter(has_text=f"Message number {LARGE_COUNT},").wait_for()
    painted = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
    with capsys.disabled():
        print(
            f"\nfirst paint {painted:.0f} ms; newest of {LARGE_COUNT:,} messages after {newest:.0f} ms, "
            f"all of them after {complete:.0f} ms"
        )


def test_hostile_content_is_shown_as_text(console: ConsolePage) -> None:
    page = console.page
    console.open_session(HOSTILE_SESSION)
    for text in HOSTILE_TEXTS:
        start = re.split(r"[\u200b\u202e]", text)[0]
        console.messages.get_by_role("option").filter(has_text=start).click()
        shown = page.get_by_role("region", name="Content")
        shown.get_by_text(start).wait_for()
        assert re.sub(r"U\+20[0-9A-F]{2}", "", shown.inner_text()) == re.sub(r"[\u200b-\u202e]", "", text)
    page.get_by_text("U+202E").first.wait_for()
    console.messages.get_by_role("option").filter(has_text="<i>x</i>").click()
    page.get_by_role("button", name="more characters").click()
    assert len(page.get_by_role("region", name="Content").inner_text()) > LINE_CHARACTERS / 10
    for view in ("Context laboratory", "Facts", "Usage", "Conversation"):
        console.show(view)
        page.get_by_role("heading").first.wait_for()
    page.get_by_role("heading", name=HOSTILE_SESSION).wait_for()
    assert page.title() == "Conversation – memsidecar"
    assert page.locator("main script, main img[src], main i, main u").count() == 0


def test_what_happens_is_shown_at_once(console: ConsolePage, stored_client: Client) -> None:
    page = console.page
    page.get_by_text("live", exact=True).wait_for()
    stored_client.add("live-session", "The first message of the day", user_id="eva")
    console.open_session("live-session")
    console.messages.get_by_text("The first message of the day").wait_for()
    erased = stored_client.add("live-session", "A message that came later", user_id="eva")
    console.messages.get_by_text("A message that came later").wait_for()
    forget = session.ForgetMessageRequest(session_id="live-session", message_id=erased.message_id)
    stored_client.sessions.ForgetMessage(forget, timeout=CALL_SECONDS)
    console.messages.get_by_text("A message that came later").wait_for(state="detached")


def test_the_console_continues_after_a_restart(browser: Any, data_dir: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with SidecarProcess(data_dir, "--http-listen", address) as sidecar, console_page(browser, address) as console:
        with sidecar.client() as client:
            client.add("s", "before the restart")
        console.open()
        console.open_session("s")
        console.page.get_by_text("live", exact=True).wait_for()
        sidecar.kill()
        console.page.get_by_text("not connected, trying again").wait_for()
        console.show("Usage")
        console.page.get_by_role("alert").first.wait_for()
        sidecar.start()
        console.page.get_by_role("list", name="Stored").get_by_role("listitem").filter(
            has_text="no limit"
        ).first.wait_for()
        console.page.get_by_role("alert").first.wait_for(state="detached")
        console.show("Conversation")
        with sidecar.client() as client:
            client.add("s", "after the restart")
        console.messages.get_by_text("after the restart").wait_for()


def test_a_page_that_cannot_be_read_is_not_asked_for_again_and_again(browser: Any, data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP) as sidecar, sidecar.client() as client:
        for number in range(MORE_THAN_A_PAGE):
            client.add(f"session {number}", "hello")
        with console_page(browser, sidecar.ready["http_listen"]) as console:
            console.open()
            console.page.get_by_text("200 sessions").wait_for()
            before = console.called.count("ListSessions")
            console.page.route("**/ListSessions", lambda route: route.abort())
            console.page.get_by_role("searchbox", name="Search sessions and users").fill("session 0")
            console.page.get_by_role("alert").wait_for()
            for _ in range(20):
                console.page.evaluate("new Promise(requestAnimationFrame)")
            assert console.called.count("ListSessions") == before + 1


def test_a_conversation_that_cannot_be_read_is_one_error(console: ConsolePage) -> None:
    for rpc in ("GetRecent", "GetSession"):
        console.page.route(f"**/{rpc}", lambda route: route.abort())
    console.page.get_by_role("searchbox", name="Search sessions and users").fill(SESSION)
    console.page.get_by_role("listbox", name="Sessions").get_by_role("option").first.click()
    console.page.get_by_text("The sidecar does not answer").first.wait_for()


def test_a_reload_keeps_the_place_and_the_url_has_no_id(console: ConsolePage) -> None:
    console.open_session(SESSION)
    console.page.reload()
    console.page.get_by_role("heading", name=SESSION, exact=True).wait_for()
    assert console.page.url.endswith("/#/conversation")
    console.show("Facts")
    console.page.go_back()
    console.page.get_by_role("heading", name=SESSION, exact=True).wait_for()
