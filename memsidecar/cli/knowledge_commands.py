"""`memsidecar facts` and `memsidecar documents`."""

from __future__ import annotations

import click

from memsidecar.cli.command import SidecarCommand, UsageError
from memsidecar.cli.output import FAINT, Column, Output, local_time
from memsidecar.cli.sidecar_calls import SidecarCalls, limit_option, session_option, user_option, with_sidecar
from memsidecar.v1 import knowledge_pb2 as knowledge

_FACT_COLUMNS = (
    Column("type"),
    Column("key", "bold"),
    Column("value", is_prose=True),
    Column("confidence", is_number=True),
    Column("origin", FAINT),
    Column("updated", FAINT),
    Column("superseded", FAINT),
)
_DOCUMENT_COLUMNS = (
    Column("document", "bold"),
    Column("title", is_prose=True),
    Column("source"),
    Column("chunks", is_number=True),
    Column("tokens", is_number=True),
    Column("created", FAINT),
)


@click.command(
    cls=SidecarCommand,
    examples=("memsidecar facts --user ann", "memsidecar facts --user ann --history --json"),
)
@user_option("Facts about this user.")
@session_option("Facts of a session without a user.")
@click.option("--history", is_flag=True, help="Show superseded facts, too.")
@limit_option(100, "facts")
@with_sidecar
def facts(calls: SidecarCalls, output: Output, *, user: str, session: str, history: bool, limit: int) -> None:
    """List what was learned or stored about a user."""
    if not (user or session):
        raise UsageError("whose facts? Give --user, or --session for a session without a user")
    request = knowledge.ListFactsRequest(
        namespace=calls.namespace, user_id=user, session_id=session, include_history=history
    )
    found = list(calls.items("ListFacts", request, "facts", limit))
    output.items(found, _FACT_COLUMNS, _fact_row)
    _note_count(output, "facts", len(found), limit)


def _fact_row(fact: knowledge.Fact) -> tuple[str, ...]:
    return (
        knowledge.FactType.Name(fact.type).removeprefix("FACT_TYPE_").lower() + (" (pinned)" if fact.pinned else ""),
        fact.key,
        fact.value,
        f"{fact.confidence:.2f}",
        fact.origin,
        local_time(fact.last_updated),
        local_time(fact.valid_until),
    )


@click.command(cls=SidecarCommand, examples=("memsidecar documents", "memsidecar documents --user ann --limit 0"))
@user_option("Documents of this user. Default: those of the namespace.")
@session_option("Documents of this session.")
@limit_option(100, "documents")
@with_sidecar
def documents(calls: SidecarCalls, output: Output, *, user: str, session: str, limit: int) -> None:
    """List stored documents, without their texts."""
    request = knowledge.ListDocumentsRequest(namespace=calls.namespace, user_id=user, session_id=session)
    found = list(calls.items("ListDocuments", request, "documents", limit))
    output.items(found, _DOCUMENT_COLUMNS, _document_row)
    _note_count(output, "documents", len(found), limit)


def _document_row(document: knowledge.Document) -> tuple[str, ...]:
    counts = (f"{document.chunk_count:,}", f"{document.tokens:,}")
    return document.id, document.title, document.source, *counts, local_time(document.create_time)


def _note_count(output: Output, what: str, count: int, limit: int) -> None:
    if not count:
        output.note(f"there are no {what}")
    elif count == limit:
        output.note(f"These are the first {limit}: give --limit for more.")
