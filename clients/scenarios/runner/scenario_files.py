"""Reads the scenario files and validates them."""

import json
from pathlib import Path
from typing import Any

import jsonschema
import yaml

FOLDER = Path(__file__).parents[1]
SCHEMA = FOLDER / "schema.json"


def scenario_files() -> list[Path]:
    return sorted(path for path in FOLDER.glob("*.yaml") if path.name != "fixtures.yaml")


def read_scenarios() -> list[dict[str, Any]]:
    """Return all scenarios in the order of their files. Exits with a message if a file violates the schema."""
    checker = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    found: list[dict[str, Any]] = []
    for file in scenario_files():
        document = yaml.safe_load(file.read_text())
        try:
            checker.validate(document)
        except jsonschema.ValidationError as error:
            place = "/".join(map(str, error.absolute_path))
            raise SystemExit(f"{file.name}: {place}: {error.message}") from None
        found += [{"file": file.stem, **scenario} for scenario in document["scenarios"]]
    return found
