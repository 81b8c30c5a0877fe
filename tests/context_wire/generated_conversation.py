"""A generated conversation without repeated sentences, determined by its seed."""

from collections.abc import Iterator
from random import Random

PROMPT = "You are a companion who remembers what was said, and answers kindly, shortly and to the point. " * 11
"About 200 tokens."

_PEOPLE = [
    "my sister",
    "the neighbour",
    "our new colleague",
    "an old friend",
    "the teacher",
    "the landlord",
    "a stranger",
]
_DID = ["lost", "found", "painted", "sold", "repaired", "borrowed", "hid", "bought", "wrapped", "dropped", "weighed"]
_THINGS = [
    *(
        "a wooden boat",
        "three lemons",
        "the green bicycle",
        "an umbrella",
        "a box of letters",
        "the radio",
        "two kites",
    ),
    *("a violin", "the garden gate", "a jar of honey", "some old maps", "the kitchen clock", "a pair of skis"),
]
_WHERE = ["in the cellar", "near the station", "on the island", "at the market", "behind the school", "by the lake"]
_WHEN = ["last night", "on Monday", "in the spring", "before breakfast", "during the storm", "years ago"]
_QUESTIONS = ["What would you do?", "Is that strange?", "How would you explain it?", "Does that happen often?"]
_ANSWERS = [
    "That sounds curious.",
    "I can see why.",
    "It may have had a reason.",
    "Such things happen.",
    "I would wait.",
]


def turns(count: int, seed: int = 7) -> Iterator[tuple[str, str]]:
    random = Random(seed)
    for number in range(count):
        first, second = _sentence(random), _sentence(random)
        question = f"{first.capitalize()} {random.choice(_QUESTIONS)} It was thing number {number}."
        yield question, f"{random.choice(_ANSWERS)} Perhaps {second} {random.choice(_ANSWERS)}"


def _sentence(random: Random) -> str:
    who, did, what = random.choice(_PEOPLE), random.choice(_DID), random.choice(_THINGS)
    return f"{who} {did} {what} {random.choice(_WHERE)} {random.choice(_WHEN)}."
