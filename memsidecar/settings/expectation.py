"""What a setting takes, in words: the same in errors, in the documentation and in `--help`."""

from __future__ import annotations

from typing import get_args

from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

from memsidecar.domain.byte_size import format_size
from memsidecar.settings.values import Takes


def expectation(field: FieldInfo) -> str:
    """For example "seconds, from 0 to 3600" or "one of text, json"."""
    takes = _takes(field)
    if takes is None:
        return "one of " + ", ".join(get_args(field.annotation))
    return ", ".join(part for part in (takes.words, _limits(field)) if part)


def metavar(field: FieldInfo) -> str:
    """The placeholder of the value in `--help`."""
    takes = _takes(field)
    return takes.metavar if takes else "{" + ",".join(get_args(field.annotation)) + "}"


def shown(field: FieldInfo, value: object) -> str:
    """A value as a person would write it."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, int) and _is_size(field):
        return format_size(value)
    return "" if value is None else str(value)


def _limits(field: FieldInfo) -> str:
    return " ".join(filter(None, (_limit(field, mark) for mark in field.metadata)))


def _limit(field: FieldInfo, mark: object) -> str:
    match mark:
        case Ge(ge=least):
            return f"from {shown(field, least)}"
        case Gt(gt=bound):
            return f"above {shown(field, bound)}"
        case Le(le=most):
            return f"up to {shown(field, most)}"
        case _:
            return ""


def _takes(field: FieldInfo) -> Takes | None:
    return next((mark for mark in field.metadata if isinstance(mark, Takes)), None)


def _is_size(field: FieldInfo) -> bool:
    takes = _takes(field)
    return takes is not None and takes.metavar == "BYTES"
