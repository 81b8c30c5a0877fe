"""Tool results of internal errors and of long texts."""

import asyncio
import logging
from dataclasses import replace
from typing import Any, NoReturn, cast

import pytest
from mcp_types import CallToolRequestParams

from memsidecar.mcp_server.server import TOOLS, ToolServer
from memsidecar.mcp_server.sidecar_client import SidecarClient
from memsidecar.mcp_server.tool import take_fitting, truncate
from tests.mcp.desktop import text_of
from tests.support.canaries import CANARY


async def fail(_memory: SidecarClient, _arguments: Any) -> NoReturn:
    raise KeyError(CANARY)


def test_an_internal_error_is_reported_without_details_and_logged_with_its_position(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(TOOLS, "list_facts", replace(TOOLS["list_facts"], run=fail))
    serving = ToolServer(cast(SidecarClient, None), "1", TOOLS)
    with caplog.at_level(logging.INFO):
        result = asyncio.run(serving._call_tool(None, CallToolRequestParams(name="list_facts", arguments={})))
    assert result.is_error and text_of(result).startswith("INTERNAL: ") and CANARY not in text_of(result)
    logged = str([record.__dict__ for record in caplog.records])
    assert "KeyError" in logged and "fail" in logged and CANARY not in logged


@pytest.mark.parametrize("letter", ["a", "é", "猫", "👩"])
def test_a_text_is_truncated_between_characters_with_the_number_of_missing_ones(letter: str) -> None:
    text = letter * 100
    kept, _, missing = truncate(text, 50).partition(" [... ")
    assert text.startswith(kept) and 46 < len(kept.encode()) <= 50
    assert missing == f"{100 - len(kept)} more characters]"
    assert truncate(text, len(text.encode())) == text


def test_results_are_limited_to_what_fits() -> None:
    assert take_fitting(["ab", "cd", "e", "f"], str, max_bytes=4) == ["ab", "cd"]
    assert take_fitting(["abcde", "f"], str, max_bytes=4) == []
