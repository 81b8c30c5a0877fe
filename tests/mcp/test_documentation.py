"""docs/mcp.md matches the tools, and its examples run."""

import json
import re
import tempfile
from pathlib import Path

import pytest

from memsidecar.mcp_server.errors import ADVICE
from memsidecar.mcp_server.server import TOOLS
from memsidecar.mcp_server.tool import ADDS, ERASES, READS, REPLACES, SETS, schema_of
from memsidecar.v1.errors_pb2 import ErrorReason
from tests.mcp.desktop import QUICK, mcp_flags
from tests.mcp.processes import is_running, sidecar_pid
from tests.support.waiting import until

PAGE = (Path(__file__).parents[2] / "docs" / "mcp.md").read_text(encoding="utf-8")
EFFECTS = {id(READS): "reads", id(ADDS): "adds", id(SETS): "adds", id(REPLACES): "replaces", id(ERASES): "erases"}


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def table() -> str:
    rows = ["| tool | what it is for | arguments | |", "| --- | --- | --- | --- |"]
    for tool in TOOLS.values():
        schema = schema_of(tool.arguments)
        names = [f"`{name}`" if name in schema.get("required", ()) else f"[`{name}`]" for name in schema["properties"]]
        rows.append(f"| `{tool.name}` | {tool.title} | {', '.join(names)} | {EFFECTS[id(tool.hints)]} |")
    return "\n".join(rows)


def test_the_table_of_tools_is_up_to_date() -> None:
    assert f"<!-- tools -->\n{table()}\n<!-- /tools -->" in PAGE, f"put this into docs/mcp.md:\n{table()}"


def test_the_command_line_accepts_every_configuration() -> None:
    for block in blocks("json"):
        for server in json.loads(block)["mcpServers"].values():
            assert mcp_flags(*server["args"]).data_dir == Path("~/.memsidecar").expanduser()


def test_every_reason_has_its_advice() -> None:
    reasons = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()} - {"UNSPECIFIED"}  # noqa: SIM118
    assert reasons <= set(ADVICE)
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", PAGE, re.MULTILINE))
    assert set(ADVICE) - reasons <= documented


def test_the_example_with_the_sdk_prints_the_documented_output(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    [code], [printed, *_] = blocks("python"), blocks("text")
    code = code.replace("StdioServerParameters(", f"StdioServerParameters(env={QUICK}, ")
    with tempfile.TemporaryDirectory() as home:
        monkeypatch.setenv("HOME", home)
        exec(compile(code, "docs/mcp.md", "exec"), {})
        sidecar = sidecar_pid(Path(home) / ".memsidecar")
        until(lambda: not is_running(sidecar))
    assert capfd.readouterr().out == printed
