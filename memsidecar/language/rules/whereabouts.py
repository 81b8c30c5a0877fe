"""Where the user lives, and where they come from."""

from memsidecar.domain.fact import FactType
from memsidecar.language.rules import places
from memsidecar.language.rules.forms import table
from memsidecar.language.rules.livelihood import NAMED, WORKER

PROFILE = FactType.USER_PROFILE


_WE = r"(?:i|we)"
_WE_ARE = r"(?:i'm|we're|we are)"

FORMS = [
    *table(
        PROFILE,
        "location",
        (
            rf"(?:{_WE} (?:live|reside)|{_WE_ARE} (?:living|based|located|residing)|(?:i've|we've) (?:lived|been living"
            rf"|been based)) (?:here |alone |together |just |right |with [\w ]{{2,30}}? )?(?:in|near|outside(?: of)?"
            rf"|out of|close to) ",
            places.home,
            0.9,
        ),
        (
            rf"{_WE}(?:'ve)? (?:moved|relocated|moved back|moved over|moved house)(?: from [\w ,]{{2,40}}?)? (?:to"
            rf"|into) ",
            places.new_home,
            0.75,
        ),
        (r"my (?:home|house|place|home town|city|apartment|flat) is in ", places.place, 0.85),
        (r"my (?:home )?(?:city|location|address) is ", places.place, 0.85),
        (r"i'm (?:here |over |currently )?in ", places.here_now, 0.55),
        (
            rf"i(?:'m {NAMED}|'m| work as) {WORKER}(?: (?:at|for|with) [\w&'. -]{{2,40}}?)?"
            r" (?:here |working |living |based )?in ",
            places.known_place,
            0.65,
        ),
        (r"(?:i work|i'm working) (?:at|for) [\w&'. -]{2,40}? in ", places.known_place, 0.6),
        (r"home (?:is|for me is) (?:now )?", places.known_place, 0.75),
    ),
    *table(
        PROFILE,
        "origin",
        (r"i(?:'m (?-i:[A-Z])[\w'-]+,? (?:and )?(?:i'm )?|'m )(?:originally |come |)(?:from) ", places.place, 0.8),
        (r"i (?:come|hail|originally come) from ", places.place, 0.8),
        (rf"i'm {WORKER} from ", places.place, 0.75),
        (
            r"i (?:grew up|was (?:born and )?raised) (?:on a farm |in a small town |in a village )?(?:in|near|outside"
            r"(?: of)?) ",
            places.place,
            0.85,
        ),
        (r"my (?:hometown|home town) is ", places.place, 0.85),
    ),
    *table(
        PROFILE,
        "birthplace",
        (r"i was born in ", places.place, 0.85),
    ),
]
