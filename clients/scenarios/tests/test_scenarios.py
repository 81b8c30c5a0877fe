"""The scenario files are valid, and together they cover every RPC, every paged RPC and every error reason."""

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from memsidecar.v1.errors_pb2 import ErrorReason
from run import all_steps
from runner.contract import METHODS
from runner.scenario_files import SCHEMA, read_scenarios, scenario_files
from runner.steps import STEP_HANDLERS

FOLDER = SCHEMA.parent
CHECKER = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
DEFINITIONS = CHECKER.schema["$defs"]


ALL_STEPS = [step for scenario in read_scenarios() for step in all_steps(scenario["steps"])]


@pytest.mark.parametrize("file", scenario_files(), ids=lambda file: file.stem)
def test_a_file_conforms_to_the_schema(file: Path) -> None:
    CHECKER.validate(yaml.safe_load(file.read_text()))


def test_the_names_of_scenarios_are_unique() -> None:
    names = [scenario["name"] for scenario in read_scenarios()]
    assert len(names) == len(set(names))


def test_the_schema_knows_the_contract_the_fixtures_and_the_kinds_of_steps() -> None:
    assert set(DEFINITIONS["rpc"]["enum"]) == set(METHODS)
    assert set(DEFINITIONS["scenario"]["properties"]["fixture"]["enum"]) == set(
        yaml.safe_load((FOLDER / "fixtures.yaml").read_text())
    )
    assert {alternative["required"][0] for alternative in DEFINITIONS["step"]["oneOf"]} == set(STEP_HANDLERS)


def test_every_rpc_is_called() -> None:
    called = {step[kind] for step in ALL_STEPS for kind in ("call", "stream", "iterate") if kind in step}
    assert called == set(METHODS)


def test_every_paged_rpc_is_iterated() -> None:
    paged = {name for name, method in METHODS.items() if "next_page_token" in method.output_type.fields_by_name}
    assert {step["iterate"] for step in ALL_STEPS if "iterate" in step} == paged


def test_every_error_reason_occurs() -> None:
    reasons = {step["fails"].get("reason") for step in ALL_STEPS if "fails" in step}
    assert reasons >= {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()[1:]}


def test_the_readme_explains_every_keyword() -> None:
    readme = (FOLDER / "README.md").read_text()
    keywords = {
        *DEFINITIONS["scenario"]["properties"],
        *DEFINITIONS["step"]["properties"],
        *DEFINITIONS["client"]["properties"],
    }
    explained = set(re.findall(r"`([$\w]+)`", readme))
    assert not keywords - explained


@pytest.mark.parametrize(
    "step",
    [
        {},
        {"call": "Nothing"},
        {"call": "Add", "stream": "AddStream", "requests": [{}]},
        {"call": "Add", "fails": {"reason": "OVERLOADED"}},
        {"call": "Add", "expects": {}},
        {"sidecar": "explode"},
        {"proxy": {}},
    ],
)
def test_an_invalid_step_is_rejected(step: dict[str, Any]) -> None:
    document = {"about": "a", "scenarios": [{"name": "n", "fixture": "plain", "steps": [step]}]}
    with pytest.raises(jsonschema.ValidationError):
        CHECKER.validate(document)
