"""Settings of the language model are complete, or absent."""

import pytest

from memsidecar.settings import InvalidSettings, Settings, load_settings

URL = "http://127.0.0.1:11434/v1"


def test_there_is_no_model_by_default() -> None:
    settings = Settings()
    assert (settings.model_url, settings.model_name, settings.model_key_file) == ("", "", None)
    assert (settings.model_timeout_seconds, settings.model_concurrency) == (30, 1)


def test_an_address_and_a_name_are_a_model() -> None:
    settings = load_settings({"model_url": URL, "model_name": "llama3"}, {})
    assert (settings.model_url, settings.model_name) == (URL, "llama3")


WRONG = [
    ({"model_url": URL}, "model_name: is empty: expected the name"),
    ({"model_name": "llama3"}, "--model-name = 'llama3': is given without model_url"),
    ({"model_concurrency": "0"}, "expected a whole number of requests, from 1 up to 64"),
    ({"model_timeout_seconds": "0"}, "expected seconds, above 0"),
]


@pytest.mark.parametrize(("flags", "problem"), WRONG)
def test_incomplete_settings_of_a_model_are_rejected(flags: dict[str, str], problem: str) -> None:
    with pytest.raises(InvalidSettings, match=problem):
        load_settings(flags, {})


def test_an_invalid_address_is_reported_once() -> None:
    with pytest.raises(InvalidSettings) as caught:
        load_settings({"model_url": "ftp://host", "model_name": "llama3"}, {})
    (problem,) = caught.value.problems
    assert problem.startswith("--model-url")
