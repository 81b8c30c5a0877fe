"""Rules for German: name, residence, work, people, likes, orders about answers, and what the user asks to remember.

They have the form of the English rules, with the same types and keys. A German noun is capitalised, so a capital letter
alone is no sign of a name.
"""

import re
from collections.abc import Iterator

from memsidecar.domain.fact import FactType
from memsidecar.domain.text import word_set
from memsidecar.language.rules.german_text import (
    BETWEEN,
    NOT_ASSERTED,
    QUESTION,
    REMEMBER,
    clauses,
    order,
    without_lead_in,
)
from memsidecar.language.rules.health import allergy_key
from memsidecar.language.rules.lexicon import GIVEN_NAMES, TOOLS
from memsidecar.language.rules.notes import CONFIDENCE, notes
from memsidecar.language.rules.rule import FactClaim, Rule, RuleIndex, pattern_rules, reading, with_keywords
from memsidecar.language.rules.tools import tool_key
from memsidecar.language.rules.user_text import Sentence
from memsidecar.language.rules.values import trim

PROFILE, INTEREST, PREFERENCE = FactType.USER_PROFILE, FactType.INTEREST, FactType.PREFERENCE

_NOW = (
    r"(?:(?:jetzt|nun|derzeit|aktuell|momentan|zurzeit|gerade|inzwischen|mittlerweile|noch|immer|auch|schon|übrigens"
    r"|wieder|seit [\w.]+(?: [\w.]+)?|ab [\w.]+(?: [\w.]+)?) ){0,3}"
)
_PROPER = r"[^\W\d_a-zäöüß][^\W\d_]+(?:[-'][^\W\d_]+)*"
_END = r"(?=$|\W*$|[,.;:!?()]| (?:und|aber|aus|von|bei|in|oder|als|seit|an|am|mit|sondern|weil|für|zu|auf)\b)"
_name = reading(
    rf"(?:(?:Dr|Prof)\.? |Frau |Herr )?(?:{_PROPER}"
    rf"|[A-Z]{{1,3}})(?: (?:von )?{_PROPER}){{0,2}}{_END}",
    flags=re.NOFLAG,
)
_place = reading(rf"(?:der |dem |den )?{_PROPER}(?: (?:am |an der |bei )?{_PROPER}){{0,2}}", flags=re.NOFLAG)
_capitalised = reading(
    rf"(?:der |dem |den |die |einer |einem )?((?:{_PROPER}|[A-Z]{{2,6}})(?: (?:{_PROPER}"
    rf"|[A-Z]{{2,6}}|&)){{0,3}})",
    1,
    re.NOFLAG,
)
_title = reading(rf"(?:(?:[a-zäöü]+e[rn]? ){{0,2}}){_PROPER}(?:[ -]{_PROPER}){{0,2}}", flags=re.NOFLAG)
_OCCUPATIONS = (
    r"entwickler|ingenieur|lehrer|berater|leiter|pfleger|techniker|ärzt|arzt|anwalt|anwält|designer|architekt|manager"
    r"|informatiker|mechaniker|verkäufer|student|wissenschaftler|forscher|schreiner|tischler|koch|köch|bäcker"
    r"|journalist"
    r"|redakteur|autor|fotograf|physiker|chemiker|biologe|biolog|therapeut|psychologe|psycholog|kaufmann|kauffrau"
    r"|assistent"
    r"|sekretär|hausmeister|polizist|soldat|schauspieler|musiker|künstler|übersetzer|dolmetscher|buchhalter|elektriker"
    r"|installateur|gärtner|landwirt|krankenschwester|hebamme|erzieher|professor|dozent|doktorand|azubi|rentner"
    r"|hausfrau"
    r"|hausmann|geschäftsführer|gründer|freiberufler|unternehmer|apotheker|pilot|fahrer|friseur|kellner|barista|coach"
    r"|trainer|programmierer|administrator|tester|analyst|engineer|developer|consultant|schneider|maler|maurer|notar"
    r"|richter"
)
_occupation = reading(
    rf"(?:(?:eine? |gelernter? |freier? |leitender? |selbstständiger? "
    rf"|angehender? )*)((?:[\w-]+ )?\w*(?:{_OCCUPATIONS})(?:in)?)(?!\w){_END}",
    1,
)
_status = reading(r"(?:arbeitslos|selbstständig|freiberuflich|verrentet|pensioniert|in rente)\b")
_years = reading(rf"(\d\d)(?: jahre alt)?{_END}", 1)
_family = reading(
    r"(?:eine?n?|zwei|drei|vier|fünf) (?:\w+ )?(?:kind(?:er)?|sohn|söhne|tochter|töchter|brüder|bruder"
    r"|schwestern?|geschwister)\b"
)
_marital_status = reading(r"(?:verheiratet|ledig|geschieden|verlobt|verwitwet)\b")
_diet = reading(r"(?:(?:strenger? )?(?:vegetarier|veganer|pescetarier)(?:in)?|vegan|vegetarisch|laktoseintolerant)\b")

_RELATIONS = {
    "manager": "chef chefin vorgesetzter vorgesetzte boss",
    "wife": "frau ehefrau",
    "husband": "mann ehemann",
    "partner": "partner partnerin",
    "girlfriend": "freundin",
    "boyfriend": "freund",
    "son": "sohn",
    "daughter": "tochter",
    "brother": "bruder",
    "sister": "schwester",
    "mother": "mutter mama",
    "father": "vater papa",
    "colleague": "kollege kollegin",
    "landlord": "vermieter vermieterin",
    "doctor": "arzt ärztin hausarzt hausärztin",
    "kids": "kinder",
}
_RELATION_KEYS = {word: key for key, words in _RELATIONS.items() for word in words.split()}
_ANIMALS = {
    "dog": "hund hündin hunde",
    "cat": "katze kater katzen",
    "rabbit": "kaninchen hase",
    "horse": "pferd",
    "parrot": "papagei",
    "hamster": "hamster",
}
_ANIMAL_KEYS = {word: key for key, words in _ANIMALS.items() for word in words.split()}
_NAMED = re.compile(
    rf"(?:meine?|unsere?) (?:(?:neuer?|älterer?|ältere|jüngerer?|kleiner?|kleine|großer?|große) )?"
    rf"(?P<who>{'|'.join((*_RELATION_KEYS, *_ANIMAL_KEYS))}) (?:(?P<is>ist|sind)|hei(?:ß|ss)t|hei(?:ß"
    rf"|ss)en) (?P<rest>.+)",
    re.IGNORECASE,
)
_NOT_NAMES = word_set(
    "deutscher deutsche lehrer lehrerin arzt ärztin rentner rentnerin polizist student studentin so wie"
)

_NO_THINGS = word_set("es das dich dies dieses ihn sie alles nichts beides so nicht diese deine was wie")
_NO_PLACES = word_set("moment ausland haus erdgeschoss zentrum wohnheim hotel keller dachgeschoss stock angst frieden")
_NO_EMPLOYERS = word_set(
    "arbeit freunden freund freundin eltern oma opa mama papa hause arzt zahnarzt meeting sport familie"
)


def claims(sentence: Sentence) -> Iterator[FactClaim]:
    text = without_lead_in(sentence.text)
    if sentence.is_question or QUESTION.match(text):
        return
    remember = REMEMBER.match(text)
    if remember is None:
        yield from _claims(text)
        return
    told = remember["told"] or remember["kept"]
    found = [claim._replace(confidence=CONFIDENCE) for claim in _claims(told)]
    yield from found or notes(told)


def _claims(text: str) -> Iterator[FactClaim]:
    for clause in clauses(text):
        if NOT_ASSERTED.search(clause):
            return
        for rule in _INDEX.candidates(clause):
            yield from rule.claims(clause)


def _items(rest: str) -> Iterator[str]:
    """Yield the items of a list: "Jazz, Wandern und alte Karten"."""
    phrase = re.split(
        r"[.;!?()]| (?:weil|aber|sehr|wenn|denn|dass|wie|mehr)\b|, (?=die|der|das"
        r"|was)",
        rest,
        maxsplit=1,
    )[0]
    for item in BETWEEN.split(phrase):
        value = trim(re.sub(r"^(?:kein(?:e|en)? |den |die |das |gerne? )", "", item.strip(), flags=re.IGNORECASE))
        if 1 <= len(value.split()) <= 4 and value[0].isalpha() and value.lower() not in _NO_THINGS:
            yield value


def _home(rest: str) -> Iterator[str]:
    yield from (found for found in _place(rest) if found.split()[0].lower() not in _NO_PLACES)


def _employer(rest: str) -> Iterator[str]:
    yield from (found for found in _capitalised(rest) if found.split()[0].lower() not in _NO_EMPLOYERS | GIVEN_NAMES)


def _tools(rest: str) -> Iterator[str]:
    for item in BETWEEN.split(re.split(r"[.;!?()]| (?:für|seit|bei|auf|als|in|im)\b", rest, maxsplit=1)[0]):
        words = item.removeprefix("kein ").removeprefix("keine ").split()
        count = next((at for at, word in enumerate(words) if not _is_tool_word(word, at)), len(words))
        if count:
            yield " ".join(words[:count])


def _is_tool_word(word: str, at: int) -> bool:
    return word.lower() in TOOLS or (at > 0 and re.fullmatch(r"v?\d+(?:\.\d+){0,3}", word) is not None)


RULES: list[Rule] = [
    *pattern_rules(
        PROFILE,
        "name",
        (r"ich hei(?:ß|ss)e ", "ich", _name, 0.95),
        (r"mein name ist ", "name", _name, 0.95),
        (r"(?:alle |du kannst |meine freunde )?nenn(?:e|en|t)? mich (?:bitte |einfach |alle )?", "mich", _name, 0.85),
        (r"ich bin (?:der|die) ", "bin", _name, 0.8),
    ),
    *pattern_rules(PROFILE, "age", (rf"ich bin {_NOW}", "bin", _years, 0.85)),
    *pattern_rules(
        PROFILE,
        "location",
        (rf"(?:ich|wir) (?:wohnen?|leben?) {_NOW}(?:in|im|auf|nahe|am) ", "wohne wohnen lebe leben", _home, 0.9),
        (rf"(?:ich bin|wir sind) {_NOW}(?:von [\w ]{{2,30}} )?nach (?=.{{2,60}}gezogen\b)", "nach", _place, 0.8),
    ),
    *pattern_rules(
        PROFILE,
        "location",
        (r"(?:ich|wir) (?:wohnen?|leben?) nicht (?:mehr|länger) in ", "nicht", _home, 0.9),
        holds=False,
    ),
    *pattern_rules(PROFILE, "origin", (r"ich komme (?:ursprünglich |eigentlich )?aus ", "komme", _place, 0.85)),
    *pattern_rules(
        PROFILE,
        "company",
        (rf"ich arbeite {_NOW}(?:als [\w-]+ )?(?:bei|für) ", "arbeite", _employer, 0.85),
        (rf"ich bin {_NOW}(?-i:[A-ZÄÖÜ])[\w-]+ bei ", "bei", _employer, 0.75),
        (r"ich (?:habe|fange|starte) (?:[\w.]+ ){0,3}?bei (?=.{2,60}\b(?:an|angefangen)\b)", "bei", _capitalised, 0.8),
        (r"ich wechs(?:le|el) (?:[\w.]+ ){0,3}?zu ", "zu", _capitalised, 0.8),
    ),
    *pattern_rules(
        PROFILE,
        "company",
        (r"ich arbeite nicht (?:mehr|länger) (?:bei|für) ", "nicht", _capitalised, 0.9),
        (r"ich habe bei (?=.{2,60}\bgekündigt\b)", "bei", _capitalised, 0.85),
        holds=False,
    ),
    *pattern_rules(
        PROFILE,
        "role",
        (rf"ich arbeite {_NOW}(?:bei [\w ]{{2,30}} )?als ", "als", _title, 0.85),
        (rf"ich bin {_NOW}(?:von beruf )?", "bin", _occupation, 0.8),
        (rf"ich bin {_NOW}", "bin", _status, 0.8),
        (r"ich (?:wurde|bin) (?:[\w.]+ ){0,2}?zu[mr] (?=.{2,60}\bbefördert\b)", "zum zur", _title, 0.85),
    ),
    *pattern_rules(PROFILE, "family", (r"(?:ich habe|wir haben) ", "habe haben", _family, 0.8)),
    *pattern_rules(PROFILE, "marital status", (rf"ich bin {_NOW}", "bin", _marital_status, 0.8)),
    *pattern_rules(
        PROFILE,
        tool_key,
        (rf"(?:ich|wir) (?:benutzen?|nutzen?|verwenden?|arbeiten? mit) {_NOW}(?!kein)", "ich wir", _tools, 0.8),
    ),
    *pattern_rules(
        PROFILE,
        tool_key,
        (r"(?:ich|wir) (?:benutzen?|nutzen?|verwenden?) kein(?:e|en)? (?=.*\bmehr\b)", "mehr", _tools, 0.85),
        holds=False,
    ),
    *pattern_rules(
        PROFILE,
        allergy_key,
        (r"ich (?:bin allergisch|habe eine allergie) gegen ", "gegen", _items, 0.9),
    ),
    *pattern_rules(
        INTEREST,
        "likes",
        (r"ich (?:mag|liebe) (?!kein|nicht|dich|es\b)", "mag liebe", _items, 0.75),
        (r"mein hobby ist |meine hobb(?:y|ie)s sind ", "hobby hobbys hobbies", _items, 0.85),
    ),
    *pattern_rules(
        INTEREST, "interested_in", (r"ich interessiere mich (?:sehr |auch )?für ", "interessiere", _items, 0.8)
    ),
    *pattern_rules(
        PREFERENCE,
        lambda value: f"dislikes:{value.lower()[:60]}",
        (r"ich (?:mag|liebe) (?=kein(?:e|en)? )", "mag liebe", _items, 0.8),
        (r"ich hasse ", "hasse", _items, 0.8),
    ),
    *pattern_rules(
        PREFERENCE,
        "diet",
        (rf"ich (?:bin|ernähre mich) {_NOW}", "bin mich", _diet, 0.85),
    ),
    *pattern_rules(
        PREFERENCE,
        lambda value: f"avoids:{value.lower()[:60]}",
        (r"ich (?:esse|trinke) (?=kein(?:e|en)? )", "esse trinke", _items, 0.8),
    ),
]


@with_keywords("mein meine unser unsere")
def named(clause: str) -> Iterator[FactClaim]:
    """Find names of people and pets: "meine Chefin heißt Ingrid", "mein Hund heißt Bello"."""
    match = _NAMED.match(clause)
    name = next(iter(_name(match["rest"])), "") if match else ""
    if match is None or not name or name.split()[0].lower() in _NOT_NAMES:
        return
    who = match["who"].lower()
    if who in _ANIMAL_KEYS:
        yield FactClaim(PROFILE, f"pet:{name.lower()}", f"{name} ({_ANIMAL_KEYS[who]})", 0.85)
    elif not (match["is"] and re.search(rf"(?:{_OCCUPATIONS})(?:in)?$", name, re.IGNORECASE)):
        yield FactClaim(PROFILE, _RELATION_KEYS[who], name, 0.9)


_INDEX = RuleIndex([*RULES, named, order])
