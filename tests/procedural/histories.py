"""Histories of one user: with known patterns, or random."""

from collections.abc import Iterable, Sequence
from random import Random

from memsidecar.domain.message import Role
from memsidecar.layers.procedural.counters import UsageCounters
from memsidecar.layers.procedural.observations import ObservedMessage, observe
from memsidecar.layers.procedural.patterns import Patterns, render_hints

HOUR_US = 3_600_000_000
DAY_US = 24 * HOUR_US
START_US = 19_700 * DAY_US  # some day in 2023

SHORT, LONG = "That is how it is done. " * 3, "There is a great deal to be said about this. " * 30


def words(text: str) -> list[str]:
    return text.split()


_SUBJECTS = words("""
sourdough glaciers chess violins tax insurance gardening volcanoes marathon photography sailing pottery opera beekeeping
astronomy mortgages haiku falconry origami jazz sushi knitting archery castles submarines ballet cheese dinosaurs
fencing genealogy hedgehogs ibuprofen jigsaws kayaking lighthouses mushrooms nutrition orchids penguins quilting
radiators saxophones tattoos umbrellas vineyards wallpaper xylophones yoga zeppelins postgres docker latency unicode
""")
_ACTS = words("clean repair paint sell measure polish buy store import insure teach photograph ship label carve")
_TEMPLATES = [
    "How do I {act} {a}?",
    "What is {a}?",
    "Why is {a} so expensive compared with {b}?",
    "Which is better, {a} or {b}?",
    "Tell me about {a} please.",
    "I read an article on {a} and {b} last night.",
    "Can you {act} {a} without {b}?",
    "Who invented {a}?",
    "My cousin wants to {act} {a}.",
    "Is {a} dangerous?",
    "Thanks, that helps.",
    "{a} gives me an error with `{b}_{act}`, what now?",
    "```\n{act} = {a}({b})\n```",
]
_PREFERENCES = ["Shorter please.", "Can you give me more detail?"]


def conversation(session: int, start_us: int, turns: Sequence[tuple[str, str]]) -> list[ObservedMessage]:
    """Return a conversation; each turn is a message of the user and the answer; an empty answer is omitted."""
    messages = [text for turn in turns for text in zip((Role.USER, Role.ASSISTANT), turn, strict=True) if text[1]]
    return [
        ObservedMessage(session, number, int(role), start_us + number * 1_000_000, text)
        for number, (role, text) in enumerate(messages, 1)
    ]


def random_history(seed: int, conversations: int = 120) -> list[ObservedMessage]:
    """Return random conversations at random times."""
    random = Random(seed)
    history: list[ObservedMessage] = []
    for session in range(1, conversations + 1):
        start_us = START_US + random.randrange(365) * DAY_US + random.randrange(24) * HOUR_US
        turns = [(_random_text(random), random.choice([SHORT, LONG, SHORT * 8])) for _ in range(random.randint(1, 8))]
        history += conversation(session, start_us, turns)
    return history


def _random_text(random: Random) -> str:
    if random.random() < 0.02:
        return random.choice(_PREFERENCES)
    a, b = random.sample(_SUBJECTS, 2)
    return random.choice(_TEMPLATES).format(a=a, b=b, act=random.choice(_ACTS))


def counters_of(messages: Iterable[ObservedMessage]) -> UsageCounters:
    counters = UsageCounters()
    counters.add(seen for message in messages if (seen := observe(message)))
    return counters


def patterns_of(messages: Iterable[ObservedMessage]) -> Patterns:
    return Patterns(counters_of(messages))


def lines_of(messages: Iterable[ObservedMessage]) -> list[str]:
    return render_hints(patterns_of(messages)).splitlines()
