"""The client variants of variants.yaml and the commands of their drivers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

FILE = Path(__file__).parents[2] / "variants.yaml"


class UnknownVariant(Exception):
    pass


def known_variants() -> dict[str, Any]:
    known: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return known


def driver_commands(variants: Sequence[str], command: Sequence[str]) -> dict[str, list[str]]:
    """Return the driver command of each variant: `command` if it is not empty, else that of variants.yaml."""
    if command:
        if len(variants) != 1:
            raise UnknownVariant("a command is for one variant")
        return {variants[0]: list(command)}
    known = known_variants()
    unknown = [variant for variant in variants if variant not in known]
    if unknown:
        raise UnknownVariant(f"{', '.join(unknown)}: no such variant in {FILE.name}; give its command after --")
    return {variant: known[variant]["driver"] for variant in variants}
