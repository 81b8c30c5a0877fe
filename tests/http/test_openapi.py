"""docs/openapi.json is valid, and describes what the listener serves."""

import json
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import json_format
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from openapi_spec_validator import validate

from tests.bad_input.rpcs import METHODS, valid_request
from tests.http.connect_client import json_of, path_of, post
from tests.http.http_client import HttpClient

DOCUMENT: dict[str, Any] = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
SERVED = {name: method for name, method in METHODS.items() if not method.client_streaming}
UNARY = sorted(name for name, method in SERVED.items() if not method.server_streaming)


def validator(message: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"#/components/schemas/{message}", "components": DOCUMENT["components"]})


def test_the_document_is_valid_openapi() -> None:
    validate(DOCUMENT)


def test_the_document_has_each_rpc_that_is_served() -> None:
    assert set(DOCUMENT["paths"]) == {path_of(name) for name in SERVED}


@pytest.mark.parametrize("name", UNARY)
def test_real_requests_responses_and_errors_obey_the_document(http: HttpClient, name: str) -> None:
    method, request = METHODS[name], valid_request(name, f"{name}-openapi")
    validator(method.input_type.name).validate(json_format.MessageToDict(request))
    answer = post(http, name, json_of(request))
    validator(method.output_type.name if answer.status == 200 else "Error").validate(answer.json())
    refused = post(http, name, b'{"unknown":1}')
    validator("Error").validate(refused.json())
    assert not validator(method.input_type.name).is_valid({"unknown": 1})
