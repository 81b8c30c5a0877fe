"""Rules for orders about answers in German: language, length, tone, format, emojis."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.german_text import BETWEEN, ORDER
from memsidecar.language.rules.rule import FactClaim, with_keywords
from memsidecar.language.rules.values import trim

PREFERENCE = FactType.PREFERENCE

_LANGUAGES = (
    r"(?:deutsch|englisch|französisch|spanisch|italienisch|portugiesisch|niederländisch|polnisch|türkisch|russisch"
    r"|japanisch"
    r"|chinesisch|arabisch)"
)
_ASPECTS = {
    "answer language": rf"(?:auf|in) {_LANGUAGES}",
    "emojis": r"emojis?|smileys?",
    "bullet points": r"stichpunkte\w*|aufzählung\w*|fließtext",
    "tables": r"tabellen?",
    "markdown": r"markdown",
    "wording": r"fachbegriffe\w*|fachjargon|fremdwörter\w*|einfache\w* (?:worte\w*|sprache)|anglizismen",
    "examples": r"beispiele?n?",
    "answer tone": r"förmlich\w*|formell\w*|informell\w*|locker\w*|höflich\w*|direkt\w*|duze|sieze|per du"
    r"|freundlich\w*|ehrlich\w*",
    "answer length": r"kurze?|kürzer|knapp\w*|ausführlich\w*|detailliert\w*|lang|prägnant\w*|in \w+ (?:satz|sätzen"
    r"|worten|wörtern)",
}
_ASPECT = {key: re.compile(rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE) for key, pattern in _ASPECTS.items()}
_FILLER = re.compile(r"\b(?:bitte|mir|mit mir|dich|deine antworten|antworten)\b ?", re.IGNORECASE)
_STYLE_ONLY = re.compile(r"(?:duze|sieze) mich", re.IGNORECASE)


@with_keywords(
    "antworte schreib schreibe sprich rede keine ohne verwende benutze nutze vermeide halte fass fasse sei duze sieze"
    " lass erkläre formuliere auf"
)
def order(clause: str) -> Iterator[FactClaim]:
    """Find orders about answers: "antworte bitte kurz und auf Englisch", "keine Emojis"."""
    match = ORDER.match(clause)
    if match is None:
        return
    if _STYLE_ONLY.search(clause):
        yield FactClaim(PREFERENCE, "answer tone", trim(clause), 0.8)
        return
    for part in BETWEEN.split(match["how"]):
        key = next((key for key, pattern in _ASPECT.items() if pattern.search(part)), "")
        if key:
            value = trim(_FILLER.sub("", part))
            without = f"{match['left']} " if match["left"] and not value.lower().startswith(("kein", "ohne")) else ""
            yield FactClaim(PREFERENCE, key, without + value, 0.8)
