"""`memsidecar context`: the context that an agent would get, and with --explain why."""

from __future__ import annotations

from collections.abc import Sequence

import click

from memsidecar.cli.command import SidecarCommand
from memsidecar.cli.output import FAINT, WARNING, Column, Output, plural
from memsidecar.cli.search_command import note_degradations, score_parts
from memsidecar.cli.session_commands import print_message
from memsidecar.cli.sidecar_calls import SidecarCalls, user_option, with_sidecar
from memsidecar.v1.context_pb2 import (
    INCLUSION_SUMMARIZED,
    SECTION_WORKING,
    BuildContextRequest,
    BuildContextResponse,
    Inclusion,
    ItemReceipt,
    Section,
    SectionReceipt,
)
from memsidecar.v1.session_pb2 import GetSessionRequest

MAX_BAR_COLUMNS = 100
_FILLED, _EMPTY = "█", "░"
_SECTION_STYLES = {
    "system": "yellow",
    "profile": "bright_yellow",
    "facts": "green",
    "hints": "bright_green",
    "summary": "blue",
    "documents": "magenta",
    "episodic": "cyan",
    "artifacts": "bright_magenta",
    "working": "bright_blue",
    "tool schemas": "white",
    "output reserve": "bright_black",
    "framing": "red",
}
_REASONS = {
    "INCLUDED": "in: whole",
    "SHORTENED": "in: shortened to fit",
    "OVER_SECTION": "out: its section is full",
    "OVER_TOTAL": "out: the whole context is full",
    "BEYOND_TOP_K": "out: enough items with a higher score",
    "BELOW_THRESHOLD": "out: relevance below the threshold",
    "LOW_QUALITY": "out: its evaluation score is too low",
    "DUPLICATE": "out: like an item that is in, or the query",
    "IN_WINDOW": "out: the conversation shows it already",
    "EXPIRED": "out: it has expired",
    "DISABLED": "out: the section is disabled",
    "SUMMARIZED": "out: the summary covers it",
}
_SECTION_COLUMNS = (
    Column("section", "bold"),
    Column("tokens", is_number=True),
    Column("share", is_number=True),
    Column("ceiling", is_number=True),
    Column("in", is_number=True),
    Column("left out", is_number=True),
)


@click.command(
    cls=SidecarCommand,
    examples=(
        "memsidecar context trip",
        "memsidecar context trip --query 'When do I fly?' --explain",
        "memsidecar context trip --budget 2000 --model gpt-4o --json",
    ),
)
@click.argument("session_id", metavar="SESSION")
@click.option("--query", default="", metavar="TEXT", help="The query. Default: the newest user message.")
@user_option("The owner of the session. Another one is refused.")
@click.option(
    "--budget",
    type=click.IntRange(min=0),
    default=0,
    metavar="TOKENS",
    help="The limit of the context. Default: that of the model or the sidecar.",
)
@click.option("--model", default="", metavar="MODEL", help="The model whose tokens are counted. Default: o200k_base.")
@click.option("--system-prompt", default="", metavar="TEXT", help="Default: the system messages of the session.")
@click.option(
    "--explain", is_flag=True, help="Print the receipt in place of the messages: the budget, each item, and why."
)
@with_sidecar
def context(
    calls: SidecarCalls,
    output: Output,
    *,
    session_id: str,
    query: str,
    user: str,
    budget: int,
    model: str,
    system_prompt: str,
    explain: bool,
) -> None:
    """Build the context of a session as an agent would get it. A dry run: nothing is stored or learned."""
    request = BuildContextRequest(
        namespace=calls.namespace,
        user_id=user,
        session_id=session_id,
        query=query,
        max_tokens=budget,
        model=model,
        system_prompt=system_prompt,
        debug=explain,
        dry_run=True,
    )
    response: BuildContextResponse = calls.call("BuildContext", request)
    if output.is_json:
        output.record(response)
    elif explain:
        _explain(output, response)
    else:
        for message in response.messages:
            print_message(output, message)
        output.line((f"{response.total_tokens:,} of {response.max_tokens:,} tokens", FAINT))
    note_degradations(output, response.degraded)
    for warning in response.receipt.warnings:
        output.note(f"warning: {warning}")
    if not any(section.section == SECTION_WORKING and section.items for section in response.receipt.sections):
        _note_unknown(calls, output, session_id, user)


def _note_unknown(calls: SidecarCalls, output: Output, session_id: str, user: str) -> None:
    """Say that there is no such session. An agent gets the other sections in its first context."""
    request = GetSessionRequest(namespace=calls.namespace, user_id=user, session_id=session_id)
    if not calls.call("GetSession", request).HasField("session"):
        output.note(f"there is no session {session_id} in namespace {calls.namespace}")


def _explain(output: Output, response: BuildContextResponse) -> None:
    receipt = response.receipt
    used = [section for section in receipt.sections if section.used_tokens]
    count = "exact" if receipt.exact else "an estimate"
    output.line(
        (f"{response.total_tokens:,} of {response.max_tokens:,} tokens", "bold"),
        (f", counted with {receipt.tokenizer} ({count})", FAINT),
    )
    output.parts(*budget_bar(used, response.max_tokens, min(output.columns, MAX_BAR_COLUMNS)))
    output.parts(*(part for section in used for part in _legend(section)))
    output.line((f"query: {receipt.query}", FAINT))
    output.table(_SECTION_COLUMNS, [_section_row(section) for section in receipt.sections if _is_shown(section)])
    items = [(section, item) for section in receipt.sections for item in section.items]
    for section, item in items:
        _print_item(output, section, item)
    summarized = sum(section.summarized_count for section in receipt.sections)
    if summarized:
        output.line((f"The summary covers {plural(summarized, 'message')} that the conversation does not show.", FAINT))
    listed = sum(not item.included and item.reason != INCLUSION_SUMMARIZED for _, item in items)
    unlisted = sum(section.left_out_count for section in receipt.sections) - listed
    if unlisted > 0:
        output.line((f"{unlisted} more candidates were left out.", WARNING))


def budget_bar(sections: Sequence[SectionReceipt], max_tokens: int, columns: int) -> list[tuple[str, str]]:
    """Return the bar as parts with styles: a stretch for each section, then the rest. They fill the columns exactly."""
    parts, filled, tokens = [], 0, 0
    for section in sections:
        tokens += section.used_tokens
        # The end of a stretch is rounded, not its length, so that the bar is as long as the sum.
        end = min(columns, round(columns * tokens / max(max_tokens, 1)))
        parts.append((_FILLED * (end - filled), _style(section)))
        filled = end
    return [*parts, (_EMPTY * (columns - filled), FAINT)]


def _legend(section: SectionReceipt) -> tuple[tuple[str, str], ...]:
    return (_FILLED, _style(section)), (f" {section_name(section)} {section.used_tokens:,}  ", "")


def section_name(section: SectionReceipt) -> str:
    return Section.Name(section.section).removeprefix("SECTION_").lower().replace("_", " ")


def _style(section: SectionReceipt) -> str:
    return _SECTION_STYLES.get(section_name(section), "")


def _is_shown(section: SectionReceipt) -> bool:
    return bool(section.used_tokens or section.left_out_count or section.limit_tokens)


def _section_row(section: SectionReceipt) -> tuple[str, ...]:
    included = sum(item.included for item in section.items)
    limits = (section.share_tokens, section.limit_tokens)
    counts = (included, section.left_out_count)
    return (
        section_name(section),
        f"{section.used_tokens:,}",
        *(f"{limit:,}" if limit else "-" for limit in limits),
        *(f"{count:,}" if count else "-" for count in counts),
    )


def _print_item(output: Output, section: SectionReceipt, item: ItemReceipt) -> None:
    reason = Inclusion.Name(item.reason).removeprefix("INCLUSION_")
    scores = [
        f"relevance {item.relevance:.2f}" if item.relevance else "",
        f"score {item.score:.2f}" if item.score else "",
        score_parts(item.scores),
        f"from {item.origin}" if item.origin else "",
    ]
    output.line(
        (f"{section_name(section):<10}", f"bold {_style(section)}"),
        (f" {_REASONS.get(reason, reason)}", "" if item.included else WARNING),
        (f"  {item.tokens:,} tokens  {'  '.join(filter(None, scores))}", FAINT),
    )
    output.line((f"           {item.preview or item.id}", "" if item.included else FAINT))
