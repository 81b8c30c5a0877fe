"""Measure what contexts show, without a language model: `python -m benchmarks.context.quality [--half tune|check]`.

A sidecar gets the corpus of `work.json`. Each question is asked in a new session in two ways: added as the newest user
message, with a context built without `query`; and in an empty session, with `query` and `append_query`. A question is
answered if its answer is readable in the context without the question itself. `--details` lists every question that is
not answered, with the receipt of its evidence. `--show ID` prints one context.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc

from benchmarks.context.work import HALVES, OffTopicQuestion, WorkCorpus, WorkQuestion, contains_any, work
from benchmarks.retrieval.searching import running
from benchmarks.retrieval.watching import IndexFiles, until_indexed, until_quiet
from memsidecar.v1 import (
    context_pb2,
    knowledge_pb2,
    knowledge_pb2_grpc,
    memory_pb2,
    memory_pb2_grpc,
    session_pb2,
    session_pb2_grpc,
)
from memsidecar.v1.context_pb2 import SECTION_DOCUMENTS, SECTION_EPISODIC, BuildContextRequest, BuildContextResponse
from memsidecar.v1.message_pb2 import ROLE_USER, Message

BUDGETS = (800, 2_000, 8_000)
WAYS = ("message", "query")
_CALL_SECONDS = 60.0

AnyQuestion = WorkQuestion | OffTopicQuestion


@dataclass(frozen=True)
class Outcome:
    """A question, the budget, the way of asking, and the context."""

    question: AnyQuestion
    budget: int
    way: str
    context: BuildContextResponse

    @property
    def text(self) -> str:
        """Return the context without the question."""
        return "\n".join(message.content for message in self.context.messages if message.content != self.question.text)

    @property
    def retrieved(self) -> list[context_pb2.ItemReceipt]:
        """Return the included earlier messages and document chunks."""
        return [item for item in self._items(SECTION_EPISODIC, SECTION_DOCUMENTS) if item.included]

    @property
    def is_answered(self) -> bool:
        return isinstance(self.question, WorkQuestion) and self.question.is_answered_by(self.text)

    @property
    def is_outdated(self) -> bool:
        """Tell whether the context shows the outdated statement and not the current one."""
        if not isinstance(self.question, WorkQuestion) or not self.question.outdated or self.is_answered:
            return False
        shown = {name for item in self.retrieved for name in (item.id, *item.message_ids)}
        return self.question.outdated in shown or contains_any(self.text, self.question.outdated_answer)

    def evidence(self) -> str:
        """Return the receipt of each piece of evidence; a piece that is not listed was not among the candidates."""
        assert isinstance(self.question, WorkQuestion)
        lines = []
        for name in sorted(self.question.evidence):
            items = [item for item in self._items(SECTION_EPISODIC, SECTION_DOCUMENTS) if _is_of(item, name)]
            reasons = [f"{_reason(item)} {item.score:.2f} ({item.tokens} tokens)" for item in items]
            lines.append(f"{name}: {', '.join(reasons) or 'no candidate'}")
        return "; ".join(lines)

    def _items(self, *sections: int) -> Iterator[context_pb2.ItemReceipt]:
        for section in self.context.receipt.sections:
            if section.section in sections:
                yield from section.items


def _is_of(item: context_pb2.ItemReceipt, name: str) -> bool:
    """Tell whether the item contains the message, or is a chunk of the document."""
    return name in item.message_ids or item.id == name or item.id.startswith(f"{name}#")


def _reason(item: context_pb2.ItemReceipt) -> str:
    return context_pb2.Inclusion.Name(item.reason).removeprefix("INCLUSION_")


class WorkSidecar:
    """A client of a running sidecar that has the corpus."""

    def __init__(self, channel: grpc.Channel, corpus: WorkCorpus) -> None:
        self._corpus = corpus
        self._memory: Any = memory_pb2_grpc.MemoryServiceStub(channel)  # type: ignore[no-untyped-call]
        self._knowledge: Any = knowledge_pb2_grpc.KnowledgeServiceStub(channel)  # type: ignore[no-untyped-call]
        self._sessions: Any = session_pb2_grpc.SessionServiceStub(channel)  # type: ignore[no-untyped-call]

    def fill(self) -> int:
        """Add sessions and documents, and return the number of rows that the index gets at least."""
        for session in self._corpus.sessions:
            request = memory_pb2.AddBatchRequest(
                namespace=self._corpus.namespace,
                user_id=session.user,
                session_id=session.id,
                messages=session.messages,
            )
            self._memory.AddBatch(request, timeout=_CALL_SECONDS)
        chunks = 0
        for owned in self._corpus.documents:
            put = knowledge_pb2.PutDocumentRequest(
                namespace=self._corpus.namespace, user_id=owned.user, document=owned.document
            )
            chunks += self._knowledge.PutDocument(put, timeout=_CALL_SECONDS).document.chunk_count
        return chunks + sum(bool(message.content) for session in self._corpus.sessions for message in session.messages)

    def ask(self, question: AnyQuestion, budgets: Sequence[int]) -> Iterator[Outcome]:
        """Build the contexts of a question, and erase the session, so that no other question finds it."""
        for budget in budgets:
            request = self._request(f"{question.session}-query", budget)
            request.query, request.append_query = question.text, True
            yield Outcome(question, budget, "query", self._memory.BuildContext(request, timeout=_CALL_SECONDS))
        message = Message(role=ROLE_USER, content=question.text)
        message.create_time.FromDatetime(self._corpus.asked_at)
        place: dict[str, Any] = {
            "namespace": self._corpus.namespace,
            "user_id": self._corpus.user,
            "session_id": question.session,
        }
        self._memory.Add(memory_pb2.AddRequest(**place, message=message), timeout=_CALL_SECONDS)
        for budget in budgets:
            request = self._request(question.session, budget)
            yield Outcome(question, budget, "message", self._memory.BuildContext(request, timeout=_CALL_SECONDS))
        self._sessions.DeleteSession(session_pb2.DeleteSessionRequest(**place), timeout=_CALL_SECONDS)

    def _request(self, session: str, budget: int) -> BuildContextRequest:
        return BuildContextRequest(
            namespace=self._corpus.namespace,
            user_id=self._corpus.user,
            session_id=session,
            max_tokens=budget,
            debug=True,
        )


@contextmanager
def filled_sidecar(corpus: WorkCorpus) -> Iterator[WorkSidecar]:
    """Run a sidecar on a temporary data directory, and yield it when background tasks have processed the corpus."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="memsidecar-bench-")))
        server = opened.enter_context(running(folder))
        sidecar = WorkSidecar(opened.enter_context(grpc.insecure_channel(server.address)), corpus)
        until_indexed(IndexFiles.of(folder / "data"), sidecar.fill())
        until_quiet(server)
        yield sidecar


def table(outcomes: Sequence[Outcome]) -> str:
    """Return the counts of each kind of question, by budget and way of asking."""
    columns = [(budget, way) for budget in sorted({outcome.budget for outcome in outcomes}) for way in WAYS]
    lines = [_row("", "of", [f"{budget:,} {way}" for budget, way in columns])]

    def count(name: str, asked: Sequence[Outcome], attribute: str) -> None:
        cells = [[one for one in asked if (one.budget, one.way) == column] for column in columns]
        numbers = [str(sum(bool(getattr(one, attribute)) for one in cell)) for cell in cells]
        lines.append(_row(name, str(len(cells[0])), numbers))

    answerable = [outcome for outcome in outcomes if isinstance(outcome.question, WorkQuestion)]
    count("answer readable", answerable, "is_answered")
    for kind in dict.fromkeys(outcome.question.kind for outcome in answerable):
        count(f"  {kind}", [outcome for outcome in answerable if outcome.question.kind == kind], "is_answered")
    corrected = [one for one in answerable if isinstance(one.question, WorkQuestion) and one.question.outdated]
    count("outdated alone", corrected, "is_outdated")
    off_topic = [outcome for outcome in outcomes if isinstance(outcome.question, OffTopicQuestion)]
    count("off-topic, memory", off_topic, "retrieved")
    for kind in dict.fromkeys(outcome.question.kind for outcome in off_topic):
        count(f"  {kind}", [outcome for outcome in off_topic if outcome.question.kind == kind], "retrieved")
    return "\n".join(lines)


def _row(name: str, count: str, cells: Sequence[str]) -> str:
    return f"{name:<18}{count:>4}" + "".join(f"{cell:>15}" for cell in cells)


def details(outcomes: Sequence[Outcome]) -> str:
    """Return a line for each context without the answer, with an outdated statement, or with needless memory."""
    lines = []
    for outcome in outcomes:
        question, where = outcome.question, f"{outcome.budget} {outcome.way}"
        if isinstance(question, OffTopicQuestion):
            if items := outcome.retrieved:
                scores = ", ".join(f"{item.id} {item.score:.2f}" for item in items)
                lines.append(f"{question.id} {where}: needless: {scores} [{question.text}]")
        elif not outcome.is_answered:
            failure = "outdated alone" if outcome.is_outdated else "unanswered"
            lines.append(f"{question.id} ({question.kind}) {where}: {failure}: {outcome.evidence()}")
    return "\n".join(lines)


def shown(outcome: Outcome) -> str:
    """Return the messages of the context and the retrieved items of its receipt."""
    lines = [f"--- {outcome.question.id}, {outcome.way}, {outcome.context.total_tokens} of {outcome.budget} tokens ---"]
    for message in outcome.context.messages:
        lines.append(f"[{'memory' if message.synthetic else 'message'}, role {message.role}]\n{message.content}\n")
    lines += [f"{item.id}: {_reason(item)} {item.score:.2f}, {item.tokens} tokens" for item in outcome.retrieved]
    if isinstance(outcome.question, WorkQuestion):
        lines.append(f"answered: {outcome.is_answered}; outdated alone: {outcome.is_outdated}")
        lines.append(f"evidence: {outcome.evidence()}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--half", choices=HALVES, help="only the questions of this half")
    parser.add_argument("--budget", type=int, metavar="N", help="only this budget")
    parser.add_argument("--details", action="store_true", help="list the contexts that fail, with the reasons")
    parser.add_argument("--show", metavar="ID", help="print the contexts of this question")
    options = parser.parse_args()
    corpus = work()
    asked: list[AnyQuestion] = [*corpus.questions, *corpus.off_topic]
    asked = [question for question in asked if options.half in (None, question.half)]
    if options.show:
        asked = [question for question in asked if question.id == options.show]
        if not asked:
            sys.exit(f"there is no question {options.show}")
    budgets = [options.budget] if options.budget else BUDGETS
    with filled_sidecar(corpus) as sidecar:
        outcomes = [outcome for question in asked for outcome in sidecar.ask(question, budgets)]
    if options.show:
        print("\n\n".join(map(shown, outcomes)))
        return
    answerable = sum(isinstance(question, WorkQuestion) for question in asked)
    print(f"contexts about software work, {options.half or 'both halves'}: {answerable} questions, ", end="")
    print(f"{len(asked) - answerable} off-topic; tokens in all and way of asking:")
    print(table(outcomes))
    if options.details:
        print(details(outcomes))


if __name__ == "__main__":
    main()
