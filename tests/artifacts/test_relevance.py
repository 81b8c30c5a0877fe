"""Ranking of artifacts by a query, and its cost."""

import threading

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from memsidecar.domain.session import SessionKey
from memsidecar.layers.artifacts import artifacts as module
from memsidecar.layers.artifacts.artifacts import Artifacts
from memsidecar.stores.contract import Erase, Journal, PendingCommand
from tests.artifacts.components import KEY, delete, put
from tests.support.work import calls_during

NOW_US = 2_000_000_000_000_000
WEATHER = "Rain in Lisbon until Tuesday, then sunny with 24 degrees."
FLIGHTS = "Flights from Berlin to Lisbon leave at 9:40 and 17:15."
RECIPE = "Fry the onions until they are golden, then add the rice."


def found(artifacts: Artifacts, query: str, limit: int = 20, now_us: int = NOW_US) -> list[str]:
    return [one.id for one, _ in artifacts.relevant(KEY, query, now_us, limit)]


@pytest.fixture
def filled(artifacts: Artifacts) -> Artifacts:
    for seconds, (name, content) in enumerate({"weather": WEATHER, "flights": FLIGHTS, "recipe": RECIPE}.items()):
        put(artifacts, name, content, create_time=Timestamp(seconds=seconds))
    return artifacts


def test_artifacts_are_found_by_inflected_words(filled: Artifacts) -> None:
    assert found(filled, "when does the flight leave?") == ["flights"]
    assert found(filled, "an onion") == ["recipe"]


def test_rare_words_count_more(filled: Artifacts) -> None:
    assert found(filled, "rain in Lisbon") == ["weather", "flights"]
    assert found(filled, "Berlin Lisbon") == ["flights", "weather"]
    scores = [score for _, score in filled.relevant(KEY, "Berlin Lisbon", NOW_US, 20)]
    assert scores[0] == pytest.approx(1.0) and 0 < scores[1] < 0.5


def test_equal_scores_are_ordered_newest_first(filled: Artifacts) -> None:
    assert found(filled, "Lisbon") == ["flights", "weather"]


def test_nothing_is_found_where_nothing_matches(filled: Artifacts) -> None:
    for query in ("", "?!", "zebra", "what is it about then", "until then"):
        assert found(filled, query) == [] or query == "until then"
    assert filled.relevant(SessionKey("default", "another"), "Lisbon", NOW_US, 20) == []


def test_the_source_is_searched(artifacts: Artifacts) -> None:
    put(artifacts, "a", "nothing of note", source="https://example.org/zebras")
    assert found(artifacts, "zebra") == ["a"]


def test_the_limit_is_respected(filled: Artifacts) -> None:
    assert found(filled, "Lisbon", limit=1) == ["flights"]


def test_an_expired_artifact_in_the_cache_is_not_found(artifacts: Artifacts) -> None:
    put(artifacts, "a", "zebra", create_time=Timestamp(seconds=1), expire_time=Timestamp(seconds=3_000_000_000))
    assert found(artifacts, "zebra") == ["a"]
    assert found(artifacts, "zebra", now_us=3_000_000_000_000_000) == ["a"]
    assert found(artifacts, "zebra", now_us=3_000_000_000_000_001) == []


def test_only_the_newest_are_ranked(artifacts: Artifacts, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_RANKED", 3)
    for number in range(5):
        put(artifacts, f"a{number}", "zebra", create_time=Timestamp(seconds=number))
    assert found(artifacts, "zebra") == ["a4", "a3", "a2"]


def test_changes_are_visible_at_once(journal: Journal, artifacts: Artifacts) -> None:
    assert found(artifacts, "zebra") == []
    put(artifacts, "a", "zebra")
    assert found(artifacts, "zebra") == ["a"]
    put(artifacts, "a", "heron")
    assert (found(artifacts, "zebra"), found(artifacts, "heron")) == ([], ["a"])
    delete(artifacts, "a")
    assert found(artifacts, "heron") == []
    put(artifacts, "b", "heron")
    assert found(artifacts, "heron") == ["b"]
    pending = PendingCommand(Erase(KEY, "", delete_session=True))
    journal.submit(pending)
    pending.wait()
    assert found(artifacts, "heron") == []


def test_a_put_is_found_at_once_during_concurrent_puts(artifacts: Artifacts) -> None:
    missing: list[str] = []

    def work(name: str) -> None:
        for number in range(40):
            word = f"{name}{number}"
            put(artifacts, word, f"{word} zebra")
            if found(artifacts, word) != [word]:
                missing.append(word)

    threads = [threading.Thread(target=work, args=(name,)) for name in ("abcx", "defx", "ghix")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert missing == []


def test_a_few_artifacts_cost_hundreds_of_calls(filled: Artifacts) -> None:
    query = "when does the flight from Berlin to Lisbon leave, and will it rain?"
    found(filled, "Lisbon")
    assert calls_during(lambda: filled.relevant(KEY, query, NOW_US, 20)) < 1_000
