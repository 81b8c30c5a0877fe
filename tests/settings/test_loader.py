"""Sources of settings, their precedence, and errors."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsidecar.settings import InvalidSettings, Settings, load_settings


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "sidecar.toml"
    path.write_text('tokenizer = "chars4"\nread_threads = 7\nmax_message_bytes = "2MiB"\n')
    return path


def problems(flags: dict[str, str], environ: dict[str, str]) -> str:
    with pytest.raises(InvalidSettings) as refusal:
        load_settings(flags, environ)
    return str(refusal.value)


def test_without_any_source_the_defaults_are_used() -> None:
    assert load_settings({}, {}) == Settings()


def test_a_flag_wins_over_the_environment_and_the_environment_over_the_file(file: Path) -> None:
    settings = load_settings(
        {"config": str(file), "tokenizer": "o200k_base"},
        {"MEMSIDECAR_TOKENIZER": "cl100k_base", "MEMSIDECAR_READ_THREADS": "5"},
    )
    assert (settings.tokenizer, settings.read_threads, settings.max_message_bytes) == ("o200k_base", 5, 2 * 1024**2)


def test_the_environment_may_name_the_file(file: Path) -> None:
    assert load_settings({}, {"MEMSIDECAR_CONFIG": str(file)}).read_threads == 7


def test_a_flag_that_names_a_file_wins_over_the_environment_that_names_another(file: Path) -> None:
    assert load_settings({"config": str(file)}, {"MEMSIDECAR_CONFIG": "absent.toml"}).read_threads == 7


def test_the_environment_of_the_process_does_not_reach_settings_made_directly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("READ_THREADS", "9")
    monkeypatch.setenv("MEMSIDECAR_READ_THREADS", "9")
    assert Settings().read_threads == 4


def test_an_unknown_variable_is_refused_with_the_nearest_known_one_and_without_its_value() -> None:
    message = problems({}, {"MEMSIDECAR_LISTN": "hunter2"})
    assert "MEMSIDECAR_LISTN: unknown setting; the nearest known one is MEMSIDECAR_LISTEN" in message
    assert "hunter2" not in message


def test_an_unknown_key_of_the_file_is_refused_with_the_nearest_known_one(tmp_path: Path) -> None:
    file = tmp_path / "sidecar.toml"
    file.write_text('data-dir = "x"\n')
    assert f"data-dir in {file}: unknown setting; the nearest known one is data_dir" in problems(
        {"config": str(file)}, {}
    )


def test_an_unknown_flag_is_refused_with_the_nearest_known_one() -> None:
    assert "--drain-second: unknown setting; the nearest known one is --drain-seconds" in problems(
        {"drain_second": "1"}, {}
    )


def test_a_table_in_the_file_is_refused_as_an_unknown_key(tmp_path: Path) -> None:
    file = tmp_path / "sidecar.toml"
    file.write_text("[logs]\nlevel = 'info'\n")
    assert "logs in" in problems({"config": str(file)}, {})


@pytest.mark.parametrize(
    "name",
    [
        "MEMSIDECAR_ADDRESS",
        "MEMSIDECAR_TOKEN",
        "MEMSIDECAR_TOKEN_FILE",
        "MEMSIDECAR_PORT",
        "MEMSIDECAR_SERVICE_HOST",
        "MEMSIDECAR_SERVICE_PORT",
        "MEMSIDECAR_SERVICE_PORT_GRPC",
        "MEMSIDECAR_SERVICE_PORT_GRPC_HEALTH",
        "MEMSIDECAR_PORT_7600_TCP",
        "MEMSIDECAR_PORT_7600_TCP_PROTO",
        "MEMSIDECAR_PORT_7600_TCP_PORT",
        "MEMSIDECAR_PORT_7600_TCP_ADDR",
        "MEMSIDECAR_PORT_53_UDP_ADDR",
        "MEMSIDECAR_HEADLESS_SERVICE_HOST",
        "MEMSIDECAR_HEADLESS_PORT",
        "MEMSIDECAR_FOO_BAR_SERVICE_PORT_GRPC",
        "MEMSIDECAR_FOO_PORT_7600_TCP_ADDR",
    ],
)
def test_variables_of_clients_and_the_kubelet_are_ignored(name: str) -> None:
    assert load_settings({}, {name: "tcp://10.0.0.1:7600"}) == Settings()


@pytest.mark.parametrize(
    "name", ["MEMSIDECAR_", "MEMSIDECAR_HOST", "MEMSIDECAR_PORT_X", "MEMSIDECAR_PORT_7600", "MEMSIDECAR_TOKENS"]
)
def test_a_variable_similar_to_an_exempt_one_is_rejected(name: str) -> None:
    assert f"{name}: unknown" in problems({}, {name: "1"})


def test_variables_of_others_are_ignored() -> None:
    assert load_settings({}, {"PATH": "/bin", "MEMSIDECARX_LISTEN": "1", "memsidecar_listen": "1"}) == Settings()


def test_all_problems_are_reported_at_once() -> None:
    message = problems({"listen": "nowhere"}, {"MEMSIDECAR_JOURNAL": "paper", "MEMSIDECAR_READ_THREADS": "many"})
    assert "--listen = 'nowhere'" in message
    assert "MEMSIDECAR_JOURNAL = 'paper': expected one of sqlite, postgres, volatile" in message
    assert "MEMSIDECAR_READ_THREADS = 'many': expected a whole number of threads, from 1 up to 256" in message


def test_a_bad_value_in_the_file_is_named_by_key_and_file(tmp_path: Path) -> None:
    file = tmp_path / "sidecar.toml"
    file.write_text("drain_seconds = -1\n")
    assert f"drain_seconds in {file} = -1: expected seconds, from 0 up to 3600" in problems({"config": str(file)}, {})


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"listen = ", "is not valid TOML"), (b"\xff", "is not valid TOML"), (None, "cannot be read: No such file")],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, content: bytes | None, reason: str) -> None:
    file = tmp_path / "sidecar.toml"
    if content is not None:
        file.write_bytes(content)
    assert f"--config = '{file}': {reason}" in problems({"config": str(file)}, {})


def test_an_empty_name_of_the_file_is_refused() -> None:
    assert "MEMSIDECAR_CONFIG = '': " in problems({}, {"MEMSIDECAR_CONFIG": ""})


def test_a_file_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sidecar.toml"
    file.write_text("index = " + "[" * 10_000)
    assert f"--config = '{file}': is not valid TOML" in problems({"config": str(file)}, {})
