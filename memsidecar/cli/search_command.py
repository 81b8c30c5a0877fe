"""`memsidecar search`: what a search finds, with the parts of each score."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

import click

from memsidecar.cli.command import SidecarCommand
from memsidecar.cli.output import FAINT, ROLE_STYLES, Output, local_time
from memsidecar.cli.sidecar_calls import MAX_PAGE_SIZE, SidecarCalls, session_option, user_option, with_sidecar
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.context_pb2 import Degradation
from memsidecar.v1.message_pb2 import Role, Scope, ScoreParts

MODES = ("hybrid", "keyword", "semantic", "substring")
DEGRADED = {
    "INDEX_UNAVAILABLE": "the index is off or not open yet, so only the newest messages were ranked",
    "EMBEDDER_UNAVAILABLE": "some texts have no vector, so they were ranked by keywords only",
    "DEADLINE": "the time was too short for retrieval: give a longer --timeout",
    "STALE": "background tasks lag, so the newest messages or facts may be missing",
}
MAX_SHOWN_CHARACTERS = 300


@click.command(
    cls=SidecarCommand,
    examples=(
        "memsidecar search 'flight to Lisbon'",
        "memsidecar search Lisbon --user ann --mode keyword --limit 3",
        "memsidecar search Lisbon --session trip --mode substring --json",
    ),
)
@click.argument("query", metavar="QUERY")
@user_option("Search all sessions of this user. Default: the whole namespace.")
@session_option("Search this session only.")
@click.option("--mode", type=click.Choice(MODES), default=MODES[0], help="How to search. Default: hybrid.")
@click.option(
    "--limit", type=click.IntRange(1, MAX_PAGE_SIZE), default=10, metavar="N", help="The most hits. Default: 10."
)
@with_sidecar
def search(calls: SidecarCalls, output: Output, *, query: str, user: str, session: str, mode: str, limit: int) -> None:
    """Search messages, best first, with the parts of each score."""
    narrowest = Scope.SCOPE_USER if user else Scope.SCOPE_NAMESPACE
    request = memory.SearchRequest(
        namespace=calls.namespace,
        user_id=user,
        session_id=session,
        query=query,
        mode=f"SEARCH_MODE_{mode.upper()}",
        scope=Scope.SCOPE_SESSION if session else narrowest,
    )
    hits, degraded = _hits(calls, request, limit)
    if output.is_json:
        for hit in hits:
            output.record(hit)
    else:
        for hit in hits:
            _print(output, hit)
    note_degradations(output, degraded)
    if not hits:
        output.note("nothing was found")


def _hits(
    calls: SidecarCalls, request: memory.SearchRequest, limit: int
) -> tuple[list[memory.SearchHit], list[Degradation]]:
    found: list[memory.SearchHit] = []
    while True:
        request.limit = limit - len(found)
        page = calls.call("Search", request)
        found += islice(page.hits, request.limit)
        request.page_token = page.next_page_token
        if len(found) >= limit or not page.next_page_token:
            return found, list(page.degraded)


def _print(output: Output, hit: memory.SearchHit) -> None:
    message = hit.message
    role = Role.Name(message.role).removeprefix("ROLE_").lower()
    output.line(
        (f"{hit.score:.2f}", "bold"),
        (f"  {role}", ROLE_STYLES.get(role, "")),
        (f"  {local_time(message.create_time)}  session {hit.session_id}  {message.id}", ""),
        (f"  {score_parts(hit.scores)}", FAINT),
    )
    output.line((f"      {shortened(message.content)}", ""))


def shortened(text: str) -> str:
    return text if len(text) <= MAX_SHOWN_CHARACTERS else f"{text[:MAX_SHOWN_CHARACTERS]}..."


def score_parts(scores: ScoreParts) -> str:
    """Return the parts of a score that are not 0."""
    return " ".join(f"{part.name} {value:.2f}" for part, value in scores.ListFields())


def note_degradations(output: Output, degraded: Iterable[Degradation]) -> None:
    """Print on standard error how each degradation affects the result."""
    for each in degraded:
        name = Degradation.Name(each).removeprefix("DEGRADATION_")
        output.note(f"degraded: {DEGRADED.get(name, name)}")
