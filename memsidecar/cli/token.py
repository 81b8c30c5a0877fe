"""`memsidecar token`: make tokens, list those of an access file, and check what one grants."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from memsidecar.access.access_file import append_lines, parse_access_file, read_access_file, token_lines
from memsidecar.access.bearer_token import new_token, read_token
from memsidecar.access.policy import ROLE_NAMES, AccessRole, NamespaceLimits, StoredToken
from memsidecar.cli.command import FAILED, CommandTree
from memsidecar.domain.errors import InvalidField, SidecarError
from memsidecar.domain.ids import check_id

_DAYS = re.compile(r"([0-9]{1,5})d")


def _id(given: str) -> str:
    try:
        return check_id("", given)
    except InvalidField as error:
        raise ValueError(error.problem) from None


def _expiry(given: str) -> datetime:
    days = _DAYS.fullmatch(given)
    if days:
        return datetime.now(UTC) + timedelta(days=int(days[1]))
    try:
        time = datetime.fromisoformat(given)
    except ValueError:
        raise ValueError(f"{given!r} is neither days such as 90d nor a date such as 2027-01-31") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


_PATH = click.Path(path_type=Path)


@click.group(cls=CommandTree, no_args_is_help=True)
def token() -> None:
    """Make tokens for an access file, and show what they grant."""


@token.command(
    name="new",
    examples=(
        "(umask 077; memsidecar token new --name agent --namespace default --role write --access-file access.toml "
        "> agent.token)",
        "memsidecar token new --name reader --namespace '*' --role read --expires 90d",
    ),
)
@click.option("--name", required=True, type=_id, metavar="NAME", help="Whose it is, for the audit log.")
@click.option(
    "--namespace",
    "namespaces",
    required=True,
    multiple=True,
    type=_id,
    metavar="NAMESPACE",
    help="Where it is good; may be given more than once. * is every namespace.",
)
@click.option(
    "--role",
    required=True,
    type=click.Choice(ROLE_NAMES),
    help="What it may do: read; write, too; or also erase and look across all users of a namespace (admin).",
)
@click.option(
    "--expires",
    type=_expiry,
    metavar="WHEN",
    help="When it ends: a number of days such as 90d, or a date or time such as 2027-01-31. Default: never.",
)
@click.option(
    "--access-file",
    type=_PATH,
    metavar="FILE",
    help="File to add it to. Default: its lines are shown on standard error, to be added by hand.",
)
def new(name: str, namespaces: Sequence[str], role: str, expires: datetime | None, access_file: Path | None) -> None:
    """Make a token. It is printed on standard output, once; the access file gets only its hash."""
    made = new_token()
    lines = token_lines(made, name, namespaces, AccessRole[role.upper()], expires)
    if access_file:
        with _named_problem():
            append_lines(access_file, lines)
    else:
        print(f"Add to the access file:\n\n{lines}", file=sys.stderr)
    print(made.text)


@token.command(name="list", examples=("memsidecar token list --access-file access.toml",))
@click.option("--access-file", type=_PATH, required=True, metavar="FILE", help="The access file.")
def list_tokens(access_file: Path) -> None:
    """Check an access file and show the callers that it lets in."""
    with _named_problem():
        read_access_file(access_file, NamespaceLimits())
        file = parse_access_file(access_file)
    for known in file.tokens:
        print(f"token {known.id}: {_granted(known.caller.name, known.role, known.namespaces)}{_end(known.expires)}")
    for certificate in file.certificates:
        name = certificate.certificate_name
        granted = _granted(certificate.name, certificate.role, certificate.namespaces)
        print(f"certificate {name.kind}:{name.name}: {granted}")
    if not file.tokens and not file.certificates:
        print("it grants no access")


@token.command(name="check", examples=("memsidecar token check --access-file access.toml --token-file agent.token",))
@click.option("--access-file", type=_PATH, required=True, metavar="FILE", help="The access file.")
@click.option("--token-file", type=_PATH, metavar="FILE", help="The token. Default: standard input.")
def check_token(access_file: Path, token_file: Path | None) -> int:
    """Say whose token it is and what it may do. The token is read from --token-file, or from standard input."""
    with _named_problem():
        policy = read_access_file(access_file, NamespaceLimits())
        text = (token_file.read_text() if token_file else sys.stdin.read()).strip()
    caller = policy.by_token(text, datetime.now(UTC))
    read = read_token(text)
    known = policy.tokens.get(read.id) if read else None
    if caller is None or known is None:
        print(f"not valid: {_why_not(known)}")
        return FAILED
    print(f"valid: {_granted(caller.name, caller.role, caller.namespaces)}{_end(known.expires)}")
    return 0


class UnusableFile(SidecarError):
    """An access file or a token cannot be read, or not be written."""


@contextmanager
def _named_problem() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise UnusableFile(str(error)) from None


def _why_not(known: StoredToken | None) -> str:
    if known is None:
        return "the access file has no such token"
    if known.expires is not None and known.expires <= datetime.now(UTC):
        return f"it expired at {known.expires.isoformat()}"
    return "its secret is another"


def _granted(name: str, role: AccessRole, namespaces: frozenset[str]) -> str:
    return f"{name} has the role {role.name.lower()} in {', '.join(sorted(namespaces))}"


def _end(expires: datetime | None) -> str:
    if expires is None:
        return ""
    return f", {'expired' if expires <= datetime.now(UTC) else 'until'} {expires.isoformat()}"
