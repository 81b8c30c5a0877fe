"""Choice of the model by the settings."""

import pytest

from memsidecar.language.contract import InvalidModel, LanguageModel
from memsidecar.language.registry import ModelChoice, configured_model
from tests.endpoint.server import KEY
from tests.language.model_server import ModelServer


def test_without_settings_there_is_no_model() -> None:
    assert configured_model(ModelChoice()) is None


@pytest.mark.parametrize("end", ["", "/", "/chat/completions"])
def test_a_model_is_asked_where_it_is_with_its_key(server: ModelServer, end: str) -> None:
    model: LanguageModel | None = configured_model(ModelChoice(server.url + end, "llama", KEY))
    assert model is not None and model.name == "llama"
    assert model.complete("", "hello", max_tokens=5)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions" and request.headers["Authorization"] == f"Bearer {KEY}"


WRONG = [
    (ModelChoice("http://host/v1"), "name of a model"),
    (ModelChoice(name="llama"), "URL of the model endpoint"),
    (ModelChoice("ftp://host", "llama"), "URL of the model endpoint"),
    (ModelChoice("http://host/v1", "llama", "sk\nsecret"), "printable ASCII"),
    (ModelChoice("http://me:secret@host/v1", "llama", "k"), "keep one"),
    (ModelChoice("http://host/v1", "llama", timeout_seconds=0), "timeout"),
    (ModelChoice("http://host/v1", "llama", concurrency=0), "at least one"),
]


@pytest.mark.parametrize(("choice", "problem"), WRONG)
def test_a_wrong_setting_is_refused_at_start(choice: ModelChoice, problem: str) -> None:
    with pytest.raises(InvalidModel, match=problem) as caught:
        configured_model(choice)
    assert "secret" not in repr(caught.value) + repr(choice)
