"""Conversations for the tests of summarizers."""

from itertools import cycle, islice

from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance


def utterances(*texts: str, names: tuple[str, str] = ("", "")) -> list[Utterance]:
    """Return utterances of the user and the assistant in turn, the user first."""
    turns = zip(texts, cycle(zip((Role.USER, Role.ASSISTANT), names, strict=True)), strict=False)
    return [
        Utterance(str(number), int(role), name, text, number) for number, (text, (role, name)) in enumerate(turns, 1)
    ]


PLANNING = utterances(
    "Hi there! How are you today?",
    "Hello! I'm doing great, thanks for asking. How can I help you?",
    "I'm Priya, I run the data platform team at Northwind in Oslo. We have to replace our message broker.",
    "Nice to meet you! What does the load look like?",
    "We push around 45,000 events per second at peak, and retention must be 14 days.",
    "Got it. Here is a config:\n```yaml\nretention_hours: 336\npartitions: 48\n```\nLet me know what you think!",
    "Haha, okay. That looks cool, thanks!",
    "You're welcome!",
    "After talking to Henrik we decided to go with Redpanda instead of Kafka.",
    "Great choice! Redpanda needs no ZooKeeper, which simplifies operations.",
    "The migration deadline is 30 September and the budget is 80,000 euros.",
    "Sounds good. Anything else?",
    "The migration deadline is 30 September and the budget is 80,000 euros.",
    '{"status": "ok", "cluster": {"nodes": 3, "region": "eu-north-1"}}',
    "Thanks a lot, talk to you later!",
    "Bye! Have a nice day!",
)

_CHATTER = (
    "Haha, that's so funny!",
    "I went to the shop and it was fine, nothing special happened there.",
    "What do you think about that?",
    "Yeah, I guess so.",
    "The weather is nice, so we walked around for a while and talked.",
    "Okay, sounds good to me!",
    "It was a long day and I feel a bit tired now.",
)


def chatter(count: int) -> list[str]:
    """Return small talk with few repetitions."""
    return [f"{text} ({number})" if number % 5 else text for number, text in enumerate(islice(cycle(_CHATTER), count))]
