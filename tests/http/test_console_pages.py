"""The files of the console as they are served, and rules for their sources. Browsers are in tests/console."""

import re
from pathlib import Path

import pytest

import memsidecar
from memsidecar.http.console_pages import console_pages
from tests.http.http_client import HttpClient

FOLDER = Path(memsidecar.__file__).parent / "console"
MODULES = sorted(FOLDER.glob("*.js"))
MAX_MODULE_LINES = 300
PATHS = sorted(console_pages())


def test_the_index_is_served_under_a_strict_policy(http: HttpClient) -> None:
    answer = http.get("/")
    assert answer.status == 200 and answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(part.split(" ", 1) for part in answer.headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["referrer-policy"] == "no-referrer"
    assert answer.headers["cross-origin-opener-policy"] == "same-origin"


@pytest.mark.parametrize("path", PATHS)
def test_a_file_that_a_browser_has_is_not_sent_again(http: HttpClient, path: str) -> None:
    first = http.get(path)
    assert first.status == 200 and first.headers["cache-control"] == "no-cache" and first.body
    again = http.get(path, If_None_Match=f'"other", {first.headers["etag"]}')
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    assert http.get(path, If_None_Match='"other"').body == first.body


@pytest.mark.parametrize("path", ["/console/", "/console/../rpc.js", "/console/%2e%2e/py.typed", "/console/nothing.js"])
def test_nothing_else_is_served(http: HttpClient, path: str) -> None:
    assert http.get(path).status == 404


def test_requests_of_foreign_pages_do_not_get_the_console(http: HttpClient) -> None:
    assert http.get("/", Host="evil.example").status == 403


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_a_module_is_short_and_names_no_other_host(module: Path) -> None:
    text = module.read_text()
    assert text.count("\n") <= MAX_MODULE_LINES
    assert "://" not in text
    # Stored text must stay text: nothing here parses markup, or evaluates a string.
    assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|dangerously", text)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.name)
def test_every_imported_module_is_served(module: Path) -> None:
    for target in re.findall(r'^import .*?from "(.*?)";$', module.read_text(), flags=re.MULTILINE | re.DOTALL):
        assert f"/console/{target.removeprefix('./')}" in PATHS


def test_every_file_of_the_index_is_served() -> None:
    named = re.findall(r'(?:href|src)="(console/.*?)"', (FOLDER / "index.html").read_text())
    assert len(named) > 3 and {f"/{name}" for name in named} <= set(PATHS)
