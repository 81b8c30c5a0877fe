"""The tools that a model gets only if the operator allows them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp import MCPError

from memsidecar.cli.command import UsageError
from memsidecar.cli.mcp_options import OPERATOR_TOOLS as NAMES
from memsidecar.cli.mcp_options import mcp_options
from memsidecar.mcp_server.operator_tools import OPERATOR_TOOLS
from memsidecar.mcp_server.tool import MAX_RESULT_BYTES
from memsidecar.settings.client import ALLOWED_TOOLS_VARIABLE, client_environment
from tests.mcp.desktop import Desktop, desktop, mcp_flags
from tests.support.process import SidecarProcess

TEXT = "a long report " * 100


@pytest.fixture
def operator(sidecar: SidecarProcess, tmp_path: Path) -> Iterator[Desktop]:
    allowed = {ALLOWED_TOOLS_VARIABLE: "forget_user, export_memory"}
    flags = ("--address", sidecar.address, "--session-id", "monday", "--namespace", tmp_path.name)
    with desktop(tmp_path, *flags, **allowed) as one:
        yield one


def test_the_command_line_knows_the_names_of_the_tools() -> None:
    assert tuple(tool.name for tool in OPERATOR_TOOLS) == NAMES


def test_only_what_is_allowed_is_listed_and_can_be_called(sidecar: SidecarProcess, tmp_path: Path) -> None:
    with desktop(tmp_path, "--address", sidecar.address, "--allow-tool", "export_memory") as one:
        assert "export_memory" in one.tools and "forget_user" not in one.tools
        with pytest.raises(MCPError, match="no tool 'forget_user'"):
            one.call("forget_user", {})


def test_an_unknown_name_in_the_environment_is_refused() -> None:
    environment = client_environment({ALLOWED_TOOLS_VARIABLE: "export_memory, forget"})
    with pytest.raises(UsageError, match="no tool 'forget' to allow"):
        mcp_options(mcp_flags("mcp"), environment)


def test_a_memory_is_exported_page_by_page_and_forgotten(operator: Desktop) -> None:
    operator.use("add_messages", messages=[{"role": "user", "content": f"{at} {TEXT}"} for at in range(20)])
    operator.use("remember_facts", facts=[{"type": "user_profile", "key": "city", "value": "Oslo"}])
    page = operator.use("export_memory")
    records = list(page["records"])
    assert page["cursor"], "twenty messages do not fit into one page"
    while page["cursor"]:
        assert len(str(page["records"])) < 2 * MAX_RESULT_BYTES
        page = operator.use("export_memory", cursor=page["cursor"])
        records += page["records"]
    contents = [record["message"]["content"] for record in records if "message" in record]
    assert contents == [f"{at} {TEXT}" for at in range(20)]
    assert [record["fact"]["value"] for record in records if "fact" in record] == ["Oslo"]

    counts = operator.use("forget_user")
    assert (counts["dry_run"], counts["messages"], counts["facts"]) == (True, 20, 1)
    assert operator.use("export_memory")["records"], "a dry run erases nothing"
    assert operator.read("forget_user", dry_run=False).startswith("Erased for good: sessions: 1, messages: 20")
    assert operator.use("export_memory") == {"records": [], "cursor": ""}


def test_a_record_that_exceeds_a_result_is_named(operator: Desktop) -> None:
    operator.use(
        "add_messages", messages=[{"role": "user", "content": TEXT * 40}, {"role": "user", "content": "short"}]
    )
    page = operator.use("export_memory")
    large, small = [record for record in page["records"] if "message" in record]
    assert large["message"].keys() == {"id"} and "memsidecar export" in large["left_out"]
    assert small["message"]["content"] == "short" and len(str(page)) < 2 * MAX_RESULT_BYTES
