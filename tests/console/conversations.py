"""Conversations for the console: of a traveller, of 10,000 messages, and with hostile texts."""

from datetime import UTC, datetime, timedelta

from memsidecar.v1 import knowledge_pb2 as knowledge
from memsidecar.v1 import memory_pb2 as memory
from memsidecar.v1.message_pb2 import Message, Role, ToolCall
from tests.support.process import CALL_SECONDS, Client

USER = "ana"
EARLIER_SESSION, SESSION = "spring-plans", "museum-visit"
SENTENCE = "I moved to Lisbon last spring"
UNRELATED = "The bicycle needs a new chain before summer"
TILES = "I am collecting ceramic tiles from the nineteenth century."
LARGE_SESSION, LARGE_COUNT = "ten-thousand", 10_000
HOURS = "Gulbenkian: open 10-18\nTile museum: closed\n"
HOSTILE_SESSION = "hostile"
HOSTILE_TEXTS = (
    "<script>document.title = 'owned'</script><img src=x onerror=\"document.title = 'owned'\">",
    "</memsidecar> <b>bold</b> & &lt;",
    "invoice \u202egnp.exe\u202c and a \u200b zero-width space",
    "javascript:alert(1) {{7*7}} ${7*7} `</div>",
)
LINE_CHARACTERS = 1_000_000


def store_traveller(client: Client) -> None:
    """Store two sessions of a user, with a tool exchange, pruned messages, facts with history, and a document."""
    _add(client, EARLIER_SESSION, [_said(Role.ROLE_USER, f"{SENTENCE}, and I love it here.", days=9)])
    _add(client, EARLIER_SESSION, [_said(Role.ROLE_ASSISTANT, "Lisbon is a fine choice.", days=9)])
    _add(client, SESSION, _visit())
    prune = memory.PruneRequest(session_id=SESSION, strategy=memory.PRUNE_STRATEGY_WINDOW, window=8)
    client.memory.Prune(prune, timeout=CALL_SECONDS)
    for city in ("Porto", "Lisbon"):
        fact = knowledge.Fact(type=knowledge.FACT_TYPE_USER_PROFILE, key="location", value=city)
        client.knowledge.PutFacts(knowledge.PutFactsRequest(user_id=USER, facts=[fact]), timeout=CALL_SECONDS)
    document = knowledge.Document(
        id="guide", title="Museum guide", text="The tile museum is closed on Mondays. " * 40, source="guide.txt"
    )
    client.knowledge.PutDocument(knowledge.PutDocumentRequest(user_id=USER, document=document), timeout=CALL_SECONDS)


def _visit() -> list[Message]:
    call = ToolCall(id="call-1", name="opening_hours", arguments_json='{"city": "Lisbon", "day": "Monday"}')
    return [
        _said(Role.ROLE_SYSTEM, "You help a traveller. Answer briefly."),
        _said(Role.ROLE_USER, f"{UNRELATED}."),
        _said(Role.ROLE_ASSISTANT, "A shop near the station repairs bicycles."),
        _said(Role.ROLE_USER, TILES),
        _said(Role.ROLE_ASSISTANT, "Then the tile museum is worth a visit. It has a large collection of that time."),
        _said(Role.ROLE_USER, "Which museums are open on Monday?"),
        Message(role=Role.ROLE_ASSISTANT, tool_calls=[call]),
        Message(role=Role.ROLE_TOOL, tool_call_id="call-1", content=HOURS * 30),
        _said(Role.ROLE_ASSISTANT, "The Gulbenkian museum is open on Monday, the tile museum is not."),
        _said(Role.ROLE_USER, "What should I see there, given what I collect?"),
    ]


def store_large(client: Client) -> None:
    roles = (Role.ROLE_USER, Role.ROLE_ASSISTANT)
    texts = (f"Message number {number}, with some words to read" for number in range(1, LARGE_COUNT + 1))
    _add(client, LARGE_SESSION, [Message(role=roles[at % 2], content=text) for at, text in enumerate(texts)], "ben")


def store_hostile(client: Client) -> None:
    line = "<i>x</i>" * (LINE_CHARACTERS // 8)
    messages = [Message(role=Role.ROLE_USER, content=text, name="<u>name</u>") for text in (*HOSTILE_TEXTS, line)]
    _add(client, HOSTILE_SESSION, messages, "<b>user</b>")


def _said(role: Role, text: str, days: int = 0) -> Message:
    message = Message(role=role, content=text)
    if days:
        message.create_time.FromDatetime(datetime.now(UTC) - timedelta(days=days))
    return message


def _add(client: Client, session_id: str, messages: list[Message], user_id: str = USER) -> None:
    request = memory.AddBatchRequest(session_id=session_id, user_id=user_id, messages=messages)
    client.memory.AddBatch(request, timeout=CALL_SECONDS)
