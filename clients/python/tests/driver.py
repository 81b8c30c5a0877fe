"""Driver of the scenario runner for the Python client: driver.py [--async].

Reads commands and writes results as JSON lines; see clients/scenarios/README.md.
"""

import asyncio
import json
import sys
import threading
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

from memsidecar_client import AsyncClient, Client, MemsidecarError
from memsidecar_client.errors import Cancelled, Unimplemented
from requests_by_name import METHODS, keywords_of, request_of

Command = dict[str, Any]
OPTIONS = {"address", "token", "token_file", "tls", "ca_file", "certificate_file", "key_file", "attempts"}
OPTIONS |= {"allow_token_in_clear"}


def main() -> None:
    if "--async" in sys.argv:
        asyncio.run(run_async())
    else:
        run()


def options_of(command: Command) -> dict[str, Any]:
    options = {name: command[name] for name in OPTIONS & command.keys()}
    return options | ({"timeout": command["deadline_seconds"]} if "deadline_seconds" in command else {})


def told(error: MemsidecarError) -> Command:
    return {
        "code": error.code.name,
        "reason": error.reason,
        "field": error.field,
        "metadata": dict(error.metadata),
        "retry_after_seconds": error.retry_after,
        "kind": _kind(error),
        "message": error.message,
    }


def _kind(error: MemsidecarError) -> str:
    """Return the error's kind as the scenarios name it. Two classes have another name than their kind."""
    if isinstance(error, Cancelled):
        return "Cancelled"
    return "NotImplemented" if isinstance(error, Unimplemented) else type(error).__name__


def say(number: int, answer: Command) -> None:
    """Writes the line with one call, because other threads write too."""
    sys.stdout.write(json.dumps({"id": number, **answer}) + "\n")
    sys.stdout.flush()


def packed(message: Any) -> str:
    return b64encode(message.SerializeToString()).decode()


# -- the client for threads


def run() -> None:
    clients: dict[str, Client] = {}
    speaking = threading.Lock()

    def answer(command: Command) -> None:
        result = DOINGS[command["do"]](clients, command)
        with speaking:
            say(command["id"], result)

    for line in sys.stdin:
        threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()


def open_client(clients: dict[str, Client], command: Command) -> Command:
    try:
        clients[command["client"]] = Client(**options_of(command))
    except (ValueError, OSError) as error:
        return {"refused": str(error)}
    return {}


def close_client(clients: dict[str, Client], command: Command) -> Command:
    clients.pop(command["client"]).close()
    return {}


def ready(clients: dict[str, Client], command: Command) -> Command:
    try:
        clients[command["client"]].wait_until_ready(command["timeout_seconds"])
    except MemsidecarError as error:
        return {"error": told(error)}
    return {}


def call(clients: dict[str, Client], command: Command) -> Command:
    """Cancel by closing the client: a waiting thread cannot be cancelled."""
    client, rpc = clients[command["client"]], command["rpc"]
    if (seconds := command.get("cancel_after_seconds")) is not None:
        threading.Timer(seconds, client.close).start()
    keywords = keywords_of(rpc, b64decode(command["request"]))
    try:
        answer = getattr(client, METHODS[rpc].name)(**keywords, timeout=command.get("deadline_seconds"))
    except MemsidecarError as error:
        return {"error": told(error)}
    return {"answer": packed(answer)}


def iterate(clients: dict[str, Client], command: Command) -> Command:
    rpc = command["rpc"]
    keywords = keywords_of(rpc, b64decode(command["request"]))
    keywords.pop("page_token")
    pages = getattr(clients[command["client"]], METHODS[rpc].pages)(**keywords, timeout=command.get("deadline_seconds"))
    return collected("items", pages, command)


def stream(clients: dict[str, Client], command: Command) -> Command:
    client, rpc, timeout = clients[command["client"]], command["rpc"], command.get("deadline_seconds")
    if METHODS[rpc].sends_many:
        answers = getattr(client, METHODS[rpc].name)(paced(command), timeout=timeout)
    else:
        answers = getattr(client, METHODS[rpc].name)(
            **keywords_of(rpc, b64decode(command["requests"][0])), timeout=timeout
        )
    return collected("answers", answers, command)


def paced(command: Command) -> Iterator[Any]:
    pause = threading.Event()
    for number, request in enumerate(command["requests"]):
        if number:
            pause.wait(command.get("pause_seconds", 0))
        yield request_of(command["rpc"], b64decode(request))


def collected(name: str, answers: Iterator[Any], command: Command) -> Command:
    """Collect responses until an error."""
    found: list[str] = []
    try:
        for response in answers:
            found.append(packed(response))
            if len(found) == command.get("stop_after"):
                break
    except MemsidecarError as error:
        return {name: found, "error": told(error)}
    return {name: found}


DOINGS: dict[str, Callable[[dict[str, Client], Command], Command]] = {
    "open": open_client,
    "close": close_client,
    "ready": ready,
    "call": call,
    "iterate": iterate,
    "stream": stream,
}


# -- the client for asyncio


async def run_async() -> None:
    clients: dict[str, AsyncClient] = {}
    loop, under_way = asyncio.get_running_loop(), set[asyncio.Task[None]]()

    async def answer(command: Command) -> None:
        say(command["id"], await ASYNC_DOINGS[command["do"]](clients, command))

    while line := await loop.run_in_executor(None, sys.stdin.readline):
        task = asyncio.create_task(answer(json.loads(line)))
        under_way.add(task)
        task.add_done_callback(under_way.discard)


async def open_async(clients: dict[str, AsyncClient], command: Command) -> Command:
    try:
        clients[command["client"]] = AsyncClient(**options_of(command))
    except (ValueError, OSError) as error:
        return {"refused": str(error)}
    return {}


async def close_async(clients: dict[str, AsyncClient], command: Command) -> Command:
    await clients.pop(command["client"]).close()
    return {}


async def ready_async(clients: dict[str, AsyncClient], command: Command) -> Command:
    try:
        await clients[command["client"]].wait_until_ready(command["timeout_seconds"])
    except MemsidecarError as error:
        return {"error": told(error)}
    return {}


async def call_async(clients: dict[str, AsyncClient], command: Command) -> Command:
    rpc = command["rpc"]
    keywords = keywords_of(rpc, b64decode(command["request"]))
    client = clients[command["client"]]
    calling = asyncio.ensure_future(
        getattr(client, METHODS[rpc].name)(**keywords, timeout=command.get("deadline_seconds"))
    )
    if (seconds := command.get("cancel_after_seconds")) is not None:
        asyncio.get_running_loop().call_later(seconds, calling.cancel)
    try:
        return {"answer": packed(await calling)}
    except MemsidecarError as error:
        return {"error": told(error)}
    except asyncio.CancelledError:
        return {"error": {"code": "CANCELLED", "reason": "", "kind": "Cancelled"}}


async def iterate_async(clients: dict[str, AsyncClient], command: Command) -> Command:
    rpc = command["rpc"]
    keywords = keywords_of(rpc, b64decode(command["request"]))
    keywords.pop("page_token")
    pages = getattr(clients[command["client"]], METHODS[rpc].pages)(**keywords, timeout=command.get("deadline_seconds"))
    return await collected_async("items", pages, command)


async def stream_async(clients: dict[str, AsyncClient], command: Command) -> Command:
    client, rpc, timeout = clients[command["client"]], command["rpc"], command.get("deadline_seconds")
    if METHODS[rpc].sends_many:
        answers = getattr(client, METHODS[rpc].name)(paced_async(command), timeout=timeout)
    else:
        answers = getattr(client, METHODS[rpc].name)(
            **keywords_of(rpc, b64decode(command["requests"][0])), timeout=timeout
        )
    return await collected_async("answers", answers, command)


async def paced_async(command: Command) -> AsyncIterator[Any]:
    for number, request in enumerate(command["requests"]):
        if number:
            await asyncio.sleep(command.get("pause_seconds", 0))
        yield request_of(command["rpc"], b64decode(request))


async def collected_async(name: str, answers: AsyncIterator[Any], command: Command) -> Command:
    found: list[str] = []
    try:
        async for response in answers:
            found.append(packed(response))
            if len(found) == command.get("stop_after"):
                break
    except MemsidecarError as error:
        return {name: found, "error": told(error)}
    return {name: found}


ASYNC_DOINGS: dict[str, Callable[[dict[str, AsyncClient], Command], Awaitable[Command]]] = {
    "open": open_async,
    "close": close_async,
    "ready": ready_async,
    "call": call_async,
    "iterate": iterate_async,
    "stream": stream_async,
}

if __name__ == "__main__":
    main()
