"""LanceDB compared with the reference index in RAM."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from memsidecar.layers.episodic import EpisodicLimits
from memsidecar.stores.contract import Owner
from memsidecar.stores.lance.index import LanceIndex
from memsidecar.stores.sqlite.journal import SqliteJournal
from memsidecar.v1.message_pb2 import SCOPE_NAMESPACE, SCOPE_SESSION, SCOPE_USER, Scope
from tests.conformance.builders import put
from tests.episodic.components import (
    KEYWORD,
    MODES,
    NO_RAM,
    SCOPES,
    STATIC,
    EpisodicClient,
    episodic_client,
    messages_of,
    names_of,
)
from tests.support.waiting import until

WORDS = [
    "tea",
    "teas",
    "coffee",
    "run",
    "running",
    "who",
    "the",
    "what?",
    "cup",
    "Straße",
    "天気",
    "привет",
    "sugar",
    "bicycle",
]


def lance(folder: Path) -> LanceIndex:
    return LanceIndex(folder / "index", memory_bytes=16 << 20)


def tell(memory: EpisodicClient) -> None:
    random = np.random.default_rng(3)
    for at in range(60):
        text = " ".join(random.choice(WORDS, random.integers(1, 6)))
        memory.add(f"{text} #{at}", "s" if at % 3 else "t", user="u", id=f"m{at}")
        if at in (20, 40):
            memory.index()


def scores(memory: EpisodicClient, query: str, mode: int, scope: Scope) -> dict[str, float]:
    hits = memory.search(query, limit=100, mode=mode, **names_of(scope)).hits
    return {hit.message.id: hit.score for hit in hits}


@pytest.fixture(params=[EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
def both(request: pytest.FixtureRequest, data_dir: Path) -> Iterator[tuple[EpisodicClient, EpisodicClient]]:
    options = {"limits": request.param, "embedders": STATIC}
    with (
        episodic_client(SqliteJournal(data_dir / "journal"), index=lance(data_dir), **options) as real,
        episodic_client(**options) as reference,
    ):
        yield real, reference


def test_both_rank_alike_in_every_mode_and_scope(both: tuple[EpisodicClient, EpisodicClient]) -> None:
    real, reference = both
    for memory in both:
        tell(memory)
    for mode in MODES:
        for scope in SCOPES:
            for query in ("tea cup", "run", "the", "STRASSE", "天気 привет"):
                found = scores(real, query, mode, scope)
                assert found == pytest.approx(scores(reference, query, mode, scope), abs=1e-4)


def test_a_restart_finds_everything_and_indexes_nothing_again(data_dir: Path) -> None:
    with episodic_client(SqliteJournal(data_dir / "journal"), index=lance(data_dir), stepped=False) as memory:
        memory.add_all(messages_of(*(f"tea {at}" for at in range(20))), user="u")
        put(memory.journal, "a document on tea", owner=Owner("default"))
        last_lsn = memory.journal.last_lsns()["default"]
        until(lambda: memory.episodic.completed_lsn("default") == last_lsn)
    with episodic_client(SqliteJournal(data_dir / "journal"), index=lance(data_dir)) as again:
        assert again.stepped.step("default", 100) == 0
        assert len(again.find("tea", user_id="u", limit=100)) == 20
        assert [hit.document.id for hit in again.chunks()([Owner("default")], "tea", 10, 0.0).hits] == ["d1"]


def test_terms_of_any_script_are_found_among_candidates(data_dir: Path) -> None:
    with episodic_client(SqliteJournal(data_dir / "journal"), index=lance(data_dir), limits=NO_RAM) as memory:
        words = ["天気", "привет", "Straße", "the", "not", "naïve", "ﬁn", "ॐ", "ﷺ", "l'été", "x", "İ", "مرحبا"]
        memory.add_all(messages_of(*(f"{word} {at}" for at, word in enumerate(words))), user="u")
        memory.index()
        for at, word in enumerate(words):
            for scope in (SCOPE_USER, SCOPE_NAMESPACE, SCOPE_SESSION):
                assert memory.find(word, limit=1, **names_of(scope)) == [f"{word} {at}"]


PARTS = [
    ("咖啡", "我今天喝了一杯咖啡。"),
    ("啡", "我今天喝了一杯咖啡。"),
    ("喝了一杯", "我今天喝了一杯咖啡。"),
    ("lancedb", "使用LanceDB数据库"),
    ("数据库", "使用LanceDB数据库"),
    ("ラーメン", "東京でラーメンを食べました"),
    ("서울", "어제 서울에서 만났어요"),
    ("ข้าวผัด", "ฉันชอบกินข้าวผัดกุ้งมาก"),
    ("الكتاب", "الكتابُ على الطاولةِ"),
    ("الكتابُ", "قرأت الكتاب أمس"),
    ("istanbul", "İstanbul güzel"),
]


@pytest.mark.parametrize("limits", [EpisodicLimits(), NO_RAM], ids=["in RAM", "by candidates"])
def test_a_part_of_unspaced_text_is_found_on_disk(data_dir: Path, limits: EpisodicLimits) -> None:
    """Each text has a user of its own, because some of them match the parts of others."""
    with episodic_client(SqliteJournal(data_dir / "journal"), index=lance(data_dir), limits=limits) as memory:
        for at, (_, text) in enumerate(PARTS):
            memory.add_all(messages_of(text, "something else", "今日は天気", "어제는"), f"s{at}", user=f"u{at}")
        memory.index()
        for at, (part, text) in enumerate(PARTS):
            assert memory.find(part, mode=KEYWORD, limit=1, user_id=f"u{at}") == [text]


def test_characters_in_sequence_are_found_on_disk_among_many_that_have_some_of_them(data_dir: Path) -> None:
    with episodic_client(SqliteJournal(data_dir / "journal"), index=lance(data_dir), limits=NO_RAM) as memory:
        memory.add_all(messages_of(*("天、天、気、気" for _ in range(500))), user="u")
        memory.add(f"今日の天気は{'とても長い話です' * 20}", user="u", id="exact")
        memory.index()
        hits = memory.search("天気", mode=KEYWORD, limit=1, user_id="u").hits
        assert [hit.message.id for hit in hits] == ["exact"]


def test_the_exact_word_is_found_among_many_inflections_on_disk(data_dir: Path) -> None:
    with episodic_client(SqliteJournal(data_dir / "journal"), index=lance(data_dir), limits=NO_RAM) as memory:
        memory.add_all(messages_of(*("running runs running" for _ in range(500))), user="u")
        long = "run " + " ".join(f"w{at}" for at in range(40))
        memory.add_all(messages_of(*(f"{long} {at}" for at in range(220))), user="u")
        memory.index()
        found = memory.find("run", limit=220, user_id="u")
        assert len(found) == 220 and all(text.startswith("run ") for text in found)
