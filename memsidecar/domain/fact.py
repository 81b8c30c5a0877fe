"""Value types that several packages share: the types and keys of facts, the parts of a search score."""

from enum import IntEnum
from typing import NamedTuple

from memsidecar.domain.text import word_set


class FactType(IntEnum):
    """Subject of a fact. The numbers are those of the proto enum."""

    USER_PROFILE = 1
    INTEREST = 2
    PREFERENCE = 3
    ACTION_ITEM = 4
    SENTIMENT = 5
    QUESTION = 6
    DOMAIN = 7


MULTI_VALUED_TYPES = frozenset({FactType.INTEREST, FactType.ACTION_ITEM, FactType.QUESTION})
"""A user can have many facts of these types under one key. Of the other types, each key has one current value."""

# Words of a key are joined by underscores here.
_ALIASES = {
    FactType.USER_PROFILE: {
        "location": "city home residence home_city current_city current_location place_of_residence home_location "
        "place_of_living lives_in based_in",
        "company": "employer workplace organization organisation current_employer current_company works_at works_for "
        "place_of_work company_name",
        "role": "job occupation profession job_title position job_role current_role current_job job_position",
        "name": "user's_name name_of_the_user",
        "manager": "boss supervisor line_manager",
        "birthday": "birth_date birthdate date_of_birth dob",
        "email": "e_mail mail email_address e_mail_address mail_address",
        "phone": "phone_number mobile mobile_number telephone telephone_number cell_phone",
        "timezone": "time_zone tz",
        "languages": "spoken_languages languages_spoken speaks",
        "origin": "hometown home_town place_of_origin from",
        "birthplace": "place_of_birth born_in",
    },
    FactType.PREFERENCE: {
        "answer language": "language preferred_language response_language reply_language output_language "
        "language_preference conversation_language",
        "answer length": "length response_length reply_length verbosity answer_verbosity conciseness brevity",
        "answer format": "format response_format reply_format output_format formatting",
        "answer tone": "tone response_tone reply_tone tone_of_voice formality",
        "emojis": "emoji emoji_use emoji_usage use_emojis use_of_emojis",
        "units": "unit_system measurement_units measurement_system",
        "theme": "ui_theme color_theme colour_theme color_scheme",
        "editor": "text_editor code_editor preferred_editor ide",
        "diet": "dietary_preference dietary_preferences",
    },
}
_CANONICAL_KEYS = {
    (kind, alias.replace("_", " ")): key
    for kind, keys in _ALIASES.items()
    for key, aliases in keys.items()
    for alias in word_set(aliases)
}


def canonical_key(kind: FactType, key: str) -> str:
    """Return the key under which a fact is compared: "city", "home" and "residence" of a user are one key.

    `key` is in lower case. Underscores, hyphens and spaces are equal.
    """
    spaced = " ".join(key.replace("_", " ").replace("-", " ").split())
    return _CANONICAL_KEYS.get((kind, spaced), spaced or key)


class ScoreBreakdown(NamedTuple):
    """Parts of a search score. Their sum is the score."""

    keyword: float = 0.0
    semantic: float = 0.0
    neighbours: float = 0.0
    speaker: float = 0.0
    session: float = 0.0
    recency: float = 0.0
