"""A log record is one line, whatever it contains."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator

import pytest

from memsidecar import logs

logger = logging.getLogger("memsidecar.test")


@pytest.fixture(autouse=True)
def root_logger_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    logging.captureWarnings(False)
    root.handlers[:] = handlers
    root.setLevel(level)


def fail() -> ZeroDivisionError:
    try:
        raise ZeroDivisionError("by zero")
    except ZeroDivisionError as error:
        return error


def test_a_text_line_has_time_level_logger_event_and_fields(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("text", "info")
    logs.event(logger, logging.WARNING, "slow_call", method="Add", seconds=0.6, caller="two words")
    output = capsys.readouterr()
    assert output.out == ""
    assert re.fullmatch(
        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z warning memsidecar\.test slow_call"
        r' method=Add seconds=0\.6 caller="two words"\n',
        output.err,
    )


def test_a_json_line_carries_fields_and_exception(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("json", "info")
    logs.event(logger, logging.ERROR, "broken", exception=fail(), calls=3, share=float("nan"), name="x", level="y")
    line = capsys.readouterr().err
    record = json.loads(line)
    assert line.count("\n") == 1
    assert (record["level"], record["logger"], record["message"]) == ("error", "memsidecar.test", "broken")
    assert (record["calls"], record["share"], record["name"], record["field_level"]) == (3, "nan", "x", "y")
    assert "ZeroDivisionError: by zero" in record["exception"]


@pytest.mark.parametrize("form", ["text", "json"])
def test_no_content_of_a_caller_makes_a_second_line(form: logs.Format, capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure(form, "info")
    logger.error("got %s", "a\nb\u2028c\x1b[31m", exc_info=fail(), extra={"fields": {"key\n": "x\r\ny\u2028\udc80"}})
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_records_below_the_level_are_not_logged(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("text", "warning")
    logger.info("quiet")
    assert capsys.readouterr().err == ""


def test_configuring_again_replaces_the_configuration(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("text", "info")
    logs.configure("json", "info")
    logger.info("once")
    assert json.loads(capsys.readouterr().err)["message"] == "once"
