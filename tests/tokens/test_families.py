"""Estimates for models without a bundled vocabulary, and their published factors."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memsidecar.tokens.families import FAMILIES, Factors, TokenClass, classify
from memsidecar.tokens.models import MODELS, lookup
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.tokens.tiktoken_counter import TiktokenCounter
from tests.support.work import costs_at_most

COUNTERS = CounterRegistry("o200k_base")
O200K = COUNTERS.default
CLAUDE = COUNTERS.for_model("claude-sonnet-4-5")
DOCUMENTATION = Path(__file__).parents[2] / "docs" / "tokens.md"

MODEL_NAMES = [
    "claude-3-5-sonnet-latest",
    "claude-opus-4-7",
    "gemini-2.5-pro",
    "gemma3:27b",
    "llama2:13b",
    "meta-llama/Llama-3.3-70B-Instruct",
    "llama-4-maverick",
    "mistral-large-latest",
    "mixtral-8x7b",
    "Qwen/Qwen3-32B",
    "deepseek-chat",
    "some-new-model",
]
TEXTS = {
    "chinese": "我们把每周的发布时间从星期二改到了星期四,因为星期二的值班工程师太少。" * 12,
    "japanese": "リリースは毎週火曜日でしたが、当番のエンジニアが少ないため木曜日に変更しました。" * 12,
    "korean": "배포 일정이 화요일에서 목요일로 변경되었습니다. 담당 엔지니어가 부족하기 때문입니다." * 12,
    "russian": "Мы перенесли выпуск со вторника на четверг, потому что во вторник мало дежурных инженеров." * 12,
    "arabic": "نقلنا موعد الإصدار من الثلاثاء إلى الخميس لأن عدد المهندسين المناوبين قليل." * 12,
    "german": "Die wöchentliche Veröffentlichung wurde wegen zu weniger Bereitschaftsingenieure verschoben. " * 12,
    "code": Path(__file__).read_text(encoding="utf-8"),
    "json": '{"id": "5f1c", "values": [1, 22, 333, 4444], "nested": {"ok": true, "at": "2026-11-17T10:53:46Z"}}' * 12,
    "log": "2026-11-17 10:53:46,120 ERROR worker-7 timeout after 30000 ms (attempt 3 of 5)\n" * 12,
}

# Text, family, and the range of its published ratios to o200k.
PUBLISHED_RATIOS = [
    ("chinese", "claude-sonnet-4-5", 1.49, 1.65),
    ("korean", "claude-sonnet-4-5", 1.72, 2.05),
    ("russian", "claude-sonnet-4-5", 1.45, 1.65),
    ("code", "claude-sonnet-4-5", 1.29, 1.45),
    ("json", "claude-sonnet-4-5", 1.14, 1.35),
    ("german", "claude-opus-4-7", 1.46, 2.0),
    ("chinese", "claude-opus-4-7", 1.49, 1.65),
    ("korean", "gemini-2.5-flash", 1.06, 1.15),
    ("russian", "llama-3.3", 1.15, 1.25),
    ("chinese", "qwen3", 1.0, 1.05),
    ("korean", "deepseek-chat", 1.08, 1.15),
]


@pytest.mark.parametrize("model", MODEL_NAMES)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_an_estimate_is_not_below_o200k_and_not_far_above(model: str, text: str) -> None:
    estimate = COUNTERS.for_model(model).count(text)
    assert O200K.count(text) <= estimate <= 3 * O200K.count(text)


@given(text=st.text(st.characters(), max_size=200), model=st.sampled_from(MODEL_NAMES))
def test_no_text_is_estimated_below_o200k(text: str, model: str) -> None:
    assert O200K.count(text) <= COUNTERS.for_model(model).count(text) <= 3 * O200K.count(text)


@given(text=st.text(st.characters(), max_size=200), model=st.sampled_from(MODEL_NAMES))
def test_the_estimate_of_lines_is_that_of_the_text_but_for_rounding(text: str, model: str) -> None:
    """Each token has its own factor: no majority of a script decides about the others."""
    counter = COUNTERS.for_model(model)
    line = text.replace("\r", "").replace("\n", "") + "x\n"
    assert abs(counter.count(line + "x") + counter.count(line + "x") - counter.count(line + "x" + line + "x")) <= 6


@pytest.mark.parametrize(("text", "model", "least", "most"), PUBLISHED_RATIOS)
def test_the_ratio_to_o200k_is_the_published_one_rounded_up(text: str, model: str, least: float, most: float) -> None:
    assert least <= COUNTERS.for_model(model).count(TEXTS[text]) / O200K.count(TEXTS[text]) <= most


def test_600_chinese_characters_are_not_154_tokens() -> None:
    text = ("部署在星期四进行" * 75)[:600]
    for model in ("claude-sonnet-4-5", "gemini-2.5-pro", "qwen3", "llama-3.3"):
        assert COUNTERS.for_model(model).count(text) >= O200K.count(text) > 200


def test_families_that_split_digits_have_a_token_for_each_digit() -> None:
    number = "2026111710534612"
    assert O200K.count(number) == 6
    for model in ("gemini-2.5-pro", "qwen3", "mistral-large", "llama-2"):
        assert COUNTERS.for_model(model).count(number) == len(number)


@pytest.mark.parametrize(
    ("token", "expected"),
    [
        (" the", TokenClass.WORD),
        ("the", TokenClass.WORD_PART),
        ("(value", TokenClass.WORD_PART),
        (" für", TokenClass.WORD_PART),
        (" ", TokenClass.SYMBOL),
        ("\n\n", TokenClass.SYMBOL),
        ("={", TokenClass.SYMBOL),
        ("。", TokenClass.SYMBOL),
        ("7", TokenClass.DIGITS_1),
        ("42", TokenClass.DIGITS_2),
        ("123", TokenClass.DIGITS_3),
        ("部署", TokenClass.HAN),
        ("です", TokenClass.KANA),
        ("리", TokenClass.HANGUL),
        (" релиз", TokenClass.CYRILLIC),
        ("العالم", TokenClass.OTHER),
        ("नमस्ते", TokenClass.OTHER),
        ("👍", TokenClass.OTHER),
        ("→", TokenClass.OTHER),
    ],
)
def test_the_class_of_a_token_is_that_of_its_first_letter(token: str, expected: TokenClass) -> None:
    assert classify(token.encode()) is expected


def test_a_part_of_a_character_belongs_to_no_script() -> None:
    assert classify("部".encode()[:2]) is TokenClass.OTHER


def test_every_family_has_models_and_every_estimate_a_family() -> None:
    estimated = {model.tokenizer for model in MODELS if not COUNTERS.named(model.tokenizer).exact}
    estimated.add(lookup("some-new-model").counter_name)
    assert estimated == {f"{family} estimate" for family in FAMILIES}


def test_factors_are_whole_steps_of_at_least_one() -> None:
    for factors in FAMILIES.values():
        assert all(factor >= 1 and factor * 20 == round(factor * 20) for factor in factors.by_class())


def test_the_documentation_shows_the_factors_of_the_code() -> None:
    rows = [line.strip("| ").split(" | ") for line in DOCUMENTATION.read_text(encoding="utf-8").splitlines()]
    documented = {row[0].strip("`"): row[2:] for row in rows if len(row) == 2 + len(Factors._fields)}
    for family, factors in FAMILIES.items():
        if family != "o200k_base":
            digits = ", ".join(f"{factor:g}" for factor in factors.digits)
            shown = [digits if isinstance(factor, tuple) else f"{factor:g}" for factor in factors]
            assert documented[family] == shown


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS.keys())
def test_an_estimate_encodes_a_text_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Encoding is nearly all of the time of a count."""
    CLAUDE.warm()
    encode, encoded = TiktokenCounter.encode, []

    def recorded(counter: TiktokenCounter, each: str) -> list[int]:
        encoded.append(each)
        return encode(counter, each)

    monkeypatch.setattr(TiktokenCounter, "encode", recorded)
    CLAUDE.count(text)
    assert encoded == [text]


@pytest.mark.long
@pytest.mark.parametrize("unit", ["a", " ", "\n", "漢", "😀", "1", "=", "\x00"])
def test_the_time_of_an_estimate_is_linear(unit: str) -> None:
    part, whole = (unit * (size // len(unit.encode())) + "x" for size in (1 << 17, 1 << 20))
    assert CLAUDE.count(whole) > 1
    assert costs_at_most(24, lambda: CLAUDE.count(part), lambda: CLAUDE.count(whole), slack_seconds=0.02)


def test_creating_an_estimate_loads_nothing() -> None:
    counter = CounterRegistry("chars4").for_model("claude-sonnet-4-5")
    assert not counter.ready
    counter.warm()
    assert counter.ready
