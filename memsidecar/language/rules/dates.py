"""How people say when."""

import re

from memsidecar.language.rules.needs import ways_of

_DAYS = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?"
_MONTHS = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct"
    r"(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_ORDINAL = r"\d{1,2}(?:st|nd|rd|th)?"
_CLOCK = r"(?:\d{1,2}(?::\d\d)? ?(?:[ap]\.?m\.?|o'clock)|\d{1,2}:\d\d|noon|midnight)"

CALENDAR_DATE = (
    rf"(?:(?:the )?{_ORDINAL}(?: of)? {_MONTHS}\b\.?(?:,? \d{{4}})?|{_MONTHS}\b\.? (?:the )?{_ORDINAL}\b(?:,? \d{{4}})?"
    r"|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}(?:[./]\d{2,4})?)"
)
_RELATIVE = (
    r"(?:tomorrow|tmrw|tmr|tomorow|tonight|today|(?:the )?day after tomorrow|this (?:morning|afternoon|evening"
    r"|week|weekend|month|year|friday|monday)"
    rf"|(?:this |next |coming |the following )?{_DAYS}\b(?: (?:morning|afternoon|evening|night))?|next (?:week"
    rf"|weekend|month|year|spring|summer|autumn|fall|winter|quarter|semester)"
    r"|in (?:an?|one|two|three|four|five|six|\d{1,3}|a few|a couple of) (?:minutes?|hours?|days?|weeks?|months?|years?)"
    r"|(?:the )?end of (?:the )?(?:day|week|month|year|quarter)|eod|eow|eom|later today|the weekend"
    rf"|(?:the )?\d{{1,2}}(?:st|nd|rd|th)|{_MONTHS}(?: \d{{4}})?)"
)
WHEN = rf"(?:{CALENDAR_DATE}|{_RELATIVE}|{_CLOCK})"
_WHEN = re.compile(
    rf"(?<![\w-])(?:(?:by|on|before|at|until|till|from|for|in|around|due) (?:the )?)?{WHEN}(?![\w-])", re.IGNORECASE
)
NAMING_A_TIME = ways_of(_WHEN.pattern)
_CALENDAR_DATE = re.compile(rf"(?:on )?(?:the )?({CALENDAR_DATE})(?!\w)", re.IGNORECASE)
# These are words too, and a date only where something says so ("in May", not "may").
_WORD_TOO = re.compile(r"(?:may|mar|march|sun|sat|wed|mon|dec)$", re.IGNORECASE)


def names_a_time(text: str) -> bool:
    return any(not _WORD_TOO.match(found[0]) for found in _WHEN.finditer(text))


def calendar_date(rest: str) -> str:
    """The date that the text begins with, or nothing."""
    match = _CALENDAR_DATE.match(rest)
    return match[1] if match else ""
