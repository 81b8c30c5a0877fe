"""The benchmarks of retrieval: their data is consistent, and their parts run at tiny sizes."""

import json
from collections import Counter
from pathlib import Path

import pytest

from benchmarks import report, requests
from benchmarks.retrieval import corpus, quality, variants
from benchmarks.retrieval.bare import LIMIT, BareLance, Chroma
from benchmarks.retrieval.histories import SUPPORT, support
from benchmarks.retrieval.recall import DEPTHS, IndexedHistory, Variant, difference, measured, recall_of, weighted
from benchmarks.retrieval.searching import load, running, stub_of
from benchmarks.retrieval.soak import Sample, megabytes_a_minute
from benchmarks.retrieval.watching import IndexFiles, until_indexed
from benchmarks.servers import LOAD, Shape
from memsidecar.embedding.static import StaticEmbedder
from memsidecar.v1 import memory_pb2 as pb

# -- the support history


def test_every_message_of_the_support_history_has_an_id_of_its_own() -> None:
    messages = [one for session in json.loads(SUPPORT.read_text())["sessions"] for one in session["messages"]]
    assert len(messages) >= 250
    assert [name for name, count in Counter(one["id"] for one in messages).items() if count > 1] == []
    assert all(message["content"] or message.get("tool_call") for message in messages)


def test_the_evidence_of_every_question_is_there() -> None:
    (history,) = support()
    known = set(history.ids)
    assert len(history.questions) >= 60
    assert all(question.evidence and question.evidence <= known for question in history.questions)
    assert len({question.text for question in history.questions}) == len(history.questions)


def test_questions_by_meaning_do_not_repeat_what_they_ask_for() -> None:
    """A question that quotes its answer measures nothing: less than two thirds of its words stand in any evidence."""
    (history,) = support()
    texts = {
        name: set(pending.text.casefold().split()) for name, pending in zip(history.ids, history.rows, strict=True)
    }
    for question in history.questions:
        if question.kind == "meaning":
            words = set(question.text.casefold().strip("?.").split())
            assert all(len(words & texts[one]) * 3 < len(words) * 2 for one in question.evidence), question.text


def test_tool_results_follow_calls() -> None:
    for session in json.loads(SUPPORT.read_text())["sessions"]:
        for before, after in zip(session["messages"], session["messages"][1:], strict=False):
            assert ("tool_call" in before) == (after["role"] == "tool"), after["id"]


# -- recall


def test_recall_is_the_share_of_the_evidence_that_is_found() -> None:
    (history,) = support()
    indexed_history = IndexedHistory.of(history, StaticEmbedder())
    everything = recall_of([indexed_history], lambda _indexed_history, _query, question: sorted(question.evidence))
    nothing = recall_of([indexed_history], lambda *_: [])
    assert all(set(everything[depth]) == {1.0} and set(nothing[depth]) == {0.0} for depth in DEPTHS)


def test_the_ranking_finds_most_of_the_evidence_of_the_support_history() -> None:
    """The bound is well below measured values, so that only a defect fails."""
    (history,) = support()
    recall = recall_of([IndexedHistory.of(history, StaticEmbedder())], weighted())
    assert sum(recall[20]) / len(recall[20]) > 0.7


def test_an_altered_ranking_leaves_the_real_one_as_it_was() -> None:
    before, *_, after = measured(support(), [variants.default(), *_altered(), variants.default()], StaticEmbedder())
    assert before == after


def _altered() -> list[Variant]:
    return [one for some in variants.everything().values() for one in some if one.needs_own_partitions]


def test_a_difference_has_an_error() -> None:
    assert difference([1.0, 0.0], [1.0, 0.0]) == (0.0, 0.0)
    more, error = difference([1.0, 1.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0])
    assert more == 0.25 and error == pytest.approx(0.25)


def test_the_table_has_a_row_for_each_ranking() -> None:
    sections = {"": [variants.default()], "Words": [Variant("again", weighted())]}
    text = quality.table({"support": support()}, sections)
    assert "| default |" in text and "| **Words** | |" in text
    assert "(+0.0 \u00b1 0.0)" in text


def test_the_table_goes_between_the_markers_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, own = tmp_path / "retrieval.md", tmp_path / "ablations.md"
    monkeypatch.setattr(quality, "PAGES", (page, own))
    quality.write("first")
    assert own.read_text().endswith("first\n")
    page.write_text(f"before\n{quality.BEGIN}\nold\n{quality.END}\nafter\n")
    quality.write("second")
    assert page.read_text() == f"before\n{quality.BEGIN}\nsecond\n{quality.END}\nafter\n"
    assert own.read_text().endswith("first\n")


# -- the corpus


def test_the_corpus_is_always_the_same_and_has_the_users_that_are_measured() -> None:
    turns = corpus.turns(1_000)
    assert turns == corpus.turns(1_000)
    owners = Counter(turn.user for turn in turns)
    assert owners[corpus.SOME] == 50 and owners[corpus.MOST] == 950
    assert all(owners[user] == corpus.CROWD_SESSION for user in corpus.CROWD)
    assert len({turn.id for turn in turns}) == len(turns)
    assert all(corpus.SHORTEST <= len(turn.text.split()) <= corpus.LONGEST for turn in turns)


def test_batches_hold_every_message_once() -> None:
    turns = corpus.turns(300)
    sent = [message.id for batch in corpus.batches(turns) for message in batch.messages]
    assert sent == [turn.id for turn in turns]


# -- the sides


def test_the_bare_sides_find_only_what_is_the_users(tmp_path: Path) -> None:
    turns, questions = corpus.turns(400), corpus.queries(3)
    embedder = StaticEmbedder()
    rows, vectors = embedder.embed([turn.text for turn in turns]), embedder.embed(questions)
    sides = [BareLance(tmp_path / "lance", turns, rows)]
    for side in sides:
        found = [side.search(corpus.MOST, text, vector) for text, vector in zip(questions, vectors, strict=True)]
        assert all(LIMIT <= count <= 2 * LIMIT for count in found)
        assert side.search(corpus.CROWD[0], questions[0], vectors[0]) <= corpus.CROWD_SESSION


@pytest.mark.skipif(not Chroma.is_installed(), reason="chromadb is an extra of the benchmarks")
def test_chroma_finds_as_many_as_are_asked_for(tmp_path: Path) -> None:
    turns, embedder = corpus.turns(400), StaticEmbedder()
    side = Chroma(tmp_path, turns, embedder.embed([turn.text for turn in turns]))
    assert side.search(corpus.MOST, "", embedder.embed(corpus.queries(1))[0]) == LIMIT


@pytest.mark.slow
def test_the_index_of_a_running_sidecar_can_be_watched(tmp_path: Path) -> None:
    turns = corpus.turns(200)
    files = IndexFiles.of(tmp_path / "data")
    assert files.rows() == 0
    with running(tmp_path) as server:
        load(server, turns)
        until_indexed(files, len(turns))
        assert files.rows() == len(turns)
        assert files.fragments() >= 1 and files.versions() >= 1
        newest = files.newest_us(0)
        assert newest > 0 and files.newest_us(newest) == newest
        with stub_of(server) as stub:
            request = pb.SearchRequest(namespace=corpus.NAMESPACE, user_id=corpus.MOST, query=turns[0].text)
            assert stub.Search(request, timeout=30).hits
        assert server.peak_mb >= server.resident_mb > 0
        if LOAD.exists():
            path = requests.write(tmp_path / "searches", corpus.searches(corpus.MOST, corpus.queries(20), LIMIT))
            figures = server.load("Search", path, Shape(4, 1, 1.0, rate=20), repeat=True)
            assert 15 <= figures.calls <= 21
    # Compared when compaction is over: a copy during compaction has rows twice.
    assert 0 < files.live_bytes() <= files.disk_bytes()


# -- the report


def test_the_slope_of_a_soak_leaves_out_its_beginning() -> None:
    samples = [Sample(minute, 100 + 50 * min(minute, 2) + 0.5 * minute) for minute in range(11)]
    assert megabytes_a_minute(samples, 2) == pytest.approx(0.5)


def test_the_report_shows_retrieval_where_it_was_measured() -> None:
    one = {"name": "Search", "value": 0.2, "target": 0.35, "at_most": True, "unit": "x", "holds": True}
    machine = {"cores": 2, "cpu": "x", "python": "3.11"}
    calls = {"machine": machine, "grpcio": "1", "results": [one]}
    assert "Retrieval" not in report.table(calls)
    both = report.table(calls | {"retrieval": {"versions": {"lancedb": "0.40.0"}, "results": [one]}})
    assert "Retrieval, beside lancedb 0.40.0:" in both and both.count("| Search | 0.20 x | at most 0.35 |") == 2
