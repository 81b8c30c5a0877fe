"""Values of each type of setting."""

from __future__ import annotations

import pytest
from pydantic import BaseModel, SecretStr, ValidationError

from memsidecar.settings import InvalidSettings, Settings, load_settings
from memsidecar.settings.loader import MAX_SHOWN_CHARACTERS, is_secret


def refusal(name: str, value: str) -> str:
    with pytest.raises(InvalidSettings) as refused:
        load_settings({name: value}, {})
    return str(refused.value)


@pytest.mark.parametrize(
    ("written", "size_bytes"),
    [("65536", 65536), ("64KiB", 65536), ("2mib", 2 * 1024**2), ("1 MB", 10**6), ("4096B", 4096)],
)
def test_a_size_may_be_written_with_a_unit(written: str, size_bytes: int) -> None:
    assert load_settings({"max_message_bytes": written}, {}).max_message_bytes == size_bytes


def test_a_decimal_gigabyte_is_not_a_binary_one() -> None:
    assert load_settings({"working_memory_bytes": "1GB"}, {}).working_memory_bytes == 10**9
    assert load_settings({"working_memory_bytes": "1GiB"}, {}).working_memory_bytes == 2**30


@pytest.mark.parametrize("written", ["", "lots", "-1", "1.5MiB", "64 parsecs", "3145729", "1023"])
def test_an_invalid_size_is_rejected(written: str) -> None:
    assert f"--max-message-bytes = {written!r}: " in refusal("max_message_bytes", written)


@pytest.mark.parametrize("written", ["soon", "", "nan", "inf", "-0.1", "3601"])
def test_an_invalid_duration_is_rejected_with_unit_and_limits(written: str) -> None:
    assert "expected seconds, from 0 up to 3600" in refusal("drain_seconds", written)


def test_zero_disables_the_commit_delay_but_is_no_deadline() -> None:
    assert load_settings({"commit_delay_ms": "0"}, {}).commit_delay_ms == 0
    assert "expected seconds, above 0 up to 3600" in refusal("default_deadline_seconds", "0")


@pytest.mark.parametrize("listener", ["listen", "http_listen"])
@pytest.mark.parametrize("wide", ["0.0.0.0:7605", "[::]:7605", "10.0.0.1:7605"])
def test_a_remote_listener_needs_tls_and_tokens(wide: str, listener: str) -> None:
    assert "without tls_certificate_file and access_file" in refusal(listener, wide)
    tls = {"tls_certificate_file": "cert.pem", "tls_key_file": "key.pem"}
    for half in ({"access_file": "access.toml"}, tls):
        with pytest.raises(InvalidSettings, match="would listen beyond this machine"):
            load_settings({listener: wide, **half}, {})
    assert str(getattr(load_settings({listener: wide, "access_file": "access.toml", **tls}, {}), listener)) == wide
    assert str(getattr(load_settings({listener: wide, "insecure_listen": "allow"}, {}), listener)) == wide


def test_a_certificate_needs_its_key_and_a_client_ca_needs_both() -> None:
    assert "together" in refusal("tls_certificate_file", "cert.pem")
    assert "together" in refusal("tls_key_file", "key.pem")
    assert "needs tls_certificate_file" in refusal("tls_client_ca_file", "ca.pem")


@pytest.mark.parametrize("local", ["127.0.0.1:0", "[::1]:7600", "localhost:7600", "unix:/run/memory.sock"])
def test_loopback_and_unix_sockets_need_no_tls(local: str) -> None:
    assert str(load_settings({"listen": local}, {}).listen) == local


def test_the_health_listener_may_be_remote() -> None:
    assert str(load_settings({"health_listen": "0.0.0.0:7601"}, {}).health_listen) == "0.0.0.0:7601"


def test_an_empty_address_means_no_listener() -> None:
    assert load_settings({}, {"MEMSIDECAR_HEALTH_LISTEN": ""}).health_listen is None
    assert load_settings({}, {"MEMSIDECAR_HTTP_LISTEN": ""}).http_listen is None


def test_two_listeners_cannot_share_one_address_unless_the_port_is_picked() -> None:
    assert "--health-listen = '127.0.0.1:7600': is the address of `listen` too" in refusal(
        "health_listen", "127.0.0.1:7600"
    )
    assert "--http-listen = '127.0.0.1:7601': is the address of `health_listen` too" in refusal(
        "http_listen", "127.0.0.1:7601"
    )
    assert load_settings({"listen": "127.0.0.1:0", "health_listen": "127.0.0.1:0"}, {}).listen.port == 0


@pytest.mark.parametrize("names", ["a b", "http://memory", "memory:7680", ",", "a,,b"])
def test_http_hosts_are_names_without_ports(names: str) -> None:
    assert "expected names such as memory.example" in refusal("http_hosts", names)


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "chars4", "house.counting:count"])
def test_a_tokenizer_is_built_in_or_a_custom_function(name: str) -> None:
    assert load_settings({"tokenizer": name}, {}).tokenizer == name


@pytest.mark.parametrize("name", ["", "o200k", "module:", ":function", "a b:c"])
def test_an_unknown_tokenizer_is_rejected(name: str) -> None:
    assert "expected o200k_base, cl100k_base, chars4 or module:function" in refusal("tokenizer", name)


def test_an_empty_data_directory_is_refused() -> None:
    assert "--data-dir = '': is empty" in refusal("data_dir", "")


def test_a_boolean_is_no_number() -> None:
    with pytest.raises(ValidationError, match="expected a number"):
        Settings.model_validate({"read_threads": True})


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().read_threads = 5  # type: ignore[misc]


def test_a_very_long_value_is_truncated_in_the_message() -> None:
    assert len(refusal("read_threads", "9" * 5000)) < 3 * MAX_SHOWN_CHARACTERS


def test_a_line_break_in_a_value_does_not_break_the_message() -> None:
    assert "'a\\nb'" in refusal("journal", "a\nb")


def test_a_secret_setting_is_marked_as_secret() -> None:
    class SettingsWithSecret(BaseModel):
        key: SecretStr
        spare_key: SecretStr | None = None
        colour: str

    secrets = {name for name, field in SettingsWithSecret.model_fields.items() if is_secret(field)}
    assert secrets == {"key", "spare_key"}
