"""German sentences (lead-ins, questions, tasks on a text, omitted subjects), and orders about answers in German."""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.rule import FactClaim, with_keywords
from memsidecar.language.rules.user_text import Sentence
from memsidecar.language.rules.values import trim

_LEAD_IN = re.compile(
    r"[\W_]*(?:(?:hallo|hi|hey|moin|servus|guten (?:tag|morgen|abend)|übrigens|also|ja|nein|naja|und|aber|ach|ok|okay"
    r"|gut|danke|bitte|btw|zur info|eigentlich|inzwischen|mittlerweile|jetzt|nun|aktuell|derzeit|zurzeit|momentan"
    r"|außerdem|noch"
    r" was|seit (?:[\w.]+ ){0,2}[\w.]+(?= \w+ ich)|ab (?:[\w.]+ )?[\w.]+(?= \w+ ich))(?:[\W_]+|$)){0,5}",
    re.IGNORECASE,
)
_INVERTED = re.compile(
    r"(wohne|lebe|arbeite|bin|heiße|habe|mag|nutze|benutze|verwende|studiere"
    r"|spreche) ich\b",
    re.IGNORECASE,
)
_BREAK = re.compile(
    r"(?:[,;:]\s*(?:(?:und|aber|sondern|denn|oder|weil)\s+)?|\s+[-\u2013\u2014]\s+|\s+(?:und|aber"
    r"|sondern)\s+)(?:auch\s+)?"
    r"(?=(?:ich|mein|meine|wir|unser|unsere|arbeite|wohne|lebe|mag|liebe|hasse|komme|bin|habe|heiße|nutze|benutze"
    r"|verwende"
    r"|spreche|esse|trinke|studiere|antworte|sprich|schreibe?|bitte|keine|auf|in|ohne|bei|als|wenn|falls)\b)",
    re.IGNORECASE,
)
_VERB_FIRST = re.compile(
    r"(?:arbeite|wohne|lebe|mag|liebe|hasse|komme|bin|habe|heiße|nutze|benutze|verwende|spreche|esse|trinke"
    r"|studiere)\b",
    re.IGNORECASE,
)
QUESTION = re.compile(
    r"(?:wo|wie|was|wer|wann|warum|wieso|weshalb|welche\w*|wen|wem|woher|wohin|kann|kannst|könntest|können|ist|sind"
    r"|hast"
    r"|soll|sollte|darf|weißt|gibt|hat)\b",
    re.IGNORECASE,
)
NOT_ASSERTED = re.compile(
    r"(?<!\w)(?:wenn|falls|angenommen|stell dir vor|würde|würden|hätte|wäre|könnte|vielleicht|möchte|wünschte"
    r"|hoffentlich"
    r"|als ob|sagt|sagte|meint|meinte|behauptet|glaubt|denkt|laut|erzählt|schreibt|schrieb|vermutlich|früher"
    r"|damals)(?!\w)",
    re.IGNORECASE,
)
_TEXT_TASK = re.compile(
    r"(?:bitte )?(?:übersetz\w*|korrigier\w*|formulier\w*|fasse? .{0,40}zusammen|umschreib\w*|verbesser\w*|prüfe?"
    r"|erklär\w*"
    r"|lies|analysier\w*|schreibe? (?:mir )?(?:ein|eine|einen|den|die|das)|tu so|spiel\w*)\b",
    re.IGNORECASE,
)
REMEMBER = re.compile(
    r"(?:merke?|notiere?|speichere?)(?: dir)?(?: bitte)?(?: das| folgendes)?\s*[:,]\s*(?:dass\s+)?(?P<told>.+)"
    r"|(?:vergiss (?:bitte )?nicht|denke? (?:bitte )?(?:daran|dran)|behalte? (?:bitte )?im (?:hinter)?kopf"
    r"|erinnere? dich(?: daran)?"
    r"|beachte(?: bitte)?)\s*[:,]\s*(?:dass\s+)?(?P<kept>.+)",
    re.IGNORECASE | re.DOTALL,
)

ORDER = re.compile(
    r"(?:(?:bitte|ab jetzt|ab sofort|von nun an|in zukunft|künftig|immer|nur) ){0,3}(?:(?P<left>keine|ohne"
    r"|(?:verwende|benutze|nutze)"
    r" (?:bitte )?keine|vermeide|lass) |(?:antworte|schreibe?|sprich|rede|erkläre?|formuliere|halte|fasse?|sei|duze"
    r"|sieze|verwende"
    r"|benutze|nutze)\b|(?=auf [\w]+(?: bitte| antworten)?\W*$))(?P<how>.*)",
    re.IGNORECASE,
)
BETWEEN = re.compile(r",\s*(?:und )?|\s+und\s+", re.IGNORECASE)


def introduces_quote(sentence: Sentence) -> bool:
    """Whether the sentence asks to work on a text; the rest of the message is that text."""
    return _TEXT_TASK.match(without_lead_in(sentence.text)) is not None


def without_lead_in(text: str) -> str:
    lead = _LEAD_IN.match(text)
    return text[lead.end() :] if lead else text


def clauses(text: str) -> Iterator[str]:
    """Yield the clauses with their omitted subjects: "ich wohne in Bonn und arbeite bei Bosch" has two."""
    start = 0
    order = ORDER.match(text)
    for cut in () if order else _BREAK.finditer(text):
        yield _with_subject(text[start : cut.start()], is_first=start == 0)
        start = cut.end()
    yield _with_subject(text[start:], is_first=start == 0)


def _with_subject(clause: str, *, is_first: bool) -> str:
    clause = _INVERTED.sub(r"ich \1", without_lead_in(clause), count=1)
    if _VERB_FIRST.match(clause) and not is_first:
        return f"ich {clause}"
    if not is_first and (match := re.match(r"(in|bei) ", clause, re.IGNORECASE)):
        return f"ich {'wohne' if match[1].lower() == 'in' else 'arbeite'} {clause}"
    return clause


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
