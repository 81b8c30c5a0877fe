"""How long ago something was, as a person would say it."""

_MINUTE = 60
_HOUR = 60 * _MINUTE
_DAY = 24 * _HOUR
_UNITS = (
    ("year", 365 * _DAY),
    ("month", 30 * _DAY),
    ("week", 7 * _DAY),
    ("day", _DAY),
    ("hour", _HOUR),
    ("minute", _MINUTE),
)


def ago(then_us: int, now_us: int) -> str:
    """Whole units of the largest that fits; what lies ahead, by a clock that is wrong, is "just now"."""
    seconds = (now_us - then_us) // 1_000_000
    for name, length in _UNITS:
        if seconds >= length:
            number = seconds // length
            return f"{number} {name}{'s' if number > 1 else ''} ago"
    return "just now"
