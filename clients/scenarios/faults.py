"""Lose answers: faults.py LANGUAGE ... [--cuts 500] [--seed N] [-- COMMAND ...]

A proxy lets a request pass and breaks the connection before its answer comes, one to three times in a row; the client
must get its answer all the same, and what it wrote must be there once. The last lines count the cuts of each language.
"""

import argparse
import random
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from conductor.contract import packed_request, plain_answer, plain_item
from conductor.driver import Driver, DriverFailed
from conductor.drivers import UnknownLanguage, driver_commands
from conductor.fixtures import Fixtures
from conductor.proxy import Proxy

AT_ONCE = 20
MOST_IN_A_ROW = 3
CALL_SECONDS = 60
FIXTURE = "plain"


@dataclass
class Writer:
    """One client behind one proxy, and what it was told is stored."""

    driver: Driver
    address: str
    chance: random.Random
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    written: list[str] = field(default_factory=list)
    cuts: int = 0
    calls: int = 0
    stored_before: int = 0
    "Calls whose answer said that the message was there already: the lost ones had done their work."

    def write_until(self, cuts: int) -> None:
        """Answers are lost so often, at least."""
        proxy = Proxy(self.address)
        self._tell("open", address=proxy.address)
        try:
            while self.cuts < cuts:
                proxy.lose_answers = self.chance.randint(1, MOST_IN_A_ROW)
                self.cuts += proxy.lose_answers
                self._write(len(self.written))
                if proxy.lose_answers:
                    raise DriverFailed("an answer came, though it was to be lost")
        finally:
            self._tell("close")
            proxy.close()

    def _write(self, number: int) -> None:
        first, second = f"{number}", f"{number} again"
        ways: list[tuple[str, dict[str, Any], list[str]]] = [
            ("Add", {"message": _said(first)}, [first]),
            ("AddBatch", {"messages": [_said(first), _said(second)]}, [first, second]),
            ("StoreInteraction", {"user_message": first, "assistant_message": second}, [first, second]),
        ]
        rpc, body, texts = self.chance.choice(ways)
        answer = plain_answer(rpc, self._call(rpc, body))
        self.calls += 1
        self.stored_before += all(result["duplicate"] for result in answer.get("results", [answer]))
        self.written += texts

    def found(self) -> list[str]:
        """All that is stored, without a proxy."""
        self._tell("open", address=self.address)
        try:
            request = packed_request("GetAll", {"session_id": self.session})
            answer = self._tell("iterate", rpc="GetAll", request=request)
        finally:
            self._tell("close")
        return [plain_item("GetAll", item)["content"] for item in answer["items"]]

    def _call(self, rpc: str, body: dict[str, Any]) -> str:
        request = packed_request(rpc, {"session_id": self.session, **body})
        answer: str = self._tell("call", rpc=rpc, request=request, deadline_seconds=CALL_SECONDS)["answer"]
        return answer

    def _tell(self, what: str, **fields: Any) -> dict[str, Any]:
        answer = self.driver.tell(do=what, client=self.session, **fields)
        if "error" in answer or "refused" in answer:
            raise DriverFailed(f"{what} {fields.get('rpc', '')} failed: {answer}")
        return answer


def problems(language: str, writers: list[Writer]) -> Iterator[str]:
    for writer in writers:
        found = writer.found()
        if found != writer.written:
            lost = set(writer.written) - set(found)
            doubled = {text for text in found if found.count(text) > 1}
            yield f"{language}: lost {sorted(lost)}, doubled {sorted(doubled)}, or not in order: {found}"
        if writer.stored_before != writer.calls:
            yield f"{language}: {writer.calls} answers were lost, and {writer.stored_before} had been given"


def play(language: str, command: list[str], address: str, cuts: int, seed: int) -> bool:
    """True where nothing was lost and nothing doubled."""
    driver = Driver(command, {})
    writers = [Writer(driver, address, random.Random(seed + number)) for number in range(AT_ONCE)]
    share = -(-cuts // AT_ONCE)
    try:
        with ThreadPoolExecutor(AT_ONCE) as together:
            list(together.map(lambda writer: writer.write_until(share), writers))
        found = list(problems(language, writers))
    except DriverFailed as failed:
        found = [f"{language}: {failed}"]
    finally:
        driver.end()
    for problem in found:
        print(problem, flush=True)
    print(f"{language}: {told(writers)}: {'FAILED' if found else 'none lost, none doubled'}", flush=True)
    return not found


def told(writers: list[Writer]) -> str:
    cuts, stored_before = (sum(getattr(one, name) for one in writers) for name in ("cuts", "stored_before"))
    messages = sum(len(one.written) for one in writers)
    return f"{cuts} answers lost on the way, {messages} messages, {stored_before} calls found theirs stored"


def main() -> int:
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(usage="faults.py LANGUAGE ... [--cuts 500] [--seed N] [-- COMMAND ...]")
    parser.add_argument("languages", nargs="+")
    parser.add_argument("--cuts", type=int, default=500, help="How many answers are lost, at least. Default: 500.")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="To do the same again.")
    arguments = parser.parse_args(sys.argv[1:at])
    try:
        commands = driver_commands(arguments.languages, sys.argv[at + 1 :])
    except UnknownLanguage as unknown:
        parser.error(str(unknown))
    print(f"seed {arguments.seed}", flush=True)
    with Fixtures() as fixtures, ThreadPoolExecutor(len(commands)) as together:
        address = fixtures.shared(FIXTURE).address
        plays = [
            together.submit(play, language, command, address, arguments.cuts, arguments.seed)
            for language, command in commands.items()
        ]
        return 0 if all(one.result() for one in plays) else 1


def _said(text: str) -> dict[str, str]:
    return {"role": "ROLE_USER", "content": text}


if __name__ == "__main__":
    sys.exit(main())
