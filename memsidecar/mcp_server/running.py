"""`memsidecar mcp` at work: it answers until its standard input ends, or until it is told to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
from argparse import Namespace
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from memsidecar import logs
from memsidecar.cli.caller import WrongCall
from memsidecar.cli.mcp import McpPlan, mcp_plan
from memsidecar.cli.parser import installed_version
from memsidecar.mcp_server.memory import opened
from memsidecar.mcp_server.serving import Serving
from memsidecar.settings.client import client_environment

WRONG_USAGE = 2

log = logging.getLogger(__name__)


def run_mcp(arguments: Namespace) -> int:
    """The exit code. Standard output is the protocol's; what is wrong is said on standard error."""
    try:
        plan = mcp_plan(arguments, client_environment())
    except WrongCall as error:
        print(f"memsidecar mcp: {error}", file=sys.stderr)
        return WRONG_USAGE
    logs.configure("text", "info")
    # The SDK's own lines may repeat what it was sent; what fails is told by us.
    logging.getLogger("mcp").setLevel(logging.CRITICAL)
    asyncio.run(_run(plan))
    return 0


async def _run(plan: McpPlan) -> None:
    stopping = _on_signals()
    async with opened(plan) as memory:
        logs.event(log, logging.INFO, "serving", target=plan.call.target, namespace=memory.namespace)
        keeping = asyncio.create_task(memory.keep())
        answering = asyncio.create_task(_answer(Serving(memory, installed_version()).server()))
        told = asyncio.create_task(stopping.wait())
        await asyncio.wait({answering, told}, return_when=asyncio.FIRST_COMPLETED)
        for task in (keeping, told):
            task.cancel()
    if not answering.done():
        # A thread of the SDK sits in a read of standard input, which nothing but its end would end.
        os._exit(0)
    await answering


async def _answer(server: Server[Any]) -> None:
    try:
        async with stdio_server() as (received, sent):
            await server.run(received, sent, server.create_initialization_options())
    except* BrokenPipeError:
        # Whoever asked is gone, and does not read what was still to be said.
        log.info("standard output was closed")


def _on_signals() -> asyncio.Event:
    stopping = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stopping.set)
    return stopping
