"""Structured logs on standard error: one line a record, as text or as JSON."""

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
    """Log an event with its details as fields."""
    logger.log(level, name, exc_info=exception, extra={"fields": fields})


class RateLimitedLog:
    """Bounds the records a second of an event that unauthenticated callers can cause, and counts the rest."""

    def __init__(self, max_per_second: int = 10) -> None:
        self._max_per_second = max_per_second
        self._second = 0
        self._count = 0

    def suppressed(self, now: float) -> int | None:
        """Return None to suppress this record, else the number of records suppressed in the previous second."""
        if int(now) == self._second:
            self._count += 1
            return 0 if self._count <= self._max_per_second else None
        suppressed = max(0, self._count - self._max_per_second)
        self._second, self._count = int(now), 1
        return suppressed


def suppressed_field(count: int) -> dict[str, Any]:
    """Return the log field with the number of suppressed records; none for zero."""
    return {"suppressed": count} if count else {}


class TextFormatter(logging.Formatter):
    """Formats a record as `2026-01-31T12:00:00.000Z info memsidecar.api call_failed method=Add seconds=0.6`."""

    def format(self, record: logging.LogRecord) -> str:
        fields = (f"{_quoted(key)}={_quoted(str(value))}" for key, value in _fields(self, record).items())
        head = (_time(record), record.levelname.lower(), record.name, _one_line(record.getMessage()))
        return " ".join((*head, *fields))


class JsonFormatter(logging.Formatter):
    """Formats a record as one line of JSON in ASCII, which every terminal and collector reads the same."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": _time(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        for key, value in _fields(self, record).items():
            # A field with the name of a record attribute is prefixed.
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
    """Return the value if JSON can represent it, else its text. JSON has neither NaN nor infinity."""
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    return value if value is None or isinstance(value, str | int) else str(value)


def _quoted(text: str) -> str:
    return text if text and _BARE.issuperset(text) else json.dumps(text, ensure_ascii=not text.isprintable())


def _one_line(message: str) -> str:
    # A message may contain text of a caller, and a line break in it would forge a second record.
    return message if message.isprintable() else json.dumps(message)
