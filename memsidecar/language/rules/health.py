"""Rules for allergies and health. Each value has a key of its own, so that a list keeps all of its items."""

from memsidecar.domain.fact import FactType
from memsidecar.language.rules.rule import pattern_rules, reading
from memsidecar.language.rules.values import things

PROFILE = FactType.USER_PROFILE

CONDITIONS = (
    *(
        "adhd",
        "asthma",
        "diabetes",
        "epilepsy",
        "migraine",
        "migraines",
        "arthritis",
        "tinnitus",
        "anxiety",
        "depression",
    ),
    *("insomnia", "hypertension", "psoriasis", "eczema", "dyslexia", "autism", "endometriosis", "pcos", "celiac"),
    *("coeliac", "crohn's", "ibs", "lupus", "anemia", "anaemia", "vertigo", "glaucoma", "sciatica", "fibromyalgia"),
    *("scoliosis", "hemophilia", "narcolepsy", "ocd", "ptsd", "gout", "cancer", "disease", "syndrome", "intolerance"),
    *("pacemaker", "hay fever"),
)
_condition = reading(
    rf"(?:an? )?((?:type [12] |(?!two\b|three\b|no\b|never\b|the\b|an?\b)[\w'-]+ ){{0,2}}?(?:{'|'.join(CONDITIONS)}))\b"
    r"(?! (?:about|over|research|data|app|patients|when)\b)",
    group=1,
)
STATES = (
    *(
        "diabetic",
        "epileptic",
        "asthmatic",
        "dyslexic",
        "autistic",
        "deaf",
        "blind",
        "colorblind",
        "colourblind",
        "handed",
    ),
    *("pregnant", "wheelchair", "nearsighted", "farsighted", "sighted", "anemic", "anaemic"),
)
_state = reading(
    r"(?:a )?((?:type [12] )?diabetic|epileptic|asthmatic|dyslexic|autistic|(?:partially |legally )?(?:deaf|blind)"
    r"|colou?r[- ]?blind|(?:left|right)[- ]handed|(?:\w+ months )?pregnant|in a wheelchair|near-?sighted|far-?sighted"
    r"|an?aemic)\b(?! to\b)",
    group=1,
)
_allergen = reading(r"(\w+) allergy", group=1)


def allergy_key(value: str) -> str:
    return f"allergies:{value.lower()[:60]}"


def _health_key(value: str) -> str:
    return f"health:{value.lower()[:60]}"


RULES = [
    *pattern_rules(
        PROFILE,
        allergy_key,
        (
            r"(?:i'm (?:(?!not\b|no\b)\w+ )?allergic|i have (?:an?|a \w+) allerg(?:y|ies)|i have allergies"
            r"|my allergies are)(?: to|:)? ",
            "allergic allergies allergy",
            things,
            0.9,
        ),
        (r"i have an? (?:(?:severe|bad|mild) )?(?=\w+ allergy\b)", "allergy", _allergen, 0.9),
    ),
    *pattern_rules(
        PROFILE,
        allergy_key,
        (r"i'm (?:no longer|not) allergic to (?!any)", "allergic", things, 0.85),
        holds=False,
    ),
    *pattern_rules(
        PROFILE,
        _health_key,
        (
            r"i(?: have|'ve| suffer from|'m living with|(?:'ve been| was| got) diagnosed with) ",
            " ".join(CONDITIONS),
            _condition,
            0.85,
        ),
        (r"i'm ", " ".join(STATES), _state, 0.85),
    ),
]
