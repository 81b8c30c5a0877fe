"""Dates and times in the text of a query: absolute ("May 12, 2023") and relative to now ("last week")."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memsidecar.layers.text_analysis import tokenize

MAX_DATED_CHARACTERS = 1_000
"Dates are read from the beginning of a query."
MAX_DATES = 8
DAY_US = 24 * 3600 * 1_000_000

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMES = (
    "(?ia:jan(?:uary)?|feb(?:ruary)?|apr(?:il)?|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|"
    "dec(?:ember)?)|Mar(?:ch)?|May"
)
"March and May are verbs, too: they need a capital, or a preposition before them."
_MONTH = rf"\b(?P<month>{_NAMES})\b\.?"
_DAY = r"\b(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?\b"
_YEAR = r"\b(?P<year>(?:19|20)[0-9]{2})\b"
_SPACE, _COMMA = r"\s{1,3}", r"\s{0,3}(?:,\s{0,3})?"
_DURING = rf"\b(?ia:in|during|of|early|late|last|this){_SPACE}"
_DATES = (
    re.compile(rf"{_YEAR}-(?P<month>[0-9]{{2}})(?:-(?P<day>[0-9]{{2}}))?\b"),
    re.compile(rf"{_MONTH}{_SPACE}{_DAY}(?:{_COMMA}{_YEAR})?"),
    re.compile(rf"{_DAY}{_SPACE}(?:of{_SPACE})?{_MONTH}(?:{_COMMA}{_YEAR})?"),
    re.compile(rf"{_MONTH}{_COMMA}{_YEAR}"),
    re.compile(rf"{_DURING}(?P<month>{_NAMES}|march|may)\b(?:{_COMMA}{_YEAR})?"),
    re.compile(rf"{_DURING}{_YEAR}"),
)

_UNITS = {
    "day": "days?|tag(?:en?)?|d[ií]as?|jours?|giorn[oi]|天|日",
    "week": "weeks?|wochen?|semanas?|semaines?|settiman[ae]|周|星期|週間|週",
    "month": "months?|monat(?:en?)?|mes(?:es)?|mês|mois|mes[ei]|个月|個月|か月|月",
    "year": "years?|jahr(?:en?)?|años?|anos?|ans?|ann[oi]|année|年",
}
_UNIT = "(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _UNITS.items()) + ")"
_NUMBERS = {"a": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7}
_COUNT = rf"(?P<count>[0-9]{{1,3}}|{'|'.join(_NUMBERS)})"
_DATE = "\ufffc"
"Stands for a date that was read already."
_RELATIVE = tuple(
    (re.compile(pattern, re.IGNORECASE), fixed)
    for pattern, fixed in (
        (rf"\b(?:the{_SPACE}day{_SPACE}before{_SPACE}yesterday|vorgestern|anteayer|avant-hier|anteontem)\b|前天", 2),
        # Not French "hier", which is German for "here".
        (rf"\b(?:yesterday|last{_SPACE}night|gestern|ayer|ieri|ontem)\b|昨[天日]", 1),
        (rf"\b{_COUNT}{_SPACE}{_UNIT}{_SPACE}(?:ago|fa|atrás)\b", None),
        (rf"\b(?:vor|hace|il{_SPACE}y{_SPACE}a|há){_SPACE}{_COUNT}{_SPACE}{_UNIT}\b", None),
        (rf"(?<![0-9年月])(?P<count>[0-9]{{1,3}})\s?{_UNIT}前", None),
        # "The last week of May" is no last week.
        (rf"\b(?:last|letzte[nrs]?|vorige[nrs]?){_SPACE}{_UNIT}\b(?!{_SPACE}(?:of\b|{_DATE}))", None),
        (rf"\b{_UNIT}{_SPACE}(?:pasad[oa]|passad[oa]|derni(?:er|ère)|scors[oa])\b", None),
        (rf"(?<![马晚早以])[上先][个個]?{_UNIT}", None),
    )
)
"Patterns, and the days ago if a pattern has no unit."

_DAYS_AFTER = 7
"Days after a date that count, as does the day before: people tell what happened last week, in any time zone."
_FIRST_DAY, _LAST_DAY = -25_567, 84_005
"The days since 1970 that the calendar has, from 1900 to 2199."
_EPOCH = date(1970, 1, 1)

DayMask = NDArray[np.bool_]


class NamedDate(NamedTuple):
    """A day, a month or a year that a query names, as far as it does: "May 12" has no year."""

    year: int | None
    month: int | None
    day: int | None

    def days(self) -> DayMask:
        """Return the days of the calendar, with some days before and after them."""
        matching = [part == value for part, value in zip(_calendar(), self, strict=True) if value is not None]
        return _with_margin(np.all(matching, axis=0), _DAYS_AFTER)


class NamedDays(NamedTuple):
    """Days that a query names relative to now, counted from 1970."""

    first: int
    last: int

    def days(self) -> DayMask:
        """Return the days of the calendar, with one day before and after them: in any time zone."""
        day = np.arange(_FIRST_DAY, _LAST_DAY + 1)
        return _with_margin((day >= self.first) & (day <= self.last), 1)


@dataclass(frozen=True, slots=True)
class DatesInText:
    """Dates that a text names.

    `numbers` are the tokens of absolute dates that have a digit. `written` has the tokens of each such date: a text
    with all of them probably names the same date. Words of relative ones have a meaning of their own: who asks what
    happened four years ago may have told it in these words.
    """

    dates: tuple[NamedDate | NamedDays, ...] = ()
    numbers: tuple[str, ...] = ()
    written: tuple[tuple[str, ...], ...] = ()


def read_dates(text: str, now_us: int = 0) -> DatesInText:
    """Return the dates in a text: "May 12, 2023", "12 May", "in May", "May 2023", "in 2023", "2023-05-12".

    With the time of the query, also "yesterday", "last week", "3 days ago".
    """
    found: dict[NamedDate | NamedDays, None] = {}
    all_numbers: list[str] = []
    written: dict[tuple[str, ...], None] = {}
    rest = text[:MAX_DATED_CHARACTERS]
    for pattern in _DATES:
        for match in pattern.finditer(rest):
            named = _named_date(**match.groupdict())
            if named.month in (None, *range(1, 13)) and named.day in (None, *range(1, 32)):
                found[named] = None
                numbers = [token for token in tokenize(match[0]) if token[0].isdecimal()]
                all_numbers += numbers
                if numbers:
                    month = match.groupdict().get("month") or ""
                    written[(*numbers, *(tokenize(month) if month.isalpha() else ()))] = None
        rest = pattern.sub(f" {_DATE} ", rest)
    found.update(dict.fromkeys(_relative(rest, now_us) if now_us else ()))
    return DatesInText(tuple(found)[:MAX_DATES], tuple(all_numbers), tuple(written)[:MAX_DATES])


def _named_date(year: str | None = None, month: str | None = None, day: str | None = None) -> NamedDate:
    is_word = month is not None and not month.isdecimal()
    number = _MONTHS.index(month[:3].lower()) + 1 if month and is_word else month
    return NamedDate(*(None if part is None else int(part) for part in (year, number, day)))


def _relative(text: str, now_us: int) -> Iterator[NamedDays]:
    today = datetime.fromtimestamp(now_us // 1_000_000, UTC).date()
    for pattern, days_ago in _RELATIVE:
        for match in pattern.finditer(text):
            groups = match.groupdict()
            unit = next((name for name in _UNITS if groups.get(name)), "day")
            count = days_ago or _number(groups.get("count") or "1")
            if days_ago or groups.get("count") or unit != "day":  # the last day is not yesterday
                yield _ago(today, count, unit)
        text = pattern.sub(" ", text)


def _number(count: str) -> int:
    return int(count) if count.isdecimal() else _NUMBERS[count.lower()]


def _ago(today: date, count: int, unit: str) -> NamedDays:
    """Return the day, or the week from Monday on, the month or the year of the calendar, so many before the present."""
    if unit == "day":
        first = last = today - timedelta(count)
    elif unit == "week":
        first = today - timedelta(today.weekday() + 7 * count)
        last = first + timedelta(6)
    elif unit == "month":
        first, last = _month(today, count), _month(today, count - 1) - timedelta(1)
    else:
        first, last = date(today.year - count, 1, 1), date(today.year - count, 12, 31)
    return NamedDays((first - _EPOCH).days, (last - _EPOCH).days)


def _month(today: date, count: int) -> date:
    """Return the first day of the month so many months ago."""
    years, month = divmod(today.year * 12 + today.month - 1 - count, 12)
    return date(years, month + 1, 1)


def named_times(dates: tuple[NamedDate | NamedDays, ...], times_us: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the times are of one of the dates, or shortly before or after it."""
    is_named = np.any([named.days() for named in dates], axis=0)
    days = np.clip(times_us // DAY_US - _FIRST_DAY, 0, len(is_named) - 1)
    found: NDArray[np.bool_] = is_named[days]
    return found


def _with_margin(is_named: DayMask, days_after: int) -> DayMask:
    near = is_named.copy()
    near[:-1] |= is_named[1:]
    for days in range(1, days_after + 1):
        near[days:] |= is_named[:-days]
    near[[0, -1]] = False  # also the place of all earlier and later days
    return near


@cache
def _calendar() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return year, month and day of the month of the days from 1900 to 2199."""
    days = np.arange(_FIRST_DAY, _LAST_DAY + 1).astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    return (
        days.astype("datetime64[Y]").astype(np.int64) + 1970,
        months.astype(np.int64) % 12 + 1,
        (days - months).astype(np.int64) + 1,
    )
