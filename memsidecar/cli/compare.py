"""`memsidecar compare`: call every read RPC of two sidecars, and report each field that differs."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import product, zip_longest
from pathlib import Path
from typing import Any

import click
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message as Proto

from memsidecar.cli.check import open_channel
from memsidecar.cli.client_options import ClientFlags, client_options, file_option, with_client_flags
from memsidecar.cli.command import FAILED, SidecarCommand
from memsidecar.cli.output import plural
from memsidecar.cli.sidecar_calls import CallFailed, SidecarCalls
from memsidecar.cli.visible_text import visible_line
from memsidecar.domain.errors import SidecarError
from memsidecar.settings.client import client_environment
from memsidecar.v1 import context_pb2
from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1 import session_pb2 as sessions
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_SYSTEM, ROLE_TOOL, ROLE_USER, Scope

PAGE_SIZE = 200
QUERY_CHARACTERS = 80
MAX_SEARCHED_SESSIONS = 50
"Sessions of which each search mode and a context is compared. They take longer than all other reads."
MAX_REPORTED = 50
MAX_VALUE_CHARACTERS = 300
MAX_ATTEMPTS = 3
"""Calls of both sidecars for an answer that differs. A context has ages ("30 minutes ago"), and one may change between
two calls."""
_NOT_COMPARED = ("namespace", "quota", "bytes", "watermarks", "computedAt")
"""Besides the namespace and its quota, what follows from the progress of background tasks, and not from what is stored.
Patterns and summaries are some of the bytes."""
_PAGE_TOKEN = "nextPageToken"
"Two sidecars have tokens of their own. Whether there is one must be equal."

_SCORE_TOLERANCE = 1e-4

_CONTENT_REFUSALS = ("NOT_FOUND", "BUDGET_TOO_SMALL", "TOO_LARGE", "SESSION_OWNER_MISMATCH")
"Refusals that follow from what is stored. They are compared like answers."
_ONE_SIDED_REFUSAL = "INVALID_FIELD"
"A scope that exists in one sidecar only. If both refuse the request, nothing was compared."

Request = Callable[..., Proto]
Answer = dict[str, Any]


class ComparisonFailed(SidecarError):
    """A read RPC could not be compared."""


@dataclass(frozen=True)
class SidecarReader:
    """The read RPCs of one sidecar, for one namespace. `exported` counts the records of an Export by kind."""

    calls: SidecarCalls
    exported: Counter[str] = field(default_factory=Counter)

    @property
    def namespace(self) -> str:
        return self.calls.namespace

    def answer(self, rpc: str, request: Proto) -> Answer:
        """Return the response, or the reason of a refusal."""
        try:
            return MessageToDict(self.calls.call(rpc, request))
        except CallFailed as error:
            if error.reason not in (*_CONTENT_REFUSALS, _ONE_SIDED_REFUSAL):
                raise
            return {"refusal": error.reason}

    def pages(self, rpc: str, request_class: Request, **fields: Any) -> Iterator[Any]:
        """Yield all pages of a listing."""
        token = ""
        while True:
            request = request_class(namespace=self.namespace, page_size=PAGE_SIZE, page_token=token, **fields)
            response = self.calls.call(rpc, request)
            token = response.next_page_token
            response.ClearField("next_page_token")
            yield response
            if not token:
                return

    def export(self) -> set[str]:
        """Count all records, and return the users that have some, also those without a session."""
        users = set()
        for response in self.calls.stream("Export", sessions.ExportRequest(namespace=self.namespace)):
            self.exported[str(response.record.WhichOneof("record"))] += 1
            users.add(response.record.user_id)
        return users - {""}


@dataclass(frozen=True)
class Comparison:
    left: SidecarReader
    right: SidecarReader

    def differences(self) -> Iterator[str]:
        """Yield one line for each difference."""
        users = self.left.export() | self.right.export()
        yield from _differences("Export", {}, dict(self.left.exported), dict(self.right.exported))
        found = self.left.pages("ListSessions", sessions.ListSessionsRequest)
        listed = [session for page in found for session in page.sessions]
        yield from self._pages("ListSessions", sessions.ListSessionsRequest)
        for at, session in enumerate(listed):
            yield from self._session(session.session_id)
            if at < MAX_SEARCHED_SESSIONS:
                yield from self._searches(session)
        yield from self._pages("ListUsers", sessions.ListUsersRequest)
        for user_id in sorted(users):
            yield from self._user(user_id)
        yield from self._single("GetUsage", sessions.GetUsageRequest)
        yield from self._pages("ListDocuments", knowledge.ListDocumentsRequest)
        yield from self._document_search()

    def _session(self, session_id: str) -> Iterator[str]:
        of_session = {"session_id": session_id}
        for pruned in (False, True):
            yield from self._pages("GetAll", memory.GetAllRequest, include_pruned=pruned, **of_session)
        yield from self._single("GetRecent", memory.GetRecentRequest, n=20, **of_session)
        for role in (ROLE_SYSTEM, ROLE_USER, ROLE_ASSISTANT, ROLE_TOOL):
            yield from self._single("GetByRole", memory.GetByRoleRequest, role=role, **of_session)
        yield from self._single("Count", memory.CountRequest, **of_session)
        yield from self._single("GetSession", sessions.GetSessionRequest, **of_session)
        yield from self._single("GetSummary", knowledge.GetSummaryRequest, **of_session)
        yield from self._pages("ListArtifacts", knowledge.ListArtifactsRequest, **of_session)
        yield from self._pages("ListDocuments", knowledge.ListDocumentsRequest, **of_session)
        yield from self._pages("ListFacts", knowledge.ListFactsRequest, include_history=True, **of_session)

    def _searches(self, session: sessions.Session) -> Iterator[str]:
        """Compare searches and a context, with the words of the session's newest message as the query."""
        session_id = session.session_id
        request = memory.GetRecentRequest(namespace=self.left.namespace, session_id=session_id, n=1)
        recent = self.left.calls.call("GetRecent", request).messages
        query = " ".join(recent[0].content[:QUERY_CHARACTERS].split()) if recent else ""
        if not query:
            return
        modes = (memory.SEARCH_MODE_SUBSTRING, memory.SEARCH_MODE_KEYWORD, memory.SEARCH_MODE_HYBRID)
        scopes = (Scope.SCOPE_SESSION, Scope.SCOPE_USER) if session.user_id else (Scope.SCOPE_SESSION,)
        for mode, scope in product(modes, scopes):
            yield from self._single(
                "Search", memory.SearchRequest, session_id=session_id, query=query, mode=mode, scope=scope, limit=20
            )
        yield from self._single(
            "BuildContext",
            context_pb2.BuildContextRequest,
            session_id=session_id,
            query=query,
            max_tokens=4_000,
            dry_run=True,
        )

    def _user(self, user_id: str) -> Iterator[str]:
        yield from self._pages("ListFacts", knowledge.ListFactsRequest, user_id=user_id, include_history=True)
        yield from self._pages("ListDocuments", knowledge.ListDocumentsRequest, user_id=user_id)
        yield from self._single("GetPatterns", knowledge.GetPatternsRequest, user_id=user_id, refresh=True)

    def _document_search(self) -> Iterator[str]:
        request = knowledge.ListDocumentsRequest(namespace=self.left.namespace, page_size=1)
        for document in self.left.calls.call("ListDocuments", request).documents:
            query = document.title or document.id
            yield from self._single("SearchDocuments", knowledge.SearchDocumentsRequest, query=query)

    def _single(self, rpc: str, request_class: Request, **fields: Any) -> Iterator[str]:
        """Compare one answer. Only a difference that persists counts."""
        found: list[str] = []
        for _ in range(MAX_ATTEMPTS):
            left, right = (
                sidecar.answer(rpc, request_class(namespace=sidecar.namespace, **fields))
                for sidecar in (self.left, self.right)
            )
            if left == right == {"refusal": _ONE_SIDED_REFUSAL}:
                raise ComparisonFailed(f"both sidecars refuse {rpc} with {_ONE_SIDED_REFUSAL}")
            found = list(_differences(rpc, fields, left, right))
            if not found:
                return
        yield from found

    def _pages(self, rpc: str, request_class: Request, **fields: Any) -> Iterator[str]:
        pages = [sidecar.pages(rpc, request_class, **fields) for sidecar in (self.left, self.right)]
        for left, right in zip_longest(*(map(MessageToDict, of_side) for of_side in pages), fillvalue={}):
            yield from _differences(rpc, fields, left, right)


def _differences(rpc: str, fields: dict[str, Any], left: Answer, right: Answer) -> Iterator[str]:
    named = visible_line(", ".join(value for value in fields.values() if isinstance(value, str)))
    for path, left_text, right_text in _compare("", left, right):
        yield f"{rpc}({named}){path}: {left_text} here, {right_text} there"


def _compare(path: str, left: Any, right: Any) -> Iterator[tuple[str, str, str]]:
    """Yield the path and both values of each difference. Fields and items that are absent in JSON have no value."""
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}):
            sides = [bool(side.get(key)) if key == _PAGE_TOKEN else side.get(key) for side in (left, right)]
            if key not in _NOT_COMPARED:
                yield from _compare(f"{path}.{key}", *sides)
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for at, (each_left, each_right) in enumerate(zip(left, right, strict=True)):
            yield from _compare(f"{path}[{at}]", each_left, each_right)
    elif isinstance(left, list) or isinstance(right, list):
        yield path, _listed(left or [], right or []), _listed(right or [], left or [])
    elif left != right and not _is_later_score(path, left, right):
        yield path, _shown(left), _shown(right)


def _listed(items: list[Any], others: list[Any]) -> str:
    """Return the number of items, and the first that the other side does not have."""
    only = next((item for item in items if item not in others), None)
    return plural(len(items), "item") + ("" if only is None else f" with {_shown(only)}")


def _shown(value: Any) -> str:
    """Return a value as JSON that fits a line."""
    if value is None:
        return "nothing"
    text = visible_line(json.dumps(value, ensure_ascii=False))
    return text if len(text) <= MAX_VALUE_CHARACTERS else f"{text[:MAX_VALUE_CHARACTERS]}... ({len(text)} characters)"


def _is_later_score(path: str, left: Any, right: Any) -> bool:
    """Tell whether two scores differ by the time between the calls only: a context weighs how recent a message is."""
    is_score = ".score" in path and isinstance(left, float) and isinstance(right, float)
    return is_score and math.isclose(left, right, rel_tol=_SCORE_TOLERANCE)


@click.command(
    cls=SidecarCommand,
    examples=("memsidecar compare --other-address 127.0.0.1:7600",),
)
@click.option("--other-address", required=True, metavar="ADDRESS", help="The sidecar to compare with.")
@click.option("--other-namespace", metavar="NAMESPACE", help="The namespace there. Default: that of --namespace.")
@file_option("other_token_file", "The token for it. Default: that of --token-file.")
@with_client_flags(namespace="Compare this namespace.", default_timeout=60.0)
def compare(flags: ClientFlags, other_address: str, other_namespace: str | None, other_token_file: Path | None) -> int:
    """Call every read RPC of two running sidecars, and report what differs.

    The exit code is 1 if anything does.
    """
    options = client_options(flags, client_environment())
    other = client_options(
        replace(
            flags,
            address=other_address,
            namespace=other_namespace or flags.namespace,
            token_file=other_token_file or flags.token_file,
        ),
        client_environment(),
    )
    with ExitStack() as opened:
        left, right = (
            SidecarReader(SidecarCalls(each, opened.enter_context(open_channel(each)))) for each in (options, other)
        )
        count = _print(Comparison(left, right).differences())
    print(plural(count, "difference") if count else f"equal: {_counted(left)}")
    return FAILED if count else 0


def _counted(reader: SidecarReader) -> str:
    """Say what was compared: a namespace that was mistyped is empty on both sides."""
    if not reader.exported:
        return f"both are empty, there is nothing in namespace {reader.namespace}"
    return ", ".join(f"{count} {kind} records" for kind, count in sorted(reader.exported.items()))


def _print(differences: Iterator[str]) -> int:
    count = 0
    for count, line in enumerate(differences, 1):
        if count <= MAX_REPORTED:
            print(line, flush=True)
    return count
