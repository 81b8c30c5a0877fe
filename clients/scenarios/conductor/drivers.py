"""Which languages there are, and how their drivers are started."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parents[2] / "languages.yaml"


class UnknownLanguage(Exception):
    pass


def known_languages() -> dict[str, Any]:
    known: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return known


def driver_commands(languages: Sequence[str], given: Sequence[str]) -> dict[str, list[str]]:
    """A command for each language: the given one, where there is one, else that of languages.yaml."""
    if given:
        if len(languages) != 1:
            raise UnknownLanguage("a command is for one language")
        return {languages[0]: list(given)}
    known = known_languages()
    unknown = [one for one in languages if one not in known]
    if unknown:
        raise UnknownLanguage(f"{', '.join(unknown)}: no such language in {FILE.name}; give its command behind --")
    return {one: known[one]["driver"] for one in languages}
