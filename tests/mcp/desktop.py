"""A desktop program: the MCP client of the official SDK, with `memsidecar mcp` as its child process."""

import os
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import anyio
import jsonschema  # type: ignore[import-untyped]
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent, Tool

from memsidecar.cli.mcp_options import McpFlags, mcp_command
from tests.support.canaries import check_log
from tests.support.waiting import HANG_SECONDS

USER = "ana"
PROGRAM = (sys.executable, "-m", "memsidecar", "mcp")
# What a desktop program hands on, and a sidecar of our own that does not take seconds to load its index.
QUICK = {"MEMSIDECAR_INDEX": "off"}


def mcp_flags(*arguments: str) -> McpFlags:
    """Return the flags of a command line that begins with `mcp`, without running it."""
    parsed: list[McpFlags] = []

    def keep(flags: McpFlags) -> int:
        parsed.append(flags)
        return 0

    mcp_command(keep).main(arguments[1:], standalone_mode=False)
    return parsed[0]


@dataclass(frozen=True)
class Desktop:
    """Calls tools as a model would, and validates every result against the listed schema."""

    portal: BlockingPortal
    client: Client
    tools: dict[str, Tool]
    log_path: Path
    pid: int

    def call(self, tool: str, arguments: Mapping[str, Any]) -> CallToolResult:
        result: CallToolResult = self.portal.call(self._call, tool, dict(arguments))
        return result

    def use(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the structured result of a call that must succeed."""
        return self.checked(tool, self.call(tool, arguments))

    def read(self, tool: str, **arguments: Any) -> str:
        """Return the text of a call that must succeed."""
        result = self.call(tool, arguments)
        self.checked(tool, result)
        return text_of(result)

    def refusal(self, tool: str, **arguments: Any) -> str:
        """Return the text of a call that must fail."""
        result = self.call(tool, arguments)
        text = text_of(result)
        assert result.is_error, text
        assert "Traceback" not in text and "What to do: " in text
        return text

    def checked(self, tool: str, result: CallToolResult) -> dict[str, Any]:
        assert not result.is_error, text_of(result)
        answer = cast(dict[str, Any], result.structured_content)
        jsonschema.validate(answer, cast(dict[str, Any], self.tools[tool].output_schema))
        return answer

    def use_at_once(self, calls: list[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
        results = self.portal.call(self._call_at_once, calls)
        return [self.checked(tool, result) for (tool, _), result in zip(calls, results, strict=True)]

    def give_up(self, tool: str, after: Callable[[], None], **arguments: Any) -> None:
        """Start a call, and cancel it as soon as `after` returns."""
        self.portal.call(self._give_up, tool, after, arguments)

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")

    async def _call(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        with anyio.fail_after(HANG_SECONDS):
            return await self.client.call_tool(tool, arguments)

    async def _call_at_once(self, calls: list[tuple[str, dict[str, Any]]]) -> list[CallToolResult]:
        results: dict[int, CallToolResult] = {}

        async def call(at: int, tool: str, arguments: dict[str, Any]) -> None:
            results[at] = await self._call(tool, arguments)

        async with anyio.create_task_group() as group:
            for at, (tool, arguments) in enumerate(calls):
                group.start_soon(call, at, tool, arguments)
        return [results[at] for at in range(len(calls))]

    async def _give_up(self, tool: str, after: Callable[[], None], arguments: dict[str, Any]) -> None:
        async with anyio.create_task_group() as group:
            group.start_soon(self._call, tool, arguments)
            await anyio.to_thread.run_sync(after)
            group.cancel_scope.cancel()


@contextmanager
def desktop(folder: Path, *flags: str, **variables: str) -> Iterator[Desktop]:
    """Start a desktop program; at its end, check its log for content and errors."""
    with start_blocking_portal() as portal:
        opening = _open(portal, folder, flags, variables)
        with portal.wrap_async_context_manager(opening) as one:
            yield one


@asynccontextmanager
async def _open(
    portal: BlockingPortal, folder: Path, flags: tuple[str, ...], variables: Mapping[str, str]
) -> AsyncIterator[Desktop]:
    at = time.monotonic_ns()
    log_path, pid_path = folder / f"desktop-{at}.log", folder / f"desktop-{at}.pid"
    # The SDK does not tell whom it started, so the program does.
    command = ("-c", 'echo $$ > "$0"; exec "$@"', str(pid_path), *PROGRAM, "--user-id", USER, *flags)
    parameters = StdioServerParameters(command="sh", args=list(command), env={**QUICK, **variables})
    with log_path.open("w") as log:
        transport = stdio_client(parameters, errlog=log)
        async with Client(transport, read_timeout_seconds=HANG_SECONDS) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            yield Desktop(portal, client, tools, log_path, int(pid_path.read_text()))
    log_text = log_path.read_text(errors="replace")
    check_log(log_text, str(log_path))
    assert "Traceback" not in log_text


def text_of(result: CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text
