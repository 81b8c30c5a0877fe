"""Every setting is described, documented and reachable by all its names."""

from __future__ import annotations

from pathlib import Path

import pytest

from memsidecar.cli.parser import given_flags, parser
from memsidecar.settings import Settings, documentation, load_settings
from memsidecar.settings.loading import flag, variable
from memsidecar.settings.types import expectation, format_value

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"

every_setting = pytest.mark.parametrize("name", list(Settings.model_fields))


def test_the_page_of_settings_is_fresh() -> None:
    assert PAGE.read_text(encoding="utf-8") == documentation(), "run: python -m memsidecar settings > docs/settings.md"


@every_setting
def test_every_setting_says_what_it_is_for_and_what_it_takes(name: str) -> None:
    field = Settings.model_fields[name]
    assert field.description is not None
    assert field.description.endswith(".")
    assert expectation(field)


@every_setting
def test_every_setting_is_in_the_documentation_under_all_its_names(name: str) -> None:
    assert f"| `{name}` | `{variable(name)}` | `{flag(name)}` |" in documentation()


@every_setting
def test_every_default_can_be_given_as_flag_and_as_variable_the_way_it_is_documented(name: str) -> None:
    field = Settings.model_fields[name]
    written = format_value(field, field.default)
    flags = given_flags(parser().parse_args(["serve", f"{flag(name)}={written}"]))
    assert flags == {name: written}
    assert load_settings(flags, {}) == load_settings({}, {variable(name): written}) == Settings()


@every_setting
def test_the_help_of_serve_names_every_flag_and_its_variable(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        parser().parse_args(["serve", "--help"])
    text = capsys.readouterr().out
    assert f"{flag(name)} " in text
    assert f"[{variable(name)}]" in text
