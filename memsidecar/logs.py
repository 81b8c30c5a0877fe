"""Structured logs on standard error: one line a record, for a person or for a collector."""

from __future__ import annotations

import json
import logging
import math
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

Format = Literal["text", "json"]
Level = Literal["debug", "info", "warning", "error"]

# Text that reads the same without quotes.
_BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@+%[]")


def configure(format: Format, level: Level) -> None:
    """Send every record of this process, libraries and warnings included, to standard error. May be called again."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter() if format == "json" else TextFormatter())
    logging.basicConfig(handlers=[handler], level=level.upper(), force=True)
    logging.captureWarnings(True)


def event(
    logger: logging.Logger, level: int, name: str, /, *, exception: BaseException | None = None, **fields: object
) -> None:
    """Log that something happened, with its particulars as fields instead of inside a sentence."""
    logger.log(level, name, exc_info=exception, extra={"fields": fields})


class RateLimitedLog:
    """So many records a second of something that anybody can make happen; of the rest, how many there were."""

    def __init__(self, most_per_second: int = 10) -> None:
        self._most = most_per_second
        self._second = 0
        self._count = 0

    def suppressed(self, now: float) -> int | None:
        """None: this one is not to be told. Else how many were not, in the second before."""
        if int(now) == self._second:
            self._count += 1
            return 0 if self._count <= self._most else None
        missed = max(0, self._count - self._most)
        self._second, self._count = int(now), 1
        return missed


def suppressed_field(missed: int) -> dict[str, Any]:
    """The field that says how many records were spared before this one, where there were any."""
    return {"not_told": missed} if missed else {}


class TextFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.000Z info memsidecar.api call_failed method=Add seconds=0.6`"""

    def format(self, record: logging.LogRecord) -> str:
        fields = (f"{_quoted(key)}={_quoted(str(value))}" for key, value in _fields(self, record).items())
        head = (_time(record), record.levelname.lower(), record.name, _one_line(record.getMessage()))
        return " ".join((*head, *fields))


class JsonFormatter(logging.Formatter):
    """One JSON object a line, in ASCII, so that no terminal or collector can misread it."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for key, value in _fields(self, record).items():
            # A field called like a part of the record must not hide it, nor be lost.
            line[f"field_{key}" if key in line else key] = value
        return json.dumps(line)


def _time(record: logging.LogRecord) -> str:
    time = datetime.fromtimestamp(record.created, UTC)
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _fields(formatter: logging.Formatter, record: logging.LogRecord) -> dict[str, object]:
    given: Mapping[str, object] = getattr(record, "fields", {})
    fields = {key: _plain(value) for key, value in given.items()}
    if record.exc_info and record.exc_info[0] is not None:
        fields["exception"] = formatter.formatException(record.exc_info)
    return fields


def _plain(value: object) -> object:
    """What JSON can say as it is; everything else as text. JSON knows neither NaN nor infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | int) else str(value)


def _quoted(text: str) -> str:
    return text if text and _BARE.issuperset(text) else json.dumps(text, ensure_ascii=not text.isprintable())


def _one_line(message: str) -> str:
    # A message may carry what a caller sent; a line break in it would forge a second record.
    return message if message.isprintable() else json.dumps(message)
