"""A real Chromium, and pages of it that record what they request and what goes wrong in them."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

CHROMIUM = Path(os.environ.get("CHROMIUM") or "/usr/bin/chromium")
WAIT_SECONDS = 60
"Time in which the page must show what a test waits for. No promise about speed."
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}
LATE_FRAMES = """
const soon = setTimeout;
window.requestAnimationFrame = (action) => soon(action, 400);
window.setTimeout = (action, ms = 0) => soon(action, ms < 30 ? ms : Math.max(ms, 400));
"""
"Delays what runs after a frame, as a busy machine does: the page must be right before that."


@contextmanager
def chromium() -> Iterator[Any]:
    """Run the browser. It resolves no name: only the loopback address can be reached."""
    assert CHROMIUM.exists(), f"NOT TESTED: there is no Chromium at {CHROMIUM}; `make setup-console` installs it"
    # Imported by name: only `make test-console` installs it.
    with import_module("playwright.sync_api").sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"]
        )
        yield browser
        browser.close()


@dataclass
class ConsolePage:
    """The console in a tab of its own. `page` is Playwright's."""

    page: Any
    address: str
    requests: list[Any] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    def note_request(self, request: Any) -> None:
        self.requests.append(request)

    def note_message(self, message: Any) -> None:
        """Keep errors, among them violations of the Content-Security-Policy, except refused calls."""
        is_refusal = message.text.startswith("Failed to load resource")
        if message.type == "error" and not is_refusal:
            self.problems.append(message.text)

    def open(self) -> None:
        self.page.goto(f"http://{self.address}/")

    def enter(self, token: str, namespace: str = "") -> None:
        """Fill in the form for the token."""
        self.page.get_by_label("Token").fill(token)
        self.page.get_by_label("Namespace").fill(namespace)
        self.page.get_by_role("button", name="Open").click()

    def open_session(self, session_id: str) -> None:
        """Choose a session in the list."""
        self.page.get_by_role("searchbox", name="Search sessions and users").fill(session_id)
        self.page.get_by_role("listbox", name="Sessions").get_by_role("option").first.click()
        self.page.get_by_role("heading", name=session_id, exact=True).wait_for()

    def show(self, view: str) -> None:
        self.page.get_by_role("navigation").get_by_role("link", name=view).click()

    @property
    def messages(self) -> Any:
        return self.page.get_by_role("listbox", name="Messages")

    @property
    def called(self) -> list[str]:
        """The RPCs that the page has called."""
        paths = [urlsplit(request.url).path for request in self.requests]
        return [path.rpartition("/")[2] for path in paths if path.startswith("/memsidecar.")]

    def check(self, *secrets: str) -> None:
        """Fail if anything went wrong, another host was asked, or a URL has more than the name of a file or an RPC."""
        assert not self.problems, self.problems
        for request in self.requests:
            url = urlsplit(request.url)
            assert url.scheme == "data" or (url.netloc == self.address and not url.query), request.url
            assert not any(secret in request.url for secret in secrets)
        assert urlsplit(self.page.url).query == "" and not any(secret in self.page.url for secret in secrets)


@contextmanager
def console_page(browser: Any, address: str, late_frames: bool = True, **options: Any) -> Iterator[ConsolePage]:
    """Open a tab that shares nothing with others, and check at the end that it met no problem."""
    context = browser.new_context(**{"viewport": DESKTOP, "locale": "en", "timezone_id": "UTC", **options})
    context.set_default_timeout(WAIT_SECONDS * 1000)
    if late_frames:
        context.add_init_script(LATE_FRAMES)
    console = ConsolePage(context.new_page(), address)
    # Playwright needs handlers that are methods in Python, not those of a list.
    console.page.on("request", console.note_request)
    console.page.on("pageerror", lambda error: console.problems.append(str(error)))
    console.page.on("console", console.note_message)
    try:
        yield console
        console.check()
    finally:
        context.close()
