"""`memsidecar doctor`: check a running sidecar and its surroundings, or offline a data directory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click

from memsidecar.cli.check import open_channel
from memsidecar.cli.client_options import ClientFlags, client_options, with_client_flags
from memsidecar.cli.command import FAILED, SidecarCommand, UsageError
from memsidecar.cli.configuration_checks import client_findings, invalid_settings, settings_findings
from memsidecar.cli.diagnosis import Diagnosis, fault, not_checked
from memsidecar.cli.output import FAINT, JSON_OPTION, Output, plural
from memsidecar.cli.schema_flags import given_flags, setting_options, settings_of
from memsidecar.cli.sidecar_calls import SidecarCalls
from memsidecar.cli.sidecar_checks import SidecarChecks
from memsidecar.settings import InvalidSettings, Settings, load_settings
from memsidecar.settings.client import client_environment
from memsidecar.settings.loader import config_file

_STYLES = {"ok": "green", "warning": "yellow", "fault": "bold red", "not checked": FAINT}
HELP = """Check a running sidecar and its surroundings, and say what to do about each fault.

It checks the connection, the versions, the clocks, the health of each layer, searches, the index, certificates, and on
this machine the configuration and the data directory. The exit code is 1 if there is a fault.

With --data-dir and without --address it checks the journal of that directory in place of a sidecar: every page and
checksum. No sidecar may run on it. With --postgres-url-file and without --address it checks the journal in that
database, on which a sidecar may run."""
EXAMPLES = (
    "memsidecar doctor",
    "memsidecar doctor --address 127.0.0.1:7600 --data-dir memsidecar-data",
    "memsidecar doctor --json | grep level",
    "memsidecar doctor --data-dir backup",
)


@dataclass(frozen=True)
class LocalChecks:
    """The checks of files that only a package above this one can make."""

    examine: Callable[[Settings], int]
    "Examines a data directory on which no sidecar runs, or a database, prints, and returns the exit code."
    inspect: Callable[[Path], Sequence[Diagnosis]]
    "Checks the surroundings of a data directory, on which a sidecar may run."


def doctor_command(checks: LocalChecks) -> click.Command:
    @JSON_OPTION
    @with_client_flags(namespace="Check the index of this namespace.", default_timeout=10.0)
    def call(flags: ClientFlags, is_json: bool | None, **given: Any) -> int:
        if flags.address is None and (given["data_dir"] is not None or given["postgres_url_file"] is not None):
            return checks.examine(settings_of(given))
        return _report(Output(is_json), _findings(checks, flags, given))

    options = [*setting_options("doctor"), *reversed(getattr(call, "__click_params__", []))]
    return SidecarCommand("doctor", callback=call, params=options, help=HELP, examples=EXAMPLES)


def _report(output: Output, findings: Iterator[Diagnosis]) -> int:
    counts = {"fault": 0, "warning": 0}
    for finding in findings:
        if finding.level in counts:
            counts[finding.level] += 1
        if output.is_json:
            print(json.dumps(asdict(finding)), flush=True)
            continue
        output.line((f"{finding.level:<12}", _STYLES[finding.level]), (f"{finding.subject}: {finding.text}", ""))
        if finding.remedy:
            output.line((f"{'':12}-> {finding.remedy}", ""))
    output.note(f"{plural(counts['fault'], 'fault')}, {plural(counts['warning'], 'warning')}")
    return FAILED if counts["fault"] else 0


def _findings(checks: LocalChecks, flags: ClientFlags, given: dict[str, Any]) -> Iterator[Diagnosis]:
    environment = client_environment()
    yield from client_findings(flags, environment)
    token = ""
    try:
        options = client_options(flags, environment)
    except UsageError as error:
        yield fault("configuration", str(error), "Correct the flag or the variable; see `memsidecar doctor --help`.")
    else:
        token = options.token
        with open_channel(options) as channel:
            yield from SidecarChecks(SidecarCalls(options, channel)).findings()
    yield from _local_findings(checks, given, token)


def _local_findings(checks: LocalChecks, given: dict[str, Any], token: str) -> Iterator[Diagnosis]:
    try:
        settings = load_settings(given_flags(given))
    except InvalidSettings as error:
        yield from invalid_settings(error)
        return
    yield from settings_findings(settings, config_file(given_flags(given)), token)
    if settings.data_dir.is_dir():
        yield from checks.inspect(settings.data_dir)
    else:
        text = f"{settings.data_dir} is not on this machine: give --data-dir where the sidecar runs"
        yield not_checked("data directory", text)
