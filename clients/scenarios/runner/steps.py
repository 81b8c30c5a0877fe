"""Runs the steps of a scenario, with one handler for each kind of step."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from runner.contract import decode_item, decode_response, encode_request
from runner.matchers import Mismatch, match
from runner.scenario_context import ClientRefused, ScenarioContext
from runner.variables import lookup, substitute

POLL_SECONDS = 0.2
AFTER_MESSAGES_SECONDS = 30
UNBOUNDED = 1_000_000
MAX_PARALLEL = 64


class StepRunner:
    """Runs steps in a context. Raises Mismatch if a result is not as expected."""

    def __init__(self, context: ScenarioContext) -> None:
        self._context = context
        self.called: set[str] = set()

    def run(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        """Run a step with its repetitions. Saved values go into `variables`."""
        self._wait(step, variables)
        if times := step.get("until_it_fails"):
            self._until_it_fails(step, variables, times)
        else:
            for at in range(1, step.get("repeat", 1) + 1):
                variables["i"] = at
                self._run_until_expected(step, variables)

    def _wait(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        """Wait for the step's start condition: a time, or messages that a concurrent step stores."""
        time.sleep(step.get("after_seconds", 0))
        if messages := step.get("after_messages"):
            stored = {"call": "Count", "expect": {"stats": {"message_count": {"$range": [messages, UNBOUNDED]}}}}
            self._eventually(stored, variables, AFTER_MESSAGES_SECONDS)

    def _run_until_expected(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        if seconds := step.get("eventually_seconds"):
            self._eventually(step, variables, seconds)
        else:
            self._run_once(step, variables)

    def _until_it_fails(self, step: dict[str, Any], variables: dict[str, Any], times: int) -> None:
        plain = {key: value for key, value in step.items() if key not in ("fails", "until_it_fails")}
        for at in range(1, times + 1):
            variables["i"] = at
            try:
                self._run_once(plain, variables)
            except CallFailed as failed:
                match(_expected_error(step["fails"], variables), failed.error, "error")
                return
        raise Mismatch(f"the call should have failed, and succeeded {times} times")

    def _eventually(self, step: dict[str, Any], variables: dict[str, Any], seconds: float) -> None:
        end = time.monotonic() + seconds
        while True:
            try:
                self._run_once(step, variables)
                return
            except Mismatch as problem:
                # A call that should fail may succeed for a while. Once it fails, the error must be the expected one.
                wrong_error = "fails" in step and not isinstance(problem, DidNotFail)
                if wrong_error or time.monotonic() > end:
                    raise
            time.sleep(POLL_SECONDS)

    def _run_once(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        kind = next(name for name in STEP_HANDLERS if name in step)
        started_at = time.monotonic()
        STEP_HANDLERS[kind](self, step, variables)
        if limits := step.get("takes_seconds"):
            match({"$range": limits}, round(time.monotonic() - started_at, 3), "seconds")

    def _call(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        rpc, request = step["call"], self._request(step.get("with", {}), variables)
        answer = self._execute(step, "call", rpc, request=encode_request(rpc, request))
        if self._check_error(step, answer, variables):
            return
        self._compare(step, decode_response(rpc, answer["answer"]), variables)

    def _stream(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        rpc = step["stream"]
        requests = [
            encode_request(rpc, self._request(request, variables))
            for request in substitute(step["requests"], variables)
        ]
        answer = self._execute(step, "stream", rpc, requests=requests)
        self._check_error(step, answer, variables)
        if "answers" in step:
            responses = [decode_response(rpc, response) for response in answer["answers"]]
            match(substitute(step["answers"], variables), responses, "answers")
            _save(step, responses, variables)

    def _iterate(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        rpc, request = step["iterate"], self._request(step.get("with", {}), variables)
        answer = self._execute(step, "iterate", rpc, request=encode_request(rpc, request))
        if not self._check_error(step, answer, variables):
            items = [decode_item(rpc, item) for item in answer["items"]]
            match(substitute(step["items"], variables), items, "items")

    def _execute(self, step: dict[str, Any], do: str, rpc: str, **command: Any) -> dict[str, Any]:
        self.called.add(rpc)
        options = ("deadline_seconds", "cancel_after_seconds", "pause_seconds", "stop_after")
        command |= {name: step[name] for name in options if name in step}
        return self._context.driver.execute(do=do, client=self._context.client(step), rpc=rpc, **command)

    def _request(self, given: Any, variables: dict[str, Any]) -> Any:
        return substitute({**self._context.scenario.get("defaults", {}), **given}, variables)

    def _check_error(self, step: dict[str, Any], answer: dict[str, Any], variables: dict[str, Any]) -> bool:
        """Return whether the call failed as expected. Raises Mismatch if it differs from the expectation."""
        if "error" in answer and "fails" not in step:
            raise CallFailed(answer["error"])
        if "fails" not in step:
            return False
        if "error" not in answer:
            raise DidNotFail("the call should have failed, and did not")
        match(_expected_error(step["fails"], variables), answer["error"], "error")
        return True

    def _compare(self, step: dict[str, Any], answer: Any, variables: dict[str, Any]) -> None:
        match(substitute(step.get("expect", {}), variables), answer)
        _save(step, answer, variables)

    def _concurrently(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        """Run several steps at once, each with its own copy of the variables. Saved values are merged at the end."""
        runs = [(inner, at) for inner in step["concurrently"] for at in range(1, inner.get("repeat", 1) + 1)]
        copies = [{**variables, "i": at} for _, at in runs]
        self._context.client({})
        with ThreadPoolExecutor(MAX_PARALLEL) as pool:
            futures = [
                pool.submit(self._run_repetition, {**inner, "repeat": 1}, copy, at)
                for (inner, at), copy in zip(runs, copies, strict=True)
            ]
        for future, copy in zip(futures, copies, strict=True):
            future.result()
            variables |= copy

    def _run_repetition(self, step: dict[str, Any], variables: dict[str, Any], at: int) -> None:
        variables["i"] = at
        self._wait(step, variables)
        self._run_until_expected(step, variables)

    def _in_order(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        for inner in step["in_order"]:
            self.run(inner, variables)

    def _sidecar(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        process = self._context.sidecar.process
        if process is None or not self._context.scenario.get("dedicated"):
            raise Mismatch("only a scenario with a `dedicated` sidecar may control it")
        given = [substitute(step["text"], variables)] if "text" in step else []
        getattr(process, step["sidecar"])(*given)

    def _access(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        access = self._context.sidecar.access
        if access is None or not self._context.scenario.get("dedicated"):
            raise Mismatch("only a scenario with a `dedicated` sidecar may change its access file")
        for name, rights in step["access"].get("add", {}).items():
            access.add(name, rights)
        for name in step["access"].get("remove", []):
            access.remove(name)
        variables["tokens"] = access.tokens

    def _proxy(self, step: dict[str, Any], _variables: dict[str, Any]) -> None:
        proxy = self._context.proxy
        assert proxy is not None, "the scenario is not behind a proxy"
        for name, value in step["proxy"].items():
            if name == "cut":
                proxy.cut()
            else:
                setattr(proxy, name, value)

    def _relay(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        assert self._context.relay is not None, "the scenario is not behind a relay"
        self._context.relay.add_rule(substitute(step["relay"], variables))

    def _recorded(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        assert self._context.relay is not None, "the scenario is not behind a relay"
        calls = [call for call in self._context.relay.recorded if call["rpc"] in step.get("of", call["rpc"])]
        match(substitute(step["recorded"], variables), calls, "recorded calls")

    def _open(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        given = substitute(step["open"], variables)
        try:
            self._context.open(given.pop("name"), given)
        except ClientRefused as refused:
            if "refused" not in step:
                raise
            match(substitute(step["refused"], variables), str(refused), "refusal")
        else:
            if "refused" in step:
                raise Mismatch("the client should not have been opened, and was")

    def _close(self, step: dict[str, Any], _variables: dict[str, Any]) -> None:
        self._context.close_client(step["close"])

    def _ready(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        answer = self._context.driver.execute(
            do="ready", client=self._context.client(step), timeout_seconds=step["wait_until_ready_seconds"]
        )
        self._check_error(step, answer, variables)

    def _write(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        given = substitute(step["write_file"], variables)
        fresh = Path(given["path"] + ".new")
        fresh.write_text(given["text"])
        fresh.replace(given["path"])

    def _set(self, step: dict[str, Any], variables: dict[str, Any]) -> None:
        variables |= substitute(step["set"], variables)


class DidNotFail(Mismatch):
    """A call succeeded that should have failed."""


class CallFailed(Mismatch):
    """A call failed that should not have."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(f"the call failed: {error}")
        self.error = error


# The drivers' names for errors of gRPC itself, which have no reason.
_KINDS_BY_CODE = {
    "UNAVAILABLE": "Unreachable",
    "DEADLINE_EXCEEDED": "DeadlineExceeded",
    "CANCELLED": "Cancelled",
    "RESOURCE_EXHAUSTED": "TooLarge",
}


def _save(step: dict[str, Any], answer: Any, variables: dict[str, Any]) -> None:
    for name, path in step.get("save", {}).items():
        variables[name] = lookup(answer, path)


def _expected_error(expected: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
    """Return the expected error with the kind that belongs to its reason, or to its code without a reason."""
    error: dict[str, Any] = substitute(expected, variables)
    if reason := error.get("reason"):
        return {"kind": reason.title().replace("_", ""), **error}
    if isinstance(error["code"], str) and error["code"] in _KINDS_BY_CODE:
        return {"kind": _KINDS_BY_CODE[error["code"]], "reason": "", **error}
    return error


STEP_HANDLERS: dict[str, Callable[[StepRunner, dict[str, Any], dict[str, Any]], None]] = {
    "call": StepRunner._call,
    "stream": StepRunner._stream,
    "iterate": StepRunner._iterate,
    "concurrently": StepRunner._concurrently,
    "in_order": StepRunner._in_order,
    "sidecar": StepRunner._sidecar,
    "access": StepRunner._access,
    "proxy": StepRunner._proxy,
    "relay": StepRunner._relay,
    "recorded": StepRunner._recorded,
    "open": StepRunner._open,
    "close": StepRunner._close,
    "wait_until_ready_seconds": StepRunner._ready,
    "write_file": StepRunner._write,
    "set": StepRunner._set,
}
