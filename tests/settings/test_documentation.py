"""Every setting is described, documented and reachable by all its names."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from memsidecar.__main__ import main
from memsidecar.cli.schema_flags import given_flags, setting_options
from memsidecar.settings import Settings, documentation, load_settings
from memsidecar.settings.loader import flag, variable
from memsidecar.settings.types import expectation, format_value

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_of_settings_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == documentation(), "run: python -m memsidecar settings > docs/settings.md"


def test_every_setting_has_a_description_and_its_allowed_values() -> None:
    fields = Settings.model_fields
    assert [name for name, field in fields.items() if not (field.description or "").endswith(".")] == []
    assert [name for name, field in fields.items() if not expectation(field)] == []


def test_every_setting_is_in_the_documentation_under_all_its_names() -> None:
    page = documentation()
    rows = {name: f"| `{name}` | `{variable(name)}` | `{flag(name)}` |" for name in Settings.model_fields}
    assert [name for name, row in rows.items() if row not in page] == []


def test_every_default_can_be_given_as_flag_and_as_variable_the_way_it_is_documented() -> None:
    written = {name: format_value(field, field.default) for name, field in Settings.model_fields.items()}
    serve = click.Command("serve", params=setting_options("serve"))
    for name, value in written.items():
        flags = given_flags(serve.make_context("serve", [f"{flag(name)}={value}"]).params)
        assert flags == {name: value}
        assert load_settings(flags, {}) == load_settings({}, {variable(name): value}) == Settings(), name


def test_the_help_of_serve_names_every_flag_and_its_variable(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--help"]) == 0
    text = capsys.readouterr().out
    assert [name for name in Settings.model_fields if f"{flag(name)} " not in text] == []
    assert [name for name in Settings.model_fields if f"[{variable(name)}]" not in text] == []
