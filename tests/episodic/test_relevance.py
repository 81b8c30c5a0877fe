"""The calibrated relevance of hits, and that the stored calibration still fits the labelled questions."""

from collections.abc import Sequence

import pytest

from benchmarks.retrieval import calibration
from benchmarks.retrieval.calibration import ANSWERED, OFF_TOPIC, Corpus, Sample
from benchmarks.retrieval.histories import support, work_history
from benchmarks.retrieval.recall import EVERYTHING, IndexedHistory, analyzed
from memsidecar.embedding.contract import Embedders
from memsidecar.embedding.static import SUPPORTED_DIMENSIONS, StaticEmbedder
from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.layers.episodic.query import SearchQuery, Weights
from memsidecar.layers.episodic.ranking import Ranking
from memsidecar.layers.episodic.relevance import KEYWORDS_ONLY, QueryFeatures, calibrations, is_small_talk
from memsidecar.layers.text_analysis import is_other_language, tokenize
from memsidecar.v1 import memory_pb2 as pb
from tests.episodic.components import (
    HYBRID,
    KEYWORD,
    MODES,
    NO_RAM,
    STATIC,
    ToyEmbedder,
    ToyEmbedders,
    episodic_client,
    messages_of,
)

TEXTS = (
    "The staging database listens on port 5544.",
    "We deploy on Thursdays, after the stand-up.",
    "My sister plays the violin in an orchestra.",
    "The nightly backup of the billing service takes forty minutes.",
)
ANSWERABLE, UNANSWERABLE = "On which port is the staging database?", "How tall is Mount Everest?"
THRESHOLD = calibration.THRESHOLD
DAY_US = 24 * 3600 * 1_000_000


@pytest.fixture(scope="module")
def samples() -> Sequence[Sample]:
    corpora = [Corpus("work", [work_history()]), Corpus("support", support())]
    return list(calibration.ask_all(corpora, StaticEmbedder(), pieces=()))


def asked(samples: Sequence[Sample], kind: str) -> list[Sample]:
    return [sample for sample in samples if sample.kind == kind and sample.phrasing == "question"]


def test_the_stored_calibration_separates_answered_from_off_topic_questions(samples: Sequence[Sample]) -> None:
    chance = calibration.by_calibration(calibrations())
    assert calibration.share_over_threshold(asked(samples, ANSWERED), chance) >= 0.96
    assert calibration.share_over_threshold(asked(samples, OFF_TOPIC), chance) <= 0.08


def test_a_new_fit_keeps_the_order_of_the_stored_calibrations() -> None:
    stored = {"onnx/a/3": {"size": 1.0}, "": {"size": 1.0}, "onnx/b/3": {"size": 1.0}, "static/gone": {"size": 1.0}}
    fitted = {"": {"size": 2.0}, "static/64": {"size": 2.0}, "onnx/b/3": {"size": 2.0}}
    found = calibration.refitted(stored, fitted)
    assert list(found) == ["onnx/a/3", "", "onnx/b/3", "static/64"]
    assert [each["size"] for each in found.values()] == [1.0, 2.0, 2.0, 2.0]


def test_the_stored_probabilities_are_the_shares_of_answered_questions(samples: Sequence[Sample]) -> None:
    assert calibration.expected_calibration_error(samples, calibration.by_calibration(calibrations())) <= 0.05


def test_every_embedder_of_the_package_is_calibrated() -> None:
    identities = {StaticEmbedder(dimensions).identity for dimensions in SUPPORTED_DIMENSIONS}
    assert {name for name in calibrations() if not name.startswith("onnx/")} == {KEYWORDS_ONLY, *identities}
    assert all(set(each) <= {"intercept", *QueryFeatures._fields} for each in calibrations().values())


def hits_of(
    query: str,
    texts: Sequence[str] = TEXTS,
    embedders: Embedders = STATIC,
    limits: EpisodicLimits | None = None,
    mode: pb.SearchMode = HYBRID,
) -> Sequence[pb.SearchHit]:
    with episodic_client(embedders=embedders, limits=limits) as memory:
        memory.add_all(messages_of(*texts))
        memory.index()
        return memory.search(query, session_id="s", mode=mode).hits


def best(query: str, **options: object) -> float:
    return max((hit.relevance for hit in hits_of(query, **options)), default=0.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("limits", [None, NO_RAM], ids=["in RAM", "by candidates"])
@pytest.mark.parametrize("mode", MODES)
def test_only_an_answerable_question_has_relevant_hits(mode: pb.SearchMode, limits: EpisodicLimits | None) -> None:
    assert best(ANSWERABLE, mode=mode, limits=limits) > THRESHOLD > best(UNANSWERABLE, mode=mode, limits=limits)


def test_frequent_terms_of_the_query_among_candidates_are_no_frequent_terms_of_the_memory() -> None:
    texts = [*TEXTS, *(f"The staging database was restarted, attempt {number}." for number in range(300))]
    assert best("staging database", texts=texts, limits=NO_RAM) > THRESHOLD


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("第{}次会议:我们把数据库迁移到新的集群,并且每周检查一次备份的恢复时间。", "数据库备份多久检查一次?"),
        (
            "Meeting {}: we move the database, and check the restore time of the backup weekly.",
            "Do we check the backup?",
        ),
    ],
)
def test_a_memory_may_be_all_about_one_subject(text: str, query: str) -> None:
    texts = [text.format(number) for number in range(60)]
    assert best(query, texts=texts) > THRESHOLD > best("How tall is Mount Everest?", texts=texts)
    assert best("珠穆朗玛峰有多高?", texts=texts) < THRESHOLD


@pytest.mark.parametrize("mode", MODES)
def test_relevance_has_the_order_of_the_scores(mode: pb.SearchMode) -> None:
    relevances = [hit.relevance for hit in hits_of("staging database backup", mode=mode)]
    assert len(relevances) > 1
    assert relevances == sorted(relevances, reverse=True)
    assert all(0 <= relevance <= 1 for relevance in relevances)


def test_an_embedder_without_calibration_is_judged_by_keywords() -> None:
    toy = ToyEmbedders(ToyEmbedder())
    assert best(ANSWERABLE, embedders=toy) == pytest.approx(best(ANSWERABLE, mode=KEYWORD), rel=1e-4)
    assert best(UNANSWERABLE, embedders=toy) < THRESHOLD


def test_one_long_message_does_not_hide_the_others() -> None:
    log = "\n".join(f"worker {number} processed batch {number * 7} in {number % 90} ms" for number in range(2_000))
    texts = [*TEXTS, "We decided to use Kafka for the order events."]
    for query in (ANSWERABLE, "What did we decide about messaging?"):
        assert best(query, texts=[*texts, log]) > THRESHOLD


@pytest.mark.parametrize("query", ["Thanks!", "ok great", "never mind", "\N{THUMBS UP SIGN}", "?", "yes"])
def test_small_talk_is_about_nothing(query: str) -> None:
    assert best(query) < THRESHOLD


def test_a_question_about_its_author_finds_an_answer_in_other_words() -> None:
    hits = hits_of("Where do I live?", texts=[*TEXTS * 5, "I moved to Lisbon.", "How is the weather?"])
    assert max(hits, key=lambda hit: hit.relevance).relevance >= THRESHOLD
    assert "I moved to Lisbon." in [hit.message.content for hit in hits if hit.relevance >= THRESHOLD]


@pytest.mark.parametrize("query", ["Where do I live?", "What do I do?", "where does my sister play", "PAY-1042"])
def test_a_question_about_its_author_or_an_identifier_needs_no_other_topic(query: str) -> None:
    texts = [*TEXTS, "I live in Porto.", "What I do is paint bridges.", "The ticket is PAY-1042."]
    assert best(query, texts=texts) > THRESHOLD


@pytest.mark.parametrize("weights", [Weights(recency=3.0), Weights(recency=3.0, session=0.0)])
def test_recency_has_no_part_in_relevance(weights: Weights) -> None:
    history = work_history()
    indexed = IndexedHistory.of(history, StaticEmbedder())
    query = analyzed(indexed.partition, "How do I reach the staging database?", StaticEmbedder())
    found = []
    for now_us in (0, max(row.time_us for row in history.rows)):
        asked = SearchQuery("How do I reach the staging database?", weights=weights, now_us=now_us, half_life_us=DAY_US)
        hits = Ranking([indexed.partition], query, asked, EVERYTHING).best(len(history.rows), 0.0)
        found.append({hit.lsn: hit.relevance for hit in hits})
    without, with_recency = found
    assert without.items() <= with_recency.items()
    assert all(0 <= relevance <= 1 for relevance in with_recency.values())


@pytest.mark.parametrize("query", ["Option B or option C?", "plan b or c", "pro con list", "Die Hard man"])
def test_a_short_english_query_is_in_no_other_language(query: str) -> None:
    assert not is_other_language(tokenize(query))


@pytest.mark.parametrize("text", ["hi who am i", "hello, where was I", "ok, when is it", "Nice", "Thanks?"])
def test_a_question_after_small_talk_is_none(text: str) -> None:
    assert not is_small_talk(text, tokenize(text))


@pytest.mark.parametrize(
    "text", ["Thanks!", "ok thanks", "Nice, thank you so much!", "Vielen Dank für die Hilfe", "好的，谢谢"]
)
def test_thanks_greetings_and_agreement_are_small_talk(text: str) -> None:
    assert is_small_talk(text, tokenize(text))
