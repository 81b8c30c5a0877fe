"""Lose responses: faults.py VARIANT ... [--losses 150] [--seed N] [-- COMMAND ...]

A proxy forwards a request and breaks the connection before the response arrives, one to three times in a row. The
client must still get a response, and each message must be stored exactly once. The last lines count the lost responses
of each variant.
"""

import argparse
import random
import sys
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from runner.contract import decode_item, decode_response, encode_request
from runner.driver import Driver, DriverFailed
from runner.fixtures import Fixtures
from runner.proxy import Proxy
from runner.variants import UnknownVariant, driver_commands

MAX_PARALLEL = 20
MAX_CONSECUTIVE = 3
CALL_SECONDS = 60
FIXTURE = "plain"


@dataclass
class Writer:
    """One client behind one proxy, and the messages that the sidecar acknowledged."""

    driver: Driver
    address: str
    random: random.Random
    session: str = field(default_factory=lambda: uuid.uuid4().hex)
    written: list[str] = field(default_factory=list)
    losses: int = 0
    calls: int = 0
    duplicates: int = 0
    "Calls whose response reports a duplicate: a lost attempt had stored the message."

    def write_until(self, losses: int) -> None:
        """Write until at least `losses` responses are lost."""
        proxy = Proxy(self.address)
        self._execute("open", address=proxy.address)
        try:
            while self.losses < losses:
                proxy.lose_responses = self.random.randint(1, MAX_CONSECUTIVE)
                self.losses += proxy.lose_responses
                self._write(len(self.written))
                if proxy.lose_responses:
                    raise DriverFailed("a response arrived that the proxy should have lost")
        finally:
            self._execute("close")
            proxy.close()

    def _write(self, number: int) -> None:
        first, second = f"{number}", f"{number} again"
        requests: list[tuple[str, dict[str, Any], list[str]]] = [
            ("Add", {"message": _message(first)}, [first]),
            ("AddBatch", {"messages": [_message(first), _message(second)]}, [first, second]),
            ("StoreInteraction", {"user_message": first, "assistant_message": second}, [first, second]),
        ]
        rpc, body, texts = self.random.choice(requests)
        answer = decode_response(rpc, self._call(rpc, body))
        self.calls += 1
        self.duplicates += all(result["duplicate"] for result in answer.get("results", [answer]))
        self.written += texts

    def stored(self) -> list[str]:
        """Return all stored messages, read without the proxy."""
        self._execute("open", address=self.address)
        try:
            request = encode_request("GetAll", {"session_id": self.session})
            answer = self._execute("iterate", rpc="GetAll", request=request)
        finally:
            self._execute("close")
        return [decode_item("GetAll", item)["content"] for item in answer["items"]]

    def _call(self, rpc: str, body: dict[str, Any]) -> str:
        request = encode_request(rpc, {"session_id": self.session, **body})
        answer: str = self._execute("call", rpc=rpc, request=request, deadline_seconds=CALL_SECONDS)["answer"]
        return answer

    def _execute(self, do: str, **fields: Any) -> dict[str, Any]:
        answer = self.driver.execute(do=do, client=self.session, **fields)
        if "error" in answer or "refused" in answer:
            raise DriverFailed(f"{do} {fields.get('rpc', '')} failed: {answer}")
        return answer


def problems(variant: str, writers: list[Writer]) -> Iterator[str]:
    for writer in writers:
        stored = writer.stored()
        if stored != writer.written:
            missing = set(writer.written) - set(stored)
            duplicated = {text for text in stored if stored.count(text) > 1}
            yield f"{variant}: missing {sorted(missing)}, duplicated {sorted(duplicated)}, or out of order: {stored}"
        if writer.duplicates != writer.calls:
            yield f"{variant}: {writer.calls} responses were lost, but only {writer.duplicates} retries were duplicates"


def run_variant(variant: str, command: list[str], address: str, losses: int, seed: int) -> bool:
    """Return whether every message is stored exactly once."""
    driver = Driver(command, {})
    writers = [Writer(driver, address, random.Random(seed + number)) for number in range(MAX_PARALLEL)]
    share = -(-losses // MAX_PARALLEL)
    try:
        with ThreadPoolExecutor(MAX_PARALLEL) as pool:
            list(pool.map(lambda writer: writer.write_until(share), writers))
        found = list(problems(variant, writers))
    except DriverFailed as failed:
        found = [f"{variant}: {failed}"]
    finally:
        driver.stop()
    for problem in found:
        print(problem, flush=True)
    print(f"{variant}: {summary(writers)}: {'FAILED' if found else 'none missing, none duplicated'}", flush=True)
    return not found


def summary(writers: list[Writer]) -> str:
    losses, duplicates = (sum(getattr(writer, name) for writer in writers) for name in ("losses", "duplicates"))
    messages = sum(len(writer.written) for writer in writers)
    return f"{losses} responses lost, {messages} messages, {duplicates} calls reported duplicates"


def main() -> int:
    at = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    parser = argparse.ArgumentParser(usage="faults.py VARIANT ... [--losses 150] [--seed N] [-- COMMAND ...]")
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--losses", type=int, default=150, help="Minimum of lost responses per variant. Default: 150.")
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30), help="Seed, to repeat a run.")
    arguments = parser.parse_args(sys.argv[1:at])
    try:
        commands = driver_commands(arguments.variants, sys.argv[at + 1 :])
    except UnknownVariant as unknown:
        parser.error(str(unknown))
    print(f"seed {arguments.seed}", flush=True)
    with Fixtures() as fixtures, ThreadPoolExecutor(len(commands)) as pool:
        address = fixtures.shared(FIXTURE).address
        runs = [
            pool.submit(run_variant, variant, command, address, arguments.losses, arguments.seed)
            for variant, command in commands.items()
        ]
        passed = [run.result() for run in runs]
        return 0 if all(passed) else 1


def _message(text: str) -> dict[str, str]:
    return {"role": "ROLE_USER", "content": text}


if __name__ == "__main__":
    sys.exit(main())
