"""Histories with questions whose evidence is known: our own technical support history, and LoCoMo from a file.

LoCoMo (Maharana et al., 2024) is licensed CC BY-NC 4.0, so it is read from a file and is not part of this repository.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.context.work import work
from memsidecar.domain.message import Role
from memsidecar.layers.episodic.index_batch import PendingRow, text_of
from memsidecar.v1.message_pb2 import Message, ToolCall

SUPPORT = Path(__file__).with_name("support.json")
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "tool": Role.TOOL}
_UNANSWERABLE = 5


@dataclass(frozen=True)
class LabelledQuestion:
    """A question, its kind, and the ids of the messages that answer it."""

    text: str
    evidence: frozenset[str]
    kind: str


@dataclass(frozen=True)
class History:
    """All messages of one user's conversations in order; `ids[n]` is the id of the message with the lsn n + 1."""

    ids: Sequence[str]
    rows: Sequence[PendingRow]
    questions: Sequence[LabelledQuestion]


@dataclass(frozen=True)
class _Message:
    id: str
    session: int
    role: Role
    time: datetime
    name: str
    text: str


def support(path: Path = SUPPORT) -> list[History]:
    data = json.loads(path.read_text())
    messages = [
        _Message(one["id"], number, _ROLES[one["role"]], datetime.fromisoformat(one["time"]), "", _whole_text(one))
        for number, session in enumerate(data["sessions"], 1)
        for one in session["messages"]
    ]
    questions = [
        LabelledQuestion(one["question"], frozenset(one["evidence"]), one["kind"]) for one in data["questions"]
    ]
    return [_history(messages, questions)]


def _whole_text(message: dict[str, Any]) -> str:
    """Return the text that the sidecar indexes for a message, including tool calls."""
    call = message.get("tool_call")
    calls = [ToolCall(name=call["name"], arguments_json=call["arguments_json"])] if call else []
    return text_of(Message(content=message["content"], tool_calls=calls))


def work_history() -> History:
    """Return the conversations of the work corpus, with the questions that messages answer; kinds end with the half."""
    corpus = work()
    messages = [
        _Message(one.id, number, Role(int(one.role)), one.create_time.ToDatetime(UTC), one.name, text_of(one))
        for number, session in enumerate(corpus.sessions, 1)
        if session.user == corpus.user
        for one in session.messages
        if text_of(one)
    ]
    known = {message.id for message in messages}
    questions = [LabelledQuestion(one.text, one.evidence, f"{one.kind}/{one.half}") for one in corpus.questions]
    return _history(messages, [question for question in questions if question.evidence <= known])


def locomo(path: Path) -> list[History]:
    """Return the conversations of the file, without unanswerable questions."""
    return [_conversation(sample) for sample in json.loads(path.read_text())]


def _conversation(sample: dict[str, Any]) -> History:
    messages = list(_turns(sample["conversation"]))
    known = {message.id for message in messages}
    questions = [
        LabelledQuestion(one["question"], frozenset(one.get("evidence", [])) & known, str(one["category"]))
        for one in sample["qa"]
        if one["category"] != _UNANSWERABLE
    ]
    return _history(messages, [question for question in questions if question.evidence])


def _turns(conversation: dict[str, Any]) -> Iterator[_Message]:
    number = 1
    while (turns := conversation.get(f"session_{number}")) is not None:
        start = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        for turn in turns:
            role = Role.USER if turn["speaker"] == conversation["speaker_a"] else Role.ASSISTANT
            caption = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            when, text = start.replace(tzinfo=UTC), turn["text"] + caption
            yield _Message(turn["dia_id"], number, role, when, turn["speaker"], text)
        number += 1


def _history(messages: Sequence[_Message], questions: Sequence[LabelledQuestion]) -> History:
    return History([message.id for message in messages], list(_pending_rows(messages)), questions)


def _pending_rows(messages: Sequence[_Message]) -> Iterator[PendingRow]:
    """Yield the rows in log order, one entry per message, in one partition."""
    sequences: dict[int, int] = {}
    for lsn, message in enumerate(messages, 1):
        sequence = sequences[message.session] = sequences.get(message.session, 0) + 1
        time_us = int(message.time.timestamp() * 1e6)
        yield PendingRow(
            lsn, sequence, lsn, 0, message.session, int(message.role), time_us, None, message.name, message.text
        )
