"""`memsidecar token`: make tokens, list those of an access file, and check what one grants."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, ArgumentTypeError, Namespace, _SubParsersAction
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memsidecar.access.access_file import append_lines, parse_access_file, read_access_file, token_lines
from memsidecar.access.bearer_token import new_token, read_token
from memsidecar.access.policy import ROLE_NAMES, AccessRole, NamespaceLimits, StoredToken
from memsidecar.domain.errors import InvalidField, SidecarError
from memsidecar.domain.ids import check_id

FAILED = 1
_DAYS = re.compile(r"([0-9]{1,5})d")


def add_token_commands(command: ArgumentParser) -> None:
    """Add the subcommands of `memsidecar token`."""
    actions: _SubParsersAction[ArgumentParser] = command.add_subparsers(dest="action", required=True, metavar="action")
    _add_new(actions)
    _add_list(actions)
    _add_check(actions)


def run_token(arguments: Namespace) -> int:
    """Run a subcommand and return the exit code. Errors are printed on standard error."""
    try:
        return {"new": _new, "list": _list, "check": _check}[arguments.action](arguments)
    except (SidecarError, OSError) as error:
        print(f"memsidecar: {error}", file=sys.stderr)
        return FAILED


def _add_new(actions: _SubParsersAction[ArgumentParser]) -> None:
    new = actions.add_parser(
        "new",
        help="Make a token.",
        description="Make a token. It is printed on standard output, once; the access file gets only its hash.",
        allow_abbrev=False,
    )
    new.add_argument("--name", required=True, type=_id, metavar="NAME", help="Whose it is, for the audit log.")
    new.add_argument(
        "--namespace",
        required=True,
        action="append",
        dest="namespaces",
        type=_id,
        metavar="NAMESPACE",
        help="Where it is good; may be given more than once. * is every namespace.",
    )
    new.add_argument(
        "--role",
        required=True,
        choices=ROLE_NAMES,
        help="What it may do: read; write, too; or also erase and look across all users of a namespace (admin).",
    )
    new.add_argument(
        "--expires",
        type=_expiry,
        metavar="WHEN",
        help="When it ends: a number of days such as 90d, or a date or time such as 2027-01-31. Default: never.",
    )
    new.add_argument(
        "--access-file",
        type=Path,
        metavar="FILE",
        help="File to add it to. Default: its lines are shown on standard error, to be added by hand.",
    )


def _add_list(actions: _SubParsersAction[ArgumentParser]) -> None:
    text = "Check an access file and show the callers that it lets in."
    action = actions.add_parser("list", help=text, description=text, allow_abbrev=False)
    action.add_argument("--access-file", type=Path, required=True, metavar="FILE")


def _add_check(actions: _SubParsersAction[ArgumentParser]) -> None:
    text = "Say whose token it is and what it may do. The token is read from --token-file, or from standard input."
    action = actions.add_parser("check", help=text, description=text, allow_abbrev=False)
    action.add_argument("--access-file", type=Path, required=True, metavar="FILE")
    action.add_argument("--token-file", type=Path, metavar="FILE")


def _new(arguments: Namespace) -> int:
    token = new_token()
    lines = token_lines(
        token, arguments.name, arguments.namespaces, AccessRole[arguments.role.upper()], arguments.expires
    )
    if arguments.access_file:
        append_lines(arguments.access_file, lines)
    else:
        print(f"Add to the access file:\n\n{lines}", file=sys.stderr)
    print(token.text)
    return 0


def _list(arguments: Namespace) -> int:
    read_access_file(arguments.access_file, NamespaceLimits())
    file = parse_access_file(arguments.access_file)
    for token in file.tokens:
        print(f"token {token.id}: {_granted(token.caller.name, token.role, token.namespaces)}{_end(token.expires)}")
    for certificate in file.certificates:
        name = certificate.certificate_name
        granted = _granted(certificate.name, certificate.role, certificate.namespaces)
        print(f"certificate {name.kind}:{name.name}: {granted}")
    if not file.tokens and not file.certificates:
        print("it grants no access")
    return 0


def _check(arguments: Namespace) -> int:
    policy = read_access_file(arguments.access_file, NamespaceLimits())
    text = (arguments.token_file.read_text() if arguments.token_file else sys.stdin.read()).strip()
    caller = policy.by_token(text, datetime.now(UTC))
    token = read_token(text)
    known = policy.tokens.get(token.id) if token else None
    if caller is None or known is None:
        print(f"not valid: {_why_not(known)}")
        return FAILED
    print(f"valid: {_granted(caller.name, caller.role, caller.namespaces)}{_end(known.expires)}")
    return 0


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


def _id(given: str) -> str:
    try:
        return check_id("", given)
    except InvalidField as error:
        raise ArgumentTypeError(error.problem) from None


def _expiry(given: str) -> datetime:
    days = _DAYS.fullmatch(given)
    if days:
        return datetime.now(UTC) + timedelta(days=int(days[1]))
    try:
        time = datetime.fromisoformat(given)
    except ValueError:
        raise ArgumentTypeError(f"{given!r} is neither days such as 90d nor a date such as 2027-01-31") from None
    return time if time.tzinfo else time.replace(tzinfo=UTC)
