"""`memsidecar check`: its flags. The check itself is in `checking`, which brings grpc along."""

from __future__ import annotations

from argparse import ArgumentParser

from memsidecar.cli.caller import add_caller_flags, seconds


def add_check_flags(command: ArgumentParser) -> None:
    add_caller_flags(command)
    command.add_argument("--namespace", default="default", metavar="NAMESPACE", help="Where to add. Default: default.")
    command.add_argument(
        "--timeout",
        type=seconds,
        default=30.0,
        metavar="SECONDS",
        help="Seconds to wait until the sidecar is ready. Default: 30.",
    )
