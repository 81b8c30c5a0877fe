"""Calibrated relevance: the probability that the memory helps with a query.

It is a logistic regression over a few features of the search. `benchmarks/retrieval/calibration.py` fits its
coefficients to labelled questions and writes them to `calibration.json`.
"""

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

import numpy as np
import regex

from memsidecar.domain.text import COMMON_WORDS, FUNCTION_WORDS, word_set
from memsidecar.layers.episodic.quantized_vectors import Floats
from memsidecar.layers.episodic.query import AnalyzedQuery, SearchQuery
from memsidecar.layers.episodic.signals import BM25_K1, CorpusStats, Mask, Signals, TermStats, distinct_stems
from memsidecar.layers.text_analysis import (
    has_question_mark,
    is_bigram,
    is_other_language,
    is_question,
    is_unsegmented,
    stem,
)

KEYWORDS_ONLY = ""
"The calibration without cosines: there is no vector, or the scale of the embedder's cosines is not known."

_ABOUT_AUTHOR = 0.5
'The least probability for "Where do I live?": its answer, "I moved to Lisbon.", has none of its words.'
_MAX_MATCHED = 3.0
_MAX_SIZE = math.log(250_000)
"Tokens; the largest labelled history has a tenth of it, and the effect of more is not known."
_MIN_IDF = 0.3
_MAX_ROW_TOKENS = 200
_MIN_BIGRAMS = 3
"Fewer are a word or a greeting, which any row may have."
_IDENTIFIER = regex.compile(r"\b(?=\w*\p{L})(?:\w+_\w+|\w*\p{Ll}\p{Lu}\w*+|\p{L}+\d\w*+|\w++[-:./]\d)")
"A word with an underscore, a capital inside or a digit: PAY-1042, ndots:5, debezium_v1, formatEta."

_MAX_IDENTIFIER_CHARACTERS = 1_000
"Identifiers are looked for in the beginning of a query: a word of 100,000 letters would take seconds."

_GENERAL_STEMS = frozenset(map(stem, FUNCTION_WORDS | COMMON_WORDS))
_FIRST_PERSON = word_set(
    "i me my mine we us our ours ich mir mich mein meine wir uns unser unsere yo mi mis je moi mon ma mes"
)
_PERSONAL_WORDS = word_set(
    """
    we us our ours my mine wir uns unser unsere unserem unseren unserer mein meine meinem meinen meiner nosotros
    nuestro nuestra nuestros nuestras mi mis nous notre nos mon ma mes noi nostro nostra mio mia nós nosso nossa meu
    minha 我们 我的
    """
)

_SMALL_TALK = word_set(
    """
    thanks thank thx ty cheers hi hello hey hiya bye goodbye ok okay yes yep yeah no nope sure great good cool
    perfect awesome fine welcome sorry morning afternoon evening night danke dank vielen bitte hallo guten morgen abend
    tschüss ja nein okey gut super toll prima gracias hola buenos días buenas tardes noches adiós sí vale genial merci
    bonjour bonsoir salut oui non grazie ciao buongiorno obrigado obrigada olá 谢 谢谢 好 你好 您好 好的 再 见 再见 客气
    """
)
_QUESTION_WORDS = word_set(
    "who what when where why which whose how wer was wann wo warum wie quién qué cuándo dónde cómo"
)
_AROUND_SMALL_TALK = FUNCTION_WORDS | word_set("""
lot much nice now again today everyone all help s dir ihnen für die deine hilfe sehr schön tag mucho tu ayuda
你 您 的 不 客 气
""")
'Words that say nothing beside them: "Thanks a lot for your help today!".'

Coefficients = Mapping[str, float]
"A coefficient for each feature, and the `intercept`."


class QueryFeatures(NamedTuple):
    """What a search tells about its query. Each maximum is over the rows that may be hits."""

    size: float
    "The logarithm of the number of tokens: the best match in much text is better by chance."
    cosine: float
    "The maximum cosine of a row."
    context_cosine: float
    "The maximum cosine of a row with its neighbours."
    matched: float
    "The maximum keyword score of a row with its neighbours; 1 is a full match of a term that only one row has."
    unknown: float
    "The share of the query's terms, weighted by IDF, that no row has."
    speaker: float
    "1 if the query names a speaker."
    topic: float
    '1 if the query has a word that names a topic, or is a question about its author: "Where do I live?".'
    personal: float
    "1 if the query is about us or about what is mine."
    about_author: float
    "1 if the query is a question about its author that names no topic. It is not fitted: see `probability`."
    identifier: float
    "The maximum keyword score of a row as in `matched`, without neighbours, if the query has an identifier."
    small_talk: float
    "1 if the query is only thanks, a greeting or agreement. It is not fitted: see `probability`."


def query_features(
    parts: Sequence[tuple[TermStats, Mask]],
    corpus: CorpusStats,
    signals: Signals,
    allowed: Mask,
    *,
    query: SearchQuery,
    analyzed: AnalyzedQuery,
    of_time: Mask | None,
    sampled: bool,
) -> QueryFeatures:
    """Return the features. `allowed` are the rows that may be hits, of each part and of all.

    `of_time` are the rows of a time that the query names; None if it names none.

    `sampled`: the rows were chosen by the query, so its terms are too frequent in them.
    """
    rows, words = int(allowed.sum()), query.tokens
    rarest = max(corpus.idf, default=0.0) if sampled else _idf_of_one_row(rows)
    unit = float(BM25_K1 + 1) * max(float(rarest), _MIN_IDF)
    unknown, is_segmented = _unknown_share(parts, corpus), not is_unsegmented(query.text)
    if not is_segmented:
        unit *= 2  # a word is found by its characters and by its bigrams
    matched, keyword = (_max(values, allowed) / unit for values in (signals.keyword_context, signals.keyword))
    if not is_segmented:
        coverage = _bigram_coverage(parts, analyzed)
        matched, unknown = max(matched, 2 * coverage), min(unknown, 1 - coverage)
    has_topic = any(map(_is_topic, words))
    is_about_author = is_question(query.text) and not _FIRST_PERSON.isdisjoint(words)
    # "What did I do last week?" is about messages of that time. Without any, the memory does not help.
    is_about_author = is_about_author and (of_time is None or bool((of_time & allowed).any()))
    return QueryFeatures(
        size=min(math.log1p(_tokens(parts)), _MAX_SIZE),
        cosine=_max(signals.semantic, allowed),
        context_cosine=_max(signals.semantic_context, allowed),
        matched=min(matched, _MAX_MATCHED),
        unknown=unknown,
        speaker=_max(signals.speaker, allowed),
        topic=float(has_topic or is_about_author),
        about_author=float(is_about_author and not has_topic),
        personal=float(not _PERSONAL_WORDS.isdisjoint(words)),
        identifier=min(keyword, _MAX_MATCHED) if _IDENTIFIER.search(query.text[:_MAX_IDENTIFIER_CHARACTERS]) else 0.0,
        small_talk=float(is_small_talk(query.text, words)),
    )


def is_small_talk(text: str, words: Sequence[str]) -> bool:
    """Return whether a text is only thanks, a greeting or agreement: earlier thanks do not help to answer it."""
    return (
        not _SMALL_TALK.isdisjoint(words)
        and _QUESTION_WORDS.isdisjoint(words)
        and all(word in _SMALL_TALK or word in _AROUND_SMALL_TALK for word in words)
        and not has_question_mark(text)
    )


def _tokens(parts: Sequence[tuple[TermStats, Mask]]) -> float:
    """Count the tokens of the rows. A long log counts as a few messages: it repeats itself."""
    return sum(
        float(np.minimum(stats.partition.columns["length"], _MAX_ROW_TOKENS) @ allowed) for stats, allowed in parts
    )


def _is_topic(word: str) -> bool:
    return stem(word) not in _GENERAL_STEMS and not word.isdecimal()


def _idf_of_one_row(rows: int) -> float:
    return math.log(1 + max(rows - 0.5, 0) / 1.5)


def _max(values: Floats, allowed: Mask) -> float:
    return float(np.max(values, initial=0, where=allowed))


def _unknown_share(parts: Sequence[tuple[TermStats, Mask]], corpus: CorpusStats) -> float:
    is_known = np.any([[allowed[term.rows].any() for term in stats.terms] for stats, allowed in parts], axis=0)
    unknown = sum(idf for idf, known in zip(corpus.idf, is_known, strict=True) if not known)
    return float(unknown / sum(corpus.idf)) if unknown else 0.0


def _bigram_coverage(parts: Sequence[tuple[TermStats, Mask]], query: AnalyzedQuery) -> float:
    """Return the largest share of the query's bigrams that one row has.

    Bigrams that cross the border of two words are in no row. Weighted by IDF, they would outweigh the words of a memory
    that is all about one subject.
    """
    bigrams = [at for at, term in enumerate(distinct_stems(query)) if is_bigram(term)]
    if len(bigrams) < _MIN_BIGRAMS:
        return 0.0
    most = 0
    for stats, allowed in parts:
        rows = np.concatenate([stats.terms[at].rows for at in bigrams])
        most = max(most, int(np.bincount(rows[allowed[rows]], minlength=1).max()))
    return most / len(bigrams)


def calibration_of(query: AnalyzedQuery, known: Mapping[str, Coefficients]) -> Coefficients:
    """Return the calibration for the embedder that made the query's vector, if the query is in English.

    The bundled model knows little of other languages: two texts in the same one are similar, whatever they say.
    """
    has_cosines = query.vector is not None and not is_other_language(query.words)
    return known.get(query.embedder if has_cosines else KEYWORDS_ONLY, known[KEYWORDS_ONLY])


@cache
def calibrations() -> Mapping[str, Coefficients]:
    """Return the calibrations of the package by the identity of the embedder."""
    found: Mapping[str, Coefficients] = json.loads((files(__package__) / "calibration.json").read_text())
    return found


def probability(features: QueryFeatures, calibration: Coefficients) -> float:
    """Return the probability that the memory has something that helps with the query."""
    if features.small_talk:
        return 0.0
    values = zip(QueryFeatures._fields, features, strict=True)
    total = calibration["intercept"] + sum(calibration.get(name, 0.0) * value for name, value in values)
    chance = 1 / (1 + math.exp(-total))
    return max(chance, _ABOUT_AUTHOR) if features.about_author else chance
