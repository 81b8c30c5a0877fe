"""Conversations about software work, documents, and questions whose answers are known: `work.json` beside this file.

One user talks to an assistant in 19 sessions over four months. A second user of the same namespace has two sessions.
Every question is asked in a new session. `answer` has one entry for each piece of the answer, and an entry lists
alternative strings: a context answers the question if one alternative of every piece is readable in it. A string of the
form YYYY-MM-DD is the date of the evidence. `half` splits the questions: `tune` for calibration, `check` for measuring.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from memsidecar.v1.knowledge_pb2 import Document
from memsidecar.v1.message_pb2 import ROLE_ASSISTANT, ROLE_TOOL, ROLE_USER, Message, ToolCall

WORK = Path(__file__).with_name("work.json")
HALVES = ("tune", "check")
_ROLES = {"user": ROLE_USER, "assistant": ROLE_ASSISTANT, "tool": ROLE_TOOL}


@dataclass(frozen=True)
class OffTopicQuestion:
    """A question or small talk that the corpus does not answer; `kind` is general or software."""

    id: str
    kind: str
    half: str
    text: str

    @property
    def session(self) -> str:
        return f"ask-{self.id}"


@dataclass(frozen=True)
class WorkQuestion:
    """A question with its evidence: ids of messages or of documents.

    `outdated` is the message whose statement the message `correction` replaces, and `outdated_answer` lists strings of
    that statement. They are empty for questions without a correction.
    """

    id: str
    kind: str
    half: str
    session: str
    text: str
    evidence: frozenset[str]
    answer: tuple[tuple[str, ...], ...]
    outdated: str
    outdated_answer: tuple[str, ...]
    correction: str

    def is_answered_by(self, text: str) -> bool:
        return all(contains_any(text, alternatives) for alternatives in self.answer)


@dataclass(frozen=True)
class WorkSession:
    id: str
    user: str
    messages: Sequence[Message]


@dataclass(frozen=True)
class OwnedDocument:
    """A document of one user, or of the namespace if `user` is empty."""

    user: str
    document: Document


@dataclass(frozen=True)
class WorkCorpus:
    """The whole corpus. `asked_at` is the time of every question, after the last session."""

    namespace: str
    user: str
    asked_at: datetime
    sessions: Sequence[WorkSession]
    documents: Sequence[OwnedDocument]
    questions: Sequence[WorkQuestion]
    off_topic: Sequence[OffTopicQuestion]


def plain(text: str) -> str:
    """Return the text in lower case with single spaces."""
    return " ".join(text.casefold().split())


def contains_any(text: str, alternatives: Sequence[str]) -> bool:
    found = plain(text)
    return any(plain(alternative) in found for alternative in alternatives)


def work(path: Path = WORK) -> WorkCorpus:
    data = json.loads(path.read_text(encoding="utf-8"))
    return WorkCorpus(
        data["namespace"],
        data["user"],
        datetime.fromisoformat(data["asked_at"]),
        [WorkSession(row["id"], row["user"], list(map(_message, row["messages"]))) for row in data["sessions"]],
        [OwnedDocument(row["user"], _document(row)) for row in data["documents"]],
        list(map(_question, data["questions"])),
        [OffTopicQuestion(row["id"], row["kind"], row["half"], row["text"]) for row in data["off_topic"]],
    )


def _message(row: dict[str, Any]) -> Message:
    message = Message(
        id=row["id"],
        role=_ROLES[row["role"]],
        content=row["content"],
        tool_calls=[ToolCall(**call) for call in row.get("tool_calls", [])],
        tool_call_id=row.get("tool_call_id", ""),
    )
    message.create_time.FromJsonString(row["time"])
    return message


def _document(row: dict[str, Any]) -> Document:
    document = Document(id=row["id"], title=row["title"], source=row["source"], text=row["text"])
    document.create_time.FromJsonString(row["time"])
    return document


def _question(row: dict[str, Any]) -> WorkQuestion:
    return WorkQuestion(
        row["id"],
        row["kind"],
        row["half"],
        row["session"],
        row["text"],
        frozenset(row["evidence"]),
        tuple(tuple(alternatives) for alternatives in row["answer"]),
        row.get("outdated", ""),
        tuple(row.get("outdated_answer", [])),
        row.get("correction", ""),
    )
