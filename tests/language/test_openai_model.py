"""The chat client over real HTTP, with valid and invalid responses."""

import json
import logging
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier, Event, Lock

import pytest

from memsidecar.endpoint.config import EndpointConfig
from memsidecar.language.contract import LanguageModel, MalformedAnswer, ModelUnavailable
from memsidecar.language.openai import ModelStats, OpenAIModel, max_answer_bytes
from tests.endpoint import server as serve
from tests.endpoint.clock import Clock, Waits
from tests.endpoint.server import KEY, Behaviour, Handler, Request
from tests.language.model_server import ModelServer, answer_with, completion, has_format, unless, well

SCHEMA = {"type": "object"}
SECRET = "must not be logged"


def asked(model: LanguageModel, schema: object | None = None) -> str:
    return model.complete("Be brief.", SECRET, max_tokens=50, schema=schema)


def test_a_question_is_asked_and_answered(server: ModelServer, model: OpenAIModel) -> None:
    assert asked(model) == "Ada works at Acme."
    (request,) = server.requests
    assert request.path == "/v1/chat/completions" and request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.contents == ("Be brief.", SECRET)
    assert request.body.keys() == {"model", "messages", "temperature", "max_tokens"}
    assert [request.body[name] for name in ("model", "temperature", "max_tokens")] == ["some/model", 0, 50]


def test_a_schema_is_handed_on(server: ModelServer, model: OpenAIModel) -> None:
    asked(model, SCHEMA)
    held = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA}}
    assert server.requests[0].body["response_format"] == held


@pytest.mark.parametrize("code", [400, 422])
def test_a_server_without_response_format_is_asked_without_and_that_is_remembered(
    server: ModelServer, model: OpenAIModel, code: int
) -> None:
    server.always = unless(has_format, well, code)
    assert asked(model, SCHEMA) == asked(model, SCHEMA) == "Ada works at Acme."
    assert [has_format(request) for request in server.requests] == [True, False, False]


def test_a_text_that_is_refused_says_nothing_about_schemas(server: ModelServer, model: OpenAIModel) -> None:
    server.always = unless(lambda request: SECRET in request.contents[1], well)
    with pytest.raises(MalformedAnswer, match="status 400") as caught:
        asked(model, SCHEMA)
    assert SECRET not in repr(caught.value)
    model.complete("", "fine", max_tokens=5, schema=SCHEMA)
    assert has_format(server.requests[-1])


@pytest.mark.parametrize("code", [400, 413, 422])
def test_where_any_text_is_rejected_the_model_is_unavailable(
    server: ModelServer, model: OpenAIModel, code: int
) -> None:
    """As with an unknown model name: the text is not the reason, and a later call may succeed."""
    server.always = serve.status(code)
    with pytest.raises(ModelUnavailable):
        asked(model)


ANSWERS = {
    "": "",
    "NONE": "NONE",
    "<think>Hm, {}.</think>\nYes.": "\nYes.",
    "<think>Hm, and then": "",
    "half a \ud83d pair": "half a ? pair",
}


@pytest.mark.parametrize("text", ANSWERS)
def test_whatever_the_model_says_is_an_answer(server: ModelServer, model: OpenAIModel, text: str) -> None:
    server.always = answer_with(text)
    assert asked(model) == ANSWERS[text]
    assert len(server.requests) == 1


def test_no_content_is_an_empty_answer(server: ModelServer, model: OpenAIModel) -> None:
    server.always = answer_with(None)
    assert asked(model) == ""


def test_a_refusal_in_its_own_field_is_an_answer(server: ModelServer, model: OpenAIModel) -> None:
    message = {"role": "assistant", "content": None, "refusal": "I can't."}
    server.always = serve.content(json.dumps({"choices": [{"message": message}]}).encode())
    assert asked(model) == "I can't."


def test_an_answer_that_was_cut_off_is_text_but_no_json(server: ModelServer, model: OpenAIModel) -> None:
    server.always = answer_with("Ada works at", "length")
    assert asked(model) == "Ada works at"
    with pytest.raises(MalformedAnswer, match="cut off"):
        asked(model, SCHEMA)


def test_half_a_surrogate_pair_does_not_stop_a_question(server: ModelServer, model: OpenAIModel) -> None:
    model.complete("", "\ud83d!", max_tokens=5)
    assert server.requests[0].contents[1] == "?!"


def test_tokens_are_counted_as_reported_or_not_at_all(server: ModelServer, model: OpenAIModel) -> None:
    wrong = [None, {}, {"prompt_tokens": 3}, {"prompt_tokens": -1, "completion_tokens": True}]
    server.script = [well, *(answer_with("x", usage=usage) for usage in wrong), well, serve.status(401)]
    for _ in range(6):
        asked(model)
    with pytest.raises(ModelUnavailable):
        asked(model)
    assert model.stats == ModelStats(6, failures=1, prompt_tokens=22, completion_tokens=14, unreported=4)


def cut_short(handler: Handler, _: Request) -> None:
    handler.answer_half(completion("Ada works at Acme."))


MALFORMED_ANSWERS = {
    "429": serve.status(429),
    "500": serve.status(500, SECRET.encode()),
    "html": serve.content(b"<html>it works</html>"),
    "half a JSON": serve.content(completion("text")[:-5]),
    "a list": serve.content(b"[]"),
    "an error that says it is none": serve.content(b'{"error": {"message": "overloaded"}}'),
    "no choices": serve.content(b'{"choices": []}'),
    "choices of another kind": serve.content(b'{"choices": {"0": {}}}'),
    "a choice of another kind": serve.content(b'{"choices": ["text"]}'),
    "no message": serve.content(b'{"choices": [{"text": "text"}]}'),
    "a message without content": serve.content(b'{"choices": [{"message": {}}]}'),
    "content of another kind": serve.content(b'{"choices": [{"message": {"content": {"a": 1}}}]}'),
    "dropped": cut_short,
    "hung up": serve.hung_up,
    "endless": serve.endless,
}
malformed_answers = pytest.mark.parametrize("malformed", MALFORMED_ANSWERS.values(), ids=MALFORMED_ANSWERS.keys())


@malformed_answers
def test_one_malformed_answer_is_retried(
    server: ModelServer, model: OpenAIModel, waits: Waits, malformed: Behaviour
) -> None:
    server.script = [malformed]
    assert asked(model) == "Ada works at Acme."
    assert waits.seconds == [0.25]


@malformed_answers
def test_repeated_malformed_answers_mean_that_the_model_is_unavailable(
    server: ModelServer, model: OpenAIModel, malformed: Behaviour, caplog: pytest.LogCaptureFixture
) -> None:
    server.always = malformed
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelUnavailable) as caught:
        asked(model)
    assert len(server.requests) == 3
    shown = caplog.text + repr(caught.value) + repr(caught.value.__cause__)
    assert KEY not in shown and SECRET not in shown


@pytest.mark.parametrize("code", [401, 403, 404, 307])
def test_a_wrong_configuration_is_not_retried(
    server: ModelServer, model: OpenAIModel, waits: Waits, code: int, caplog: pytest.LogCaptureFixture
) -> None:
    server.always = serve.status(code, f"{KEY}: {SECRET}".encode())
    with caplog.at_level(logging.DEBUG), pytest.raises(ModelUnavailable, match=str(code)) as caught:
        asked(model)
    assert len(server.requests) == 1 and not waits.seconds
    assert KEY not in caplog.text + repr(caught.value) and SECRET not in caplog.text + repr(caught.value)


def test_retry_after_is_honoured(server: ModelServer, model: OpenAIModel, waits: Waits) -> None:
    server.script = [serve.status(429, Retry_After="2"), serve.status(503, Retry_After="3600")]
    asked(model)
    assert waits.seconds == [2.0, 10.0]


def test_a_closed_port_means_that_the_model_is_unavailable(configured: EndpointConfig) -> None:
    with socket.socket() as bound_but_deaf:
        bound_but_deaf.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound_but_deaf.getsockname()[1]}/v1"
        with pytest.raises(ModelUnavailable, match="NewConnectionError"):
            asked(OpenAIModel("m", replace(configured, url=url)))


def test_a_silent_server_times_out_as_configured(server: ModelServer, configured: EndpointConfig) -> None:
    release = Event()
    server.always = serve.silent_until(release)
    with pytest.raises(ModelUnavailable, match="Timeout"):
        asked(OpenAIModel("m", replace(configured, timeout_seconds=0.05)))
    release.set()


def test_a_response_that_arrives_too_slowly_is_given_up(server: ModelServer, configured: EndpointConfig) -> None:
    server.always = serve.chunked(completion("text"))
    with pytest.raises(ModelUnavailable, match="too long"):
        asked(OpenAIModel("m", replace(configured, clock=Clock(step=6))))


def test_no_more_is_read_than_a_valid_answer_needs(server: ModelServer, model: OpenAIModel) -> None:
    server.script = [serve.endless]
    asked(model)
    on_the_way_bytes = 16 << 20
    assert server.wait_for_hang_up() < max_answer_bytes(50) + on_the_way_bytes


def test_after_repeated_failures_a_model_is_not_asked_for_a_while(
    server: ModelServer, configured: EndpointConfig
) -> None:
    clock = Clock()
    resting = OpenAIModel("m", replace(configured, failures_before_open=3, cool_down_seconds=30, clock=clock))
    server.script = [serve.status(503)] * 3
    for _ in range(2):
        with pytest.raises(ModelUnavailable):
            asked(resting)
    assert len(server.requests) == 3
    clock.now += 31
    assert asked(resting)


def test_no_more_are_asked_at_once_than_configured(server: ModelServer, configured: EndpointConfig) -> None:
    two_at_once, counting, at_once = Barrier(2), Lock(), [0, 0]

    def together(handler: Handler, request: Request) -> None:
        with counting:
            at_once[0] += 1
            at_once[1] = max(at_once)
        two_at_once.wait(20)
        with counting:
            at_once[0] -= 1
        well(handler, request)

    server.always = together
    model = OpenAIModel("m", configured, concurrency=2)
    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(lambda _: asked(model), range(16)))) == 16
    assert at_once == [0, 2]


def test_a_call_without_a_free_slot_in_time_fails_and_may_be_retried(
    server: ModelServer, configured: EndpointConfig
) -> None:
    waiting, release = Event(), Event()

    def wait(_: float) -> None:
        waiting.set()
        release.wait(30)

    patience = replace(configured.retry_policy, attempts=2, sleep=wait)
    model = OpenAIModel("m", replace(configured, timeout_seconds=1.0, retry_policy=patience))
    server.script = [serve.status(503)]
    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(asked, model)
        assert waiting.wait(30)
        with pytest.raises(ModelUnavailable, match="busy"):
            asked(model)
        release.set()
        assert first.result() and asked(model)
