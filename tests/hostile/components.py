"""The components that run over sent or stored text, each as a function of one text."""

from collections.abc import Mapping
from contextlib import suppress

from google.protobuf.struct_pb2 import Struct

from memsidecar.context.correction_finder import CorrectionFinder
from memsidecar.context.corrections import CorrectionLinker
from memsidecar.context.memories import MemoryItem, MemoryWriter, decode, passage_terms
from memsidecar.context.reduction import Previewer
from memsidecar.context.relevance import SeenTexts, same_question
from memsidecar.context.rendering import encode_label, encode_text
from memsidecar.context.window import WindowMessage
from memsidecar.domain.errors import SidecarError
from memsidecar.domain.fact import FactType, ScoreBreakdown
from memsidecar.domain.message import Role, StoredMessage, speaker_label
from memsidecar.domain.pruning.truncation import truncate_middle
from memsidecar.domain.session import SessionKey
from memsidecar.domain.text import is_injected_prompt, split_sentences, strip_injected, truncate_to_sentences
from memsidecar.language.batches import batches, render
from memsidecar.language.contract import MalformedAnswer, Utterance
from memsidecar.language.extractive.corrections import Statement
from memsidecar.language.extractive.excerpt import passage, shorten
from memsidecar.language.extractive.lexicon import is_correction, is_strong_cue
from memsidecar.language.extractive.summarizer import ExtractiveSummarizer
from memsidecar.language.fact_model import parse_findings
from memsidecar.language.rules.extractor import RuleExtractor
from memsidecar.language.summary_model import check_summary, truncate_summary
from memsidecar.layers.artifacts.artifact import StoredArtifact
from memsidecar.layers.artifacts.artifacts import index_artifact, rank
from memsidecar.layers.documents.chunker import Chunker
from memsidecar.layers.episodic.index_batch import PendingRow, episodes_of, zero_vectors
from memsidecar.layers.episodic.partition import Partition
from memsidecar.layers.episodic.query import RankedHit, SearchQuery, SearchScope, analyze_query, remove_names
from memsidecar.layers.episodic.ranking import Ranking
from memsidecar.layers.field_checks import check_metadata
from memsidecar.layers.procedural.counters import UsageCounters
from memsidecar.layers.procedural.observations import ObservedMessage, observe
from memsidecar.layers.semantic.echo_filter import EchoFilter
from memsidecar.layers.semantic.fact import MAX_VALUE_BYTES, KnownFact
from memsidecar.layers.semantic.fact_merge import FactMerge
from memsidecar.layers.semantic.facts import fact_label, order_for_context
from memsidecar.layers.text_analysis import content_terms, index_terms, is_other_language, parse_index_terms, tokenize
from memsidecar.layers.working.substring_search import MessageFilter
from memsidecar.layers.working.validation import MessageValidator
from memsidecar.stores.contract import IndexBatch, LocatedMessage
from memsidecar.tokens.registry import CounterRegistry
from memsidecar.v1.message_pb2 import ROLE_USER, Message
from tests.hostile.cost import Component

COUNTERS = CounterRegistry("o200k_base")
COUNT = COUNTERS.default.count
CHUNKER = Chunker(COUNTERS.default, 400, 60)
SMALL_CHUNKER = Chunker(COUNTERS.default, 64, 8)
"A chunk of the default size may have 25,000 characters: a text of one chunk takes less time than its share."
SMALL_CHUNKS = "chunker, small chunks"
KEY = SessionKey("n", "s")
DIMENSIONS = 8
COUNTER_NAMES = ("o200k_base", "cl100k_base", "claude estimate", "llama-2 estimate")
"All families count the tokens of o200k_base, each with its own table of factors."


def utterance(text: str, role: Role = Role.USER, number: int = 1) -> Utterance:
    return Utterance(f"m{number}", role, "", text, number)


def message(text: str) -> Message:
    return Message(id="m1", role=ROLE_USER, content=text)


def located(text: str, number: int = 1) -> LocatedMessage:
    body = message(text).SerializeToString()
    stored = StoredMessage(number, Role.USER, len(text), 0, 0, None, number, body)
    return LocatedMessage(number, KEY, stored, 1, "u")


def hit(number: int) -> RankedHit:
    return RankedHit(number, number, 1, 1.0, ScoreBreakdown(), 1.0, None)


def fact(text: str, key: str = "note") -> KnownFact:
    value = text.encode()[:MAX_VALUE_BYTES].decode(errors="ignore")
    return KnownFact("f", FactType.PREFERENCE, key, value, 1.0, 1, 1, 1, "rules")


# -- language


def summarize_messages(text: str) -> object:
    said = [utterance(text), utterance(text, Role.ASSISTANT, 2)]
    return ExtractiveSummarizer(COUNT).summarize("", said, 400)


def summarize_summary(text: str) -> object:
    return ExtractiveSummarizer(COUNT).summarize(text, [utterance("I like tea.")], 400)


def find_corrections(text: str) -> object:
    return is_correction(text), is_strong_cue(text), Statement.parse(text)


def extract_answer(text: str) -> object:
    return RuleExtractor().extract([utterance(text, Role.ASSISTANT), utterance("Yes", number=2), utterance(text)])


def prepare_model_batches(text: str) -> object:
    return [render(batch) for batch in batches([utterance(text)], COUNT, 100)]


def check_model_answer(text: str) -> None:
    with suppress(MalformedAnswer):
        check_summary(text, text)
        truncate_summary(text, 8, COUNT)
    with suppress(MalformedAnswer):
        parse_findings(f'{{"facts": [{text}]}}', [])


# -- layers


def index_row(text: str, number: int = 1) -> Partition:
    row = PendingRow(number, number, number, 1, 1, Role.USER, number, None, text[:64], text)
    partition = Partition(DIMENSIONS)
    partition.apply(IndexBatch(episodes=episodes_of([row], zero_vectors([row], DIMENSIONS))))
    return partition


def search_partition(text: str) -> object:
    partition, query = index_row(text), SearchQuery(text, now_us=1)
    analyzed = analyze_query(query, partition.speaker_words, None)
    remove_names(text, analyzed.names)
    return Ranking([partition], analyzed, query, SearchScope("n", include_repeats=False)).best(10, 0.0)


def analyze_terms(text: str) -> object:
    words = tokenize(text)
    return content_terms(words), is_other_language(words), parse_index_terms(index_terms(text))


def count_usage(text: str) -> bytes:
    messages = [ObservedMessage(1, at, role, at, text) for at, role in enumerate((Role.USER, Role.ASSISTANT))]
    counters = UsageCounters()
    counters.add([seen for each in messages if (seen := observe(each)) is not None])
    return counters.to_bytes()


def filter_echoes(text: str) -> str:
    echoes = EchoFilter()
    echoes.add_injected(KEY, 1, text)
    return echoes.strip_echoes(KEY, 2, text)


def rank_artifacts(text: str) -> object:
    artifact = StoredArtifact("a", text[:64], text, 1, 1)
    return rank(
        [index_artifact(artifact), *(index_artifact(StoredArtifact("b", "", "w", 1, 1)) for _ in range(20))], text
    )


def check_request(text: str) -> object:
    with suppress(SidecarError):
        return MessageValidator(COUNTERS.default, 1 << 24)(message(text), "message")
    return None


def check_request_metadata(text: str) -> None:
    metadata = Struct()
    metadata.update({text: text, "tags": [text]})
    with suppress(SidecarError):
        check_metadata("metadata", metadata)


def search_substring(text: str) -> bool:
    return MessageFilter(text[: len(text) // 2] + "\0").matches(located(text))


def order_facts(text: str) -> object:
    known = [fact(text), *(fact(f"likes w{number}") for number in range(20))]
    return order_for_context(known, text)


def merge_fact(text: str) -> object:
    merge = FactMerge()
    merge.put(fact(text))
    merge.retract(fact(text).conflict_key, text, 2, "rules")
    return fact_label(fact(text, key=f"uses:{text[:200]}"))


# -- contexts


def write_memory(text: str) -> object:
    memory = MemoryItem(hit(1), (decode(located(text)),))
    writer = MemoryWriter(passage_terms(text), 120, COUNT, 1)
    return writer.lines(memory.messages, outdated=frozenset({memory.messages[0].place}))


def link_corrections(text: str) -> object:
    found = [decode(located(text, number)) for number in (1, 2)]
    corrections = CorrectionFinder()(found[1])
    return CorrectionLinker(corrections)([MemoryItem(hit(1), (found[0],))])


def find_duplicates(text: str) -> object:
    seen = SeenTexts()
    terms = frozenset(tokenize(text))
    return seen.has_similar(terms), seen.has_similar(terms), same_question(f"{text}?")(text)


def preview(text: str) -> object:
    tokens = COUNT(text) + 4
    return Previewer(COUNT)(WindowMessage(message(text), 1, Role.USER, 0, tokens, tokens), 200)


def render_text(text: str) -> object:
    return encode_text(text, "  "), encode_label(text, ": "), speaker_label(text[:64], Role.USER)


COMPONENTS: Mapping[str, Component] = {
    "facts by rules": lambda text: RuleExtractor().extract([utterance(text)]),
    "facts by rules, of an answer": extract_answer,
    "summary of messages": summarize_messages,
    "summary of a summary": summarize_summary,
    "shortened summary": lambda text: shorten(text, 8, COUNT),
    "passage": lambda text: passage(text, {"error", *tokenize(text[:200])}, 120, COUNT),
    "corrections": find_corrections,
    "batches for a model": prepare_model_batches,
    "answer of a model": check_model_answer,
    "sentences": split_sentences,
    "leading sentences": lambda text: truncate_to_sentences(text, 8, COUNT),
    "injected text": lambda text: (strip_injected(text), is_injected_prompt(text, [text])),
    "echo filter": filter_echoes,
    "terms of the index": analyze_terms,
    "search in a partition": search_partition,
    "search by substring": search_substring,
    "artifacts": rank_artifacts,
    "facts for a context": order_facts,
    "fact merge": merge_fact,
    "usage counters": count_usage,
    "message validation": check_request,
    "metadata validation": check_request_metadata,
    "chunker": lambda text: list(CHUNKER(text)),
    SMALL_CHUNKS: lambda text: list(SMALL_CHUNKER(text)),
    "truncation": lambda text: truncate_middle(text, 20, COUNT),
    "preview": preview,
    "memory": write_memory,
    "correction links": link_corrections,
    "duplicates": find_duplicates,
    "rendering": render_text,
    **{f"tokens of {name}": COUNTERS.named(name).count for name in COUNTER_NAMES},
}


def warm() -> None:
    """Load vocabularies and fill the caches that the first text would pay for."""
    for component in COMPONENTS.values():
        for text in ("I am a hostile text. What is it?", "\u4e2d\u6587"):
            component(text)
