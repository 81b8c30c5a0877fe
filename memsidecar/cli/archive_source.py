"""Sources of an import: the format of a file, and its records with the numbers of their lines."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from google.protobuf.json_format import Parse, ParseError

from memsidecar.cli.archive_file import STANDARD, FileProblem, read_lines
from memsidecar.cli.archive_options import FORMATS
from memsidecar.cli.chat_formats import read_anthropic, read_chatgpt, read_langchain, read_openai, read_plain
from memsidecar.cli.foreign_chat import DERIVED, ForeignChat, WrongFormat
from memsidecar.v1.session_pb2 import ArchiveRecord

AUTO, MEMSIDECAR, OPENAI, ANTHROPIC, LANGCHAIN, CHATGPT, JSONL = FORMATS
_READERS: dict[str, Callable[[Any], ForeignChat]] = {
    OPENAI: read_openai,
    ANTHROPIC: read_anthropic,
    LANGCHAIN: read_langchain,
    CHATGPT: read_chatgpt,
    JSONL: read_plain,
}
_RECORD_KEYS = {"message", "fact", "summary", "artifact", "document", "policy", "calibration", "session"}
_ANTHROPIC_BLOCKS = ("tool_use", "tool_result", "thinking", "redacted_thinking", "document")

Lines = Iterator[tuple[int, str]]
LocatedRecord = tuple[int, ArchiveRecord]


@dataclass(frozen=True)
class ArchiveSource:
    """A file to import. `user_id` and `session_id` are of conversations that do not name theirs.

    JSON lines are read line by line. Any other JSON is read as a whole.
    """

    name: str
    file_format: str = AUTO
    user_id: str = ""
    session_id: str = ""

    def records(self, source: BinaryIO) -> Iterator[LocatedRecord]:
        """Yield the records, each with the number of its line. Raises FileProblem."""
        if self.file_format not in FORMATS:
            raise FileProblem(f"the format {self.file_format!r} is not known: {', '.join(FORMATS)} are")
        lines = read_lines(source, self.name)
        first = next(lines, None)
        if first is None:
            return
        value = _parsed(first[1])
        if not isinstance(value, dict):
            yield from self._document(first[1] if value is None else value, lines)
            return
        file_format = detect(value) if self.file_format == AUTO else self.file_format
        if file_format in (MEMSIDECAR, JSONL):
            yield from self._lines(file_format, chain([first], lines))
        else:
            yield from self._conversations(file_format, chain([first], lines))

    def _document(self, begun: object, lines: Lines) -> Iterator[LocatedRecord]:
        """Yield the records of one JSON value, of which the first line is parsed already, or only read."""
        value = begun
        if isinstance(begun, str):
            text = "\n".join([begun, *(line for _, line in lines)])
            try:
                value = json.loads(text)
            except (ValueError, RecursionError) as error:
                raise FileProblem(f"{self.name}, line {getattr(error, 'lineno', 1)}: is not JSON") from None
        given = value if isinstance(value, list) else [value]
        file_format = detect(given) if self.file_format == AUTO else self.file_format
        if file_format == MEMSIDECAR:
            raise FileProblem(f"{self.name}: an archive of memsidecar has one record in each line")
        if not given or not _is_message(given[0], file_format):
            for at, conversation in enumerate(given):
                yield from self._conversation(file_format, 1, at, conversation)
        elif file_format == JSONL:
            for at, message in enumerate(given):
                yield from self._conversation(file_format, 1, at, message)
        else:
            yield from self._conversation(file_format, 1, 0, given)

    def _lines(self, file_format: str, lines: Lines) -> Iterator[LocatedRecord]:
        places: dict[str, int] = {}
        for number, line in lines:
            if file_format == MEMSIDECAR:
                yield number, self._record(number, line)
                continue
            for record in self._read(file_format, number, self._session_id(0), self._value(number, line)):
                session_id = record.session_id
                places[session_id] = places.get(session_id, -1) + 1
                # The place in the session is a part of a derived id: a file may have equal messages.
                if record.message.id.startswith(DERIVED):
                    record.message.id = f"{record.message.id}/{places[session_id]}"
                yield number, record

    def _conversations(self, file_format: str, lines: Lines) -> Iterator[LocatedRecord]:
        for at, (number, line) in enumerate(lines):
            yield from self._conversation(file_format, number, at, self._value(number, line))

    def _conversation(self, file_format: str, number: int, at: int, value: object) -> Iterator[LocatedRecord]:
        for record in self._read(file_format, number, self._session_id(at), value):
            yield number, record

    def _read(self, file_format: str, number: int, session_id: str, value: object) -> Sequence[ArchiveRecord]:
        """Return the records of a conversation, which is in RAM already."""
        try:
            return list(_READERS[file_format](value).records(session_id, self.user_id))
        except WrongFormat as error:
            raise FileProblem(f"{self.name}, line {number}: {error}") from None
        except UnicodeError:
            raise FileProblem(f"{self.name}, line {number}: has a text that is not valid Unicode") from None

    def _record(self, number: int, line: str) -> ArchiveRecord:
        try:
            return Parse(line, ArchiveRecord())
        except (ParseError, RecursionError, ValueError) as error:
            raise FileProblem(f"{self.name}, line {number}: is no record of an archive: {error}") from None

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


def _parsed(line: str) -> Any:
    """Return the JSON value of a line; None if it is not JSON."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def detect(value: object) -> str:
    """Return the format of a file by its first object. Raises FileProblem."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        raise FileProblem(f"the format is not recognised: give --format, one of {', '.join(FORMATS[1:])}")
    if "mapping" in first:
        return CHATGPT
    if "role" in first:
        return _detect_messages(value if isinstance(value, list) else [value], JSONL)
    if isinstance(first.get("messages"), list):
        return ANTHROPIC if "system" in first else _detect_messages(first["messages"], OPENAI)
    if "type" in first and ("data" in first or "kwargs" in first):
        return LANGCHAIN
    if _RECORD_KEYS & first.keys() and "role" not in first:
        return MEMSIDECAR
    raise FileProblem(f"the format is not recognised: give --format, one of {', '.join(FORMATS[1:])}")


def _detect_messages(messages: list[Any], otherwise: str) -> str:
    given = [message for message in messages if isinstance(message, dict)]
    if any("type" in message and "role" not in message for message in given):
        return LANGCHAIN
    contents = [message.get("content") for message in given]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    if any(isinstance(block, dict) and block.get("type") in _ANTHROPIC_BLOCKS for block in blocks):
        return ANTHROPIC
    is_list = otherwise == JSONL and len(messages) > 1
    return OPENAI if is_list else otherwise


def _is_message(value: object, file_format: str) -> bool:
    """Tell whether an element of a list is a message, and the list one conversation."""
    if not isinstance(value, dict) or file_format == CHATGPT:
        return False
    return "role" in value or (file_format == LANGCHAIN and "messages" not in value)
