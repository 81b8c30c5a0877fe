"""What each kind of step does."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from conductor.contract import packed_request, plain_answer, plain_item
from conductor.matching import Mismatch, match
from conductor.stage import ClientRefused, Stage
from conductor.values import filled, looked_up

LOOK_EVERY_SECONDS = 0.2
TURN_COMES_WITHIN_SECONDS = 30
ANY_NUMBER = 1_000_000
AT_ONCE = 64


class Steps:
    """Plays steps on a stage. Raises Mismatch where something is not as expected."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self.called: set[str] = set()

    def play(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        """With its repetitions. What it saves goes into `variables`."""
        self._wait(step, variables)
        if times := step.get("until_it_fails"):
            self._until_it_fails(step, variables, times)
        else:
            for at in range(1, step.get("repeat", 1) + 1):
                variables["i"] = at
                self._patiently(step, variables)

    def _wait(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        """Until it is its turn: for what another step did, where the clock would only guess when that is."""
        time.sleep(step.get("after_seconds", 0))
        if messages := step.get("after_messages"):
            stored = {"call": "Count", "expect": {"stats": {"message_count": {"$range": [messages, ANY_NUMBER]}}}}
            self._eventually(stored, variables, TURN_COMES_WITHIN_SECONDS)

    def _patiently(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        if seconds := step.get("eventually_seconds"):
            self._eventually(step, variables, seconds)
        else:
            self._once(step, variables)

    def _until_it_fails(self, step: dict[str, Any], variables: dict[str, Any], times: int) -> None:
        plain = {key: value for key, value in step.items() if key not in ("fails", "until_it_fails")}
        for at in range(1, times + 1):
            variables["i"] = at
            try:
                self._once(plain, variables)
            except Failed as failed:
                match(_failure(step["fails"], variables), failed.error, "error")
                return
        raise Mismatch(f"it should have failed, and did not in {times} times")

    def _eventually(self, step: dict[str, Any], variables: dict[str, Any], seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            try:
                self._once(step, variables)
                return
            except Mismatch as problem:
                # What should fail may work until it is time; but where it fails, it has to fail as expected.
                wrong = "fails" in step and not isinstance(problem, DidNotFail)
                if wrong or time.monotonic() > end:
                    raise
            time.sleep(LOOK_EVERY_SECONDS)

    def _once(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        kind = next(name for name in KINDS if name in step)
        begin = time.monotonic()
        KINDS[kind](self, step, variables)
        if limits := step.get("takes_seconds"):
            match({"$range": limits}, round(time.monotonic() - begin, 3), "seconds")

    def _call(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        rpc, request = step["call"], self._request(step.get("with", {}), variables)
        answer = self._tell(step, "call", rpc, request=packed_request(rpc, request))
        if self._failed_as_expected(step, answer, variables):
            return
        self._compare(step, plain_answer(rpc, answer["answer"]), variables)

    def _stream(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        rpc = step["stream"]
        requests = [packed_request(rpc, self._request(one, variables)) for one in filled(step["requests"], variables)]
        answer = self._tell(step, "stream", rpc, requests=requests)
        self._failed_as_expected(step, answer, variables)
        if "answers" in step:
            match(filled(step["answers"], variables), [plain_answer(rpc, one) for one in answer["answers"]], "answers")

    def _iterate(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        rpc, request = step["iterate"], self._request(step.get("with", {}), variables)
        answer = self._tell(step, "iterate", rpc, request=packed_request(rpc, request))
        if not self._failed_as_expected(step, answer, variables):
            items = [plain_item(rpc, one) for one in answer["items"]]
            match(filled(step["items"], variables), items, "items")

    def _tell(self, step: dict[str, Any], do: str, rpc: str, **command: Any) -> dict[str, Any]:
        self.called.add(rpc)
        options = ("deadline_seconds", "cancel_after_seconds", "pause_seconds", "stop_after")
        command |= {name: step[name] for name in options if name in step}
        return self._stage.driver.tell(do=do, client=self._stage.client(step), rpc=rpc, **command)

    def _request(self, given: Any, variables: dict[str, Any]) -> Any:
        return filled({**self._stage.scenario.get("defaults", {}), **given}, variables)

    def _failed_as_expected(self, step: dict[str, Any], answer: dict[str, Any], variables: dict[str, Any]) -> bool:
        """Whether it failed. Raises where it should not have, or should have, or differently."""
        if "error" in answer and "fails" not in step:
            raise Failed(answer["error"])
        if "fails" not in step:
            return False
        if "error" not in answer:
            raise DidNotFail("the call should have failed, and did not")
        match(_failure(step["fails"], variables), answer["error"], "error")
        return True

    def _compare(self, step: dict[str, Any], answer: Any, variables: dict[str, Any]) -> None:
        match(filled(step.get("expect", {}), variables), answer)
        for name, path in step.get("save", {}).items():
            variables[name] = looked_up(answer, path)

    def _concurrently(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        """All of them at once, each with variables of its own; what they save is there when all have ended."""
        parts = [(one, at) for one in step["concurrently"] for at in range(1, one.get("repeat", 1) + 1)]
        copies = [{**variables, "i": at} for _, at in parts]
        self._stage.client({})
        with ThreadPoolExecutor(AT_ONCE) as pool:
            playing = [
                pool.submit(self._alone, {**one, "repeat": 1}, copy, at)
                for (one, at), copy in zip(parts, copies, strict=True)
            ]
        for played, copy in zip(playing, copies, strict=True):
            played.result()
            variables |= copy

    def _alone(self, step: dict[str, Any], variables: dict[str, Any], at: int) -> None:
        variables["i"] = at
        self._wait(step, variables)
        self._patiently(step, variables)

    def _sidecar(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        process = self._stage.sidecar.process
        if process is None or not self._stage.scenario.get("alone"):
            raise Mismatch("only a scenario that is `alone` may do something to its sidecar")
        given = [filled(step["text"], variables)] if "text" in step else []
        getattr(process, step["sidecar"])(*given)

    def _access(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        access = self._stage.sidecar.access
        if access is None or not self._stage.scenario.get("alone"):
            raise Mismatch("only a scenario that is `alone` may change who may enter its sidecar")
        for name, rights in step["access"].get("add", {}).items():
            access.add(name, rights)
        for name in step["access"].get("remove", []):
            access.remove(name)
        variables["tokens"] = access.tokens

    def _proxy(self, step: dict[str, Any], _variables: dict[str, Any]) -> None:
        proxy = self._stage.proxy
        assert proxy is not None, "the scenario is not behind a proxy"
        for name, value in step["proxy"].items():
            if name == "cut":
                proxy.cut()
            else:
                setattr(proxy, name, value)

    def _relay(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        assert self._stage.relay is not None, "the scenario is not behind a relay"
        self._stage.relay.answer(filled(step["relay"], variables))

    def _saw(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        assert self._stage.relay is not None, "the scenario is not behind a relay"
        seen = [one for one in self._stage.relay.seen if one["rpc"] in step.get("of", one["rpc"])]
        match(filled(step["saw"], variables), seen, "calls that the relay saw")

    def _open(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        given = filled(step["open"], variables)
        try:
            self._stage.open(given.pop("name"), given)
        except ClientRefused as refused:
            if "refused" not in step:
                raise
            match(filled(step["refused"], variables), str(refused), "refusal")
        else:
            if "refused" in step:
                raise Mismatch("the client should not have been opened, and was")

    def _close(self, step: dict[str, Any], _variables: dict[str, Any]) -> None:
        self._stage.close_client(step["close"])

    def _ready(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        answer = self._stage.driver.tell(
            do="ready", client=self._stage.client(step), timeout_seconds=step["wait_until_ready_seconds"]
        )
        self._failed_as_expected(step, answer, variables)

    def _write(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        given = filled(step["write_file"], variables)
        fresh = Path(given["path"] + ".new")
        fresh.write_text(given["text"])
        fresh.replace(given["path"])

    def _set(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        variables |= filled(step["set"], variables)


class DidNotFail(Mismatch):
    """A call was answered that should have failed."""


class Failed(Mismatch):
    """A call failed that should not have."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"the call failed: {error}")
        self.error = error


# What gRPC says itself has no reason; drivers name it like this.
_KINDS_OF_CODES = {
    "UNAVAILABLE": "Unreachable",
    "DEADLINE_EXCEEDED": "DeadlineExceeded",
    "CANCELLED": "Cancelled",
    "RESOURCE_EXHAUSTED": "TooLarge",
}


def _failure(expected: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
    """As expected, and of the kind that belongs to the reason, or to the code where there is none."""
    named: dict[str, Any] = filled(expected, variables)
    if reason := named.get("reason"):
        named = {"kind": reason.title().replace("_", ""), **named}
    elif named["code"] in _KINDS_OF_CODES:
        named = {"kind": _KINDS_OF_CODES[named["code"]], "reason": "", **named}
    return named


KINDS: dict[str, Callable[[Steps, dict[str, Any], dict[str, Any]], None]] = {
    "call": Steps._call,
    "stream": Steps._stream,
    "iterate": Steps._iterate,
    "concurrently": Steps._concurrently,
    "sidecar": Steps._sidecar,
    "access": Steps._access,
    "proxy": Steps._proxy,
    "relay": Steps._relay,
    "saw": Steps._saw,
    "open": Steps._open,
    "close": Steps._close,
    "wait_until_ready_seconds": Steps._ready,
    "write_file": Steps._write,
    "set": Steps._set,
}
