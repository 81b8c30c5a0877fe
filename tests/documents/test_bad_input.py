"""Every field of the RPCs about documents: a wrong value is refused by name and changes nothing."""

import itertools
from functools import partial
from typing import Any

import pytest

from memsidecar.v1 import knowledge_pb2 as pb
from tests.bad_input.rpcs import KNOWN_DOCUMENT, good, put
from tests.bad_input.table import DOCUMENTS
from tests.bad_input.test_fields import paths_of
from tests.bad_input.values import Field, Right, Wrong
from tests.documents.serving import METHODS, Served
from tests.support.process import refusal

FIELDS = [
    pytest.param(name, path, field, id=f"{name}-{path}")
    for name, fields in DOCUMENTS.items()
    for path, field in fields.items()
]
_numbers = itertools.count()


def request_with(name: str, path: str, row: Wrong | Right, session_id: str = "") -> Any:
    request = good(name, session_id)
    for where, value in row.given.items():
        put(request, where, value)
    put(request, path, row.value)
    return request


def prepare(served: Served, name: str, request: Any) -> None:
    """Make what the request acts on."""
    if name == "DeleteDocument":
        scope = {"namespace": request.namespace, "user_id": request.user_id, "session_id": request.session_id}
        served.put(request.document_id, "Hello.", **scope)


def test_the_table_has_every_field_of_every_rpc_about_documents() -> None:
    for name, fields in DOCUMENTS.items():
        assert set(fields) == set(paths_of(METHODS[name].input_type)), name


@pytest.mark.parametrize(("name", "path", "field"), FIELDS)
def test_a_wrong_value_is_refused_by_name_and_changes_nothing(
    served: Served, name: str, path: str, field: Field
) -> None:
    served.put(KNOWN_DOCUMENT, "Known.")
    before = served.call("ListDocuments", pb.ListDocumentsRequest())
    for row in field.wrong:
        refused = refusal(partial(served.call, name, request_with(name, path, row)))
        named = path + row.at if row.field is None else row.field
        assert (refused.code, refused.reason, refused.field) == (row.code, row.reason, named), row.label
        assert served.call("ListDocuments", pb.ListDocumentsRequest()) == before, row.label


@pytest.mark.parametrize(("name", "path", "field"), FIELDS)
def test_a_value_at_the_border_is_taken(served: Served, name: str, path: str, field: Field) -> None:
    for row in field.right:
        request = request_with(name, path, row, f"session-{next(_numbers)}")
        prepare(served, name, request)
        assert served.call(name, request) is not None, row.label
