"""Sources of an import: the format of a file, and its records with the numbers of their lines."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, cast

from google.protobuf.json_format import Parse, ParseError

from memsidecar.cli.archive_file import STANDARD, FileProblem, open_input, read_lines
from memsidecar.cli.chat_formats import read_anthropic, read_chatgpt, read_langchain, read_openai, read_plain
from memsidecar.cli.command import UsageError
from memsidecar.cli.foreign_chat import INVALID_UNICODE, ForeignChat, WrongFormat, first_text
from memsidecar.v1.session_pb2 import ArchiveRecord

NEWEST_VERSION = 1
"The newest version of the records of archives."
FORMATS = ("auto", "memsidecar", "openai", "anthropic", "langchain", "chatgpt", "jsonl")
AUTO, MEMSIDECAR, OPENAI, ANTHROPIC, LANGCHAIN, CHATGPT, JSONL = FORMATS
_READERS: dict[str, Callable[[Any], ForeignChat]] = {
    OPENAI: read_openai,
    ANTHROPIC: read_anthropic,
    LANGCHAIN: read_langchain,
    CHATGPT: read_chatgpt,
    JSONL: read_plain,
}
_RECORD_KEYS = {"message", "fact", "summary", "artifact", "document", "policy", "calibration", "session", "version"}
_ANTHROPIC_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "document")
_TITLE_KEYS = ("title", "conversation_id", "id", "session_id", "thread_id")
_MAX_TITLE_CHARACTERS = 60
_ZIP_MAGIC = b"PK\x03\x04"

Lines = Iterator[tuple[int, str]]
LocatedRecord = tuple[int, ArchiveRecord]


@dataclass(frozen=True)
class _Element:
    """A conversation or a message of a file, the number of its line, and its place in an error."""

    line: int
    place: str
    value: Any


@dataclass(frozen=True)
class ArchiveSource:
    """A file to import. `user_id` and `session_id` are of conversations that name none; an archive has none of them.

    JSON lines are read line by line. Any other JSON is read as a whole.
    """

    name: str
    file_format: str = AUTO
    user_id: str = ""
    session_id: str = ""

    def open(self) -> Iterator[LocatedRecord]:
        """Open the file, and return its records. They close it, on the thread that reads: a close waits for a read."""
        with ExitStack() as opened:
            records = self.records(opened.enter_context(open_input(self.name)))
            return _closing(opened.pop_all(), records)

    def records(self, source: BinaryIO) -> Iterator[LocatedRecord]:
        """Return the records, each with the number of its line. Raises FileProblem, also later, or UsageError.

        A file without records is a problem, unless it is given as an archive: that of an empty memory has none.
        """
        if self.file_format not in FORMATS:
            raise FileProblem(f"the format {self.file_format!r} is not known: {', '.join(FORMATS)} are")
        if _is_zip(source):
            raise FileProblem(f"{self.name}: is a zip archive: unpack it, and import its conversations.json")
        located = self._records(read_lines(source, self.name))
        first = next(located, None)
        if first is None and self.file_format != MEMSIDECAR:
            raise FileProblem(f"{self.name}: has no messages; an archive without records needs --format {MEMSIDECAR}")
        return chain([] if first is None else [first], located)

    def _records(self, lines: Lines) -> Iterator[LocatedRecord]:
        first = next(lines, None)
        if first is None:
            return iter(())
        value = _parsed(first[1])
        second = next(lines, None) if isinstance(value, list) else None
        if isinstance(value, list) and second is None:
            return self._document(value)
        if isinstance(value, dict | list):
            return self._lines(value, chain([first], [second] if second else [], lines))
        return self._document(self._whole(first, lines))

    def _whole(self, first: tuple[int, str], lines: Lines) -> object:
        """Return the JSON value of all lines."""
        numbered = [first, *lines]
        try:
            return json.loads("\n".join(line for _, line in numbered))
        except (ValueError, RecursionError) as error:
            number, _ = numbered[getattr(error, "lineno", 1) - 1]
            raise FileProblem(f"{self.name}, line {number}: is not JSON") from None

    def _lines(self, value: object, lines: Lines) -> Iterator[LocatedRecord]:
        """Return the records of JSON lines. `value` is that of the first line."""
        file_format = self._detected(value)
        if file_format == MEMSIDECAR and (self.user_id or self.session_id):
            raise UsageError("--user and --session are not for archives: each record names its user and its session")
        if file_format == MEMSIDECAR:
            return ((number, self._record(number, line)) for number, line in lines)
        elements = (_Element(number, f", line {number}", self._value(number, line)) for number, line in lines)
        return self._elements(file_format, elements, are_messages=_is_message(value, file_format))

    def _document(self, value: object) -> Iterator[LocatedRecord]:
        """Return the records of one JSON value."""
        if not isinstance(value, dict | list):
            raise FileProblem(f"{self.name}: is JSON, but neither an object nor a list")
        given = value if isinstance(value, list) else [value]
        if not given:
            return iter(())
        file_format = self._detected(given)
        if file_format == MEMSIDECAR:
            raise FileProblem(f"{self.name}: an archive of {MEMSIDECAR} has one record in each line")
        are_messages = _is_message(given[0], file_format)
        kind = "message" if are_messages else "conversation"
        elements = (_Element(1, f", {kind} {at}{_title(each)}", each) for at, each in enumerate(given, 1))
        return self._elements(file_format, elements, are_messages=are_messages)

    def _elements(
        self, file_format: str, elements: Iterable[_Element], *, are_messages: bool
    ) -> Iterator[LocatedRecord]:
        """Yield the records of conversations, or of messages, which may name their sessions."""
        if are_messages and file_format == OPENAI:
            file_format = JSONL  # has the fields of OPENAI, and names
        counts: Counter[str] | None = Counter() if are_messages else None
        for at, element in enumerate(elements):
            for record in self._read(file_format, element, self._session_id(0 if are_messages else at), counts):
                yield element.line, record

    def _read(
        self, file_format: str, element: _Element, session_id: str, counts: Counter[str] | None
    ) -> Sequence[ArchiveRecord]:
        """Return the records of a conversation; or of a message, with the counts of the messages before it."""
        value = element.value
        if counts is not None and file_format != JSONL and isinstance(value, dict):
            value = {**value, "id": None, "messages": [value]}
        try:
            chat = _READERS[file_format](value)
            session_id = chat.session_id or session_id
            if counts is None:
                return list(chat.records(session_id, self.user_id))
            counts[session_id] += len(chat.messages)
            return list(chat.records(session_id, self.user_id, counts[session_id] - len(chat.messages)))
        except WrongFormat as problem:
            message = f", message {problem.message}" if problem.message and counts is None else ""
            raise FileProblem(f"{self.name}{element.place}{message}: {problem}") from None
        except UnicodeError:
            raise FileProblem(f"{self.name}{element.place}: {INVALID_UNICODE}") from None

    def _detected(self, value: object) -> str:
        try:
            return detect(value) if self.file_format == AUTO else self.file_format
        except WrongFormat as problem:
            raise FileProblem(f"{self.name}: {problem}") from None

    def _record(self, number: int, line: str) -> ArchiveRecord:
        try:
            return Parse(line, ArchiveRecord())
        except (ParseError, RecursionError, ValueError) as error:
            problem = _version_problem(_parsed(line)) or f"is no record of an archive: {error}"
            raise FileProblem(f"{self.name}, line {number}: {problem}") from None

    def _value(self, number: int, line: str) -> object:
        value = _parsed(line)
        if value is None:
            raise FileProblem(f"{self.name}, line {number}: is not JSON")
        return value

    def _session_id(self, at: int) -> str:
        """Return the id of the session of a conversation without one: --session, or the name of the file."""
        stem = Path(self.name).name.split(".")[0] if self.name != STANDARD else "import"
        name = self.session_id or stem or "import"
        return name if at == 0 else f"{name}-{at + 1}"


def _closing(opened: ExitStack, records: Iterator[LocatedRecord]) -> Iterator[LocatedRecord]:
    with opened:
        yield from records


def _is_zip(source: BinaryIO) -> bool:
    with suppress(EOFError, OSError, zlib.error):  # damaged compressed data is reported where its lines are read
        return cast(BufferedReader, source).peek(len(_ZIP_MAGIC)).startswith(_ZIP_MAGIC)
    return False


def _parsed(line: str) -> Any:
    """Return the JSON value of a line; None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _version_problem(record: Any) -> str:
    """Tell that a record is of a newer version, whose fields are not known."""
    version = record.get("version") if isinstance(record, dict) else None
    if not isinstance(version, int) or version <= NEWEST_VERSION:
        return ""
    return f"is a record of version {version}; the newest known version is {NEWEST_VERSION}: update memsidecar"


def _title(conversation: object) -> str:
    """Return the title or the id of a conversation in parentheses, if it has one."""
    name = first_text(conversation, _TITLE_KEYS) if isinstance(conversation, dict) else ""
    return f" ({name[:_MAX_TITLE_CHARACTERS]})" if name else ""


def detect(value: object) -> str:
    """Return the format of a file by its first object. Raises WrongFormat."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        raise WrongFormat("the format is not recognised: the first element is not an object")
    if "mapping" in first:
        return CHATGPT
    if "role" in first:
        return _detect_messages(value, OPENAI) if isinstance(value, list) else _detect_messages([value], JSONL)
    if isinstance(first.get("messages"), list):
        return ANTHROPIC if "system" in first else _detect_messages(first["messages"], OPENAI)
    if "type" in first and ("data" in first or "kwargs" in first):
        return LANGCHAIN
    if _RECORD_KEYS & first.keys():
        return MEMSIDECAR
    fields = ", ".join([*first][:8]) or "no field"
    formats = ", ".join(FORMATS[1:])
    raise WrongFormat(f"the format is not recognised: the first object has {fields}; give --format, one of {formats}")


def _detect_messages(messages: list[Any], otherwise: str) -> str:
    given = [message for message in messages if isinstance(message, dict)]
    if any("type" in message and "role" not in message for message in given):
        return LANGCHAIN
    contents = [message.get("content") for message in given]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    if any(isinstance(block, dict) and block.get("type") in _ANTHROPIC_BLOCKS for block in blocks):
        return ANTHROPIC
    return otherwise


def _is_message(value: object, file_format: str) -> bool:
    """Tell whether an element of a file is a message, and not a conversation."""
    if file_format == JSONL:
        return True
    if not isinstance(value, dict) or file_format == CHATGPT:
        return False
    return "role" in value or (file_format == LANGCHAIN and "type" in value)
