"""Flags of `memsidecar export`, `memsidecar import` and `memsidecar compare`."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path

from memsidecar.cli.client_options import add_client_flags, parse_seconds

FORMATS = ("auto", "memsidecar", "openai", "anthropic", "langchain", "chatgpt", "jsonl")


def add_export_flags(command: ArgumentParser) -> None:
    add_client_flags(command)
    _add_common_flags(command, "Export")
    command.add_argument("--user", default="", metavar="USER", help="Export this user only.")
    command.add_argument("--session", default="", metavar="SESSION", help="Export this session only.")
    command.add_argument(
        "--out",
        required=True,
        metavar="FILE",
        help="The archive to write: JSON lines, compressed if the name ends in .gz. - is standard output. While it is "
        "incomplete, it is named FILE.partial.",
    )
    command.add_argument(
        "--resume", action="store_true", help="Continue the export whose FILE.partial an interruption has left."
    )


def add_import_flags(command: ArgumentParser) -> None:
    add_client_flags(command)
    _add_common_flags(command, "Import into")
    command.add_argument(
        "--user", default="", metavar="USER", help="The user of conversations that name none. Not for archives."
    )
    command.add_argument(
        "--session",
        default="",
        metavar="SESSION",
        help="The session of conversations that name none. Not for archives. Default: the name of the file.",
    )
    command.add_argument("file", metavar="FILE", help="The file to import, compressed or not. - is standard input.")
    command.add_argument(
        "--format",
        default="auto",
        metavar="FORMAT",
        help=f"One of {', '.join(FORMATS)}. Default: auto, which looks at the beginning of the file.",
    )
    command.add_argument(
        "--override-erasures",
        action="store_true",
        help="Also import what was erased in this sidecar with DeleteSession, ForgetMessage or ForgetUser.",
    )


def add_compare_flags(command: ArgumentParser) -> None:
    add_client_flags(command)
    _add_common_flags(command, "Compare")
    command.add_argument("--other-address", required=True, metavar="ADDRESS", help="The sidecar to compare with.")
    command.add_argument(
        "--other-namespace", metavar="NAMESPACE", help="The namespace there. Default: that of --namespace."
    )
    command.add_argument(
        "--other-token-file", type=Path, metavar="FILE", help="The token for it. Default: that of --token-file."
    )


def _add_common_flags(command: ArgumentParser, verb: str) -> None:
    command.add_argument(
        "--namespace", default="default", metavar="NAMESPACE", help=f"{verb} this namespace. Default: default."
    )
    command.add_argument(
        "--timeout",
        type=parse_seconds,
        default=30.0,
        metavar="SECONDS",
        help="Seconds without progress, while the sidecar is unavailable, after which the command fails. Default: 30.",
    )
