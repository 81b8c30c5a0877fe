"""Tokens and roles in the console: a wrong token shows nothing, and only the role admin can erase."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from memsidecar.access.policy import AccessRole
from tests.access.access_files import Grant, secret_token, write_access_file
from tests.console.browser import ConsolePage, console_page
from tests.http.http_client import HTTP, HttpClient
from tests.support.process import SidecarProcess

NAMESPACE, SESSION, TEXT = "clinic", "visit", "a private sentence of the tenant"
READING_CALLS = {
    *(
        "ListSessions",
        "GetSession",
        "ListUsers",
        "GetUsage",
        "Watch",
        "GetAll",
        "GetRecent",
        "GetSummary",
        "ListArtifacts",
        "ListFacts",
    ),
    *("ListDocuments", "GetPatterns", "BuildContext", "Search", "SearchDocuments"),
}
ROLE_CHECK = "ForgetUser"
VIEWS = ("Context laboratory", "Facts", "Patterns", "Documents", "Usage", "Conversation")
GRANTS = {role: Grant(role.name.lower(), (NAMESPACE,), role) for role in AccessRole}


@pytest.fixture(scope="module")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    folder = tmp_path_factory.mktemp("access")
    file = write_access_file(folder / "access.toml", GRANTS.values())
    with SidecarProcess(folder / "data", *HTTP, "--access-file", str(file)) as running:
        for number in range(3):
            _call(running, "MemoryService/Add", message={"id": f"m{number}", "role": "ROLE_USER", "content": TEXT})
        yield running


@pytest.fixture
def closed(browser: Any, clinic: SidecarProcess) -> Iterator[ConsolePage]:
    """The console before a token is given."""
    with console_page(browser, clinic.ready["http_listen"]) as opened:
        opened.open()
        opened.page.get_by_text("This sidecar needs a token").wait_for()
        yield opened


def _call(sidecar: SidecarProcess, rpc: str, **fields: Any) -> Any:
    """Call an RPC as the administrator."""
    body = json.dumps({"namespace": NAMESPACE, "user_id": "pat", "session_id": SESSION, **fields}).encode()
    headers = {"Content_Type": "application/json", "Authorization": f"Bearer {GRANTS[AccessRole.ADMIN].text}"}
    with HttpClient(sidecar.ready["http_listen"]) as http:
        answer = http.send("POST", f"/memsidecar.v1.{rpc}", body, **headers)
    assert answer.status == 200, answer.body
    return answer.json()


def test_a_wrong_token_shows_nothing(closed: ConsolePage) -> None:
    closed.enter(secret_token().text, NAMESPACE)
    closed.page.get_by_role("alert").get_by_text("does not know this token").wait_for()
    assert set(closed.called) == {"ListSessions"}
    text = closed.page.locator("body").inner_text()
    assert SESSION not in text and TEXT not in text
    assert closed.page.get_by_role("listbox").count() == 0


def test_a_token_of_another_namespace_shows_nothing(closed: ConsolePage) -> None:
    closed.enter(GRANTS[AccessRole.ADMIN].text, "other")
    closed.page.get_by_role("alert").get_by_text("no access to this namespace").wait_for()
    assert closed.page.get_by_role("listbox").count() == 0


@pytest.mark.parametrize("role", [AccessRole.READ, AccessRole.WRITE])
def test_a_lower_role_shows_everything_and_changes_nothing(
    closed: ConsolePage, clinic: SidecarProcess, role: AccessRole
) -> None:
    before = _call(clinic, "MemoryService/GetAll")
    page, token = closed.page, GRANTS[role].text
    closed.enter(token, NAMESPACE)
    closed.open_session(SESSION)
    closed.messages.get_by_role("option").filter(has_text=TEXT).first.click()
    page.get_by_role("region", name="Content").get_by_text(TEXT).wait_for()
    for view in VIEWS:
        closed.show(view)
        page.get_by_role("heading").first.wait_for()
        assert page.get_by_role("button", name="Forget").count() == 0
    page.get_by_text("read only").wait_for()
    assert set(closed.called) <= READING_CALLS | {ROLE_CHECK}
    checks = [request.post_data_json for request in closed.requests if request.url.endswith(ROLE_CHECK)]
    assert checks == [{"namespace": NAMESPACE, "dryRun": True}]
    assert _call(clinic, "MemoryService/GetAll") == before
    closed.check(token, TEXT, SESSION, NAMESPACE)
    assert not page.evaluate("Object.keys(localStorage).some(key => localStorage[key].includes('mem'))")


def test_the_token_is_forgotten_on_leaving(closed: ConsolePage) -> None:
    closed.enter(GRANTS[AccessRole.READ].text, NAMESPACE)
    closed.open_session(SESSION)
    closed.page.get_by_role("button", name="Leave").click()
    closed.page.get_by_label("Token").wait_for()
    assert closed.page.evaluate("sessionStorage.length") == 0
    assert SESSION not in str(closed.page.evaluate("history.state"))
    assert closed.page.get_by_role("listbox").count() == 0


def test_an_administrator_forgets_a_message_after_a_dry_run(closed: ConsolePage, clinic: SidecarProcess) -> None:
    page = closed.page
    closed.enter(GRANTS[AccessRole.ADMIN].text, NAMESPACE)
    closed.open_session(SESSION)
    closed.messages.get_by_role("option").first.click()
    page.get_by_role("button", name="Forget this message").click()
    dialog = page.get_by_role("dialog", name="Forget this message?")
    dialog.get_by_text("1 message").wait_for()
    dialog.get_by_role("button", name="Cancel").click()
    assert len(_call(clinic, "MemoryService/GetAll")["messages"]) == 3
    page.get_by_role("button", name="Forget this message").click()
    dialog.get_by_role("button", name="Erase for good").click()
    dialog.wait_for(state="detached")
    assert len(_call(clinic, "MemoryService/GetAll")["messages"]) == 2
