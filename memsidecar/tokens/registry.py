"""Registry of counters by tokenizer name and by model."""

from threading import Lock

from memsidecar.tokens.contract import Counter, Counters
from memsidecar.tokens.estimate import Calibrated, CharsPerFour, InvalidCounter, load_custom
from memsidecar.tokens.families import BASE_VOCABULARY, FAMILIES, FamilyCounter, TokenClasses
from memsidecar.tokens.models import lookup
from memsidecar.tokens.tiktoken_counter import VOCABULARIES, TiktokenCounter

# The setting has no slash, receipts have one.
_CHARS_PER_FOUR_SETTING = "chars4"


class CounterRegistry(Counters):
    """The counters of the installed tokenizers. A vocabulary is loaded by its counter's first count. Thread-safe."""

    def __init__(self, default: str) -> None:
        """Raises InvalidCounter, so that a wrong setting fails at start."""
        self._lock = Lock()
        exact = [TiktokenCounter(name) for name in VOCABULARIES]
        classes = TokenClasses(next(counter for counter in exact if counter.name == BASE_VOCABULARY))
        built_in: list[Counter] = [*exact, *(FamilyCounter(family, classes) for family in FAMILIES), CharsPerFour()]
        self._by_name = {counter.name: counter for counter in built_in}
        self.default: Counter = self.named(default)

    def named(self, name: str) -> Counter:
        """Return the same instance for the same name. Raises InvalidCounter for an unknown name."""
        name = CharsPerFour.name if name == _CHARS_PER_FOUR_SETTING else name
        with self._lock:
            if name not in self._by_name:
                self._by_name[name] = _load(name)
            return self._by_name[name]

    def for_model(self, model: str, factor: float = 1.0) -> Counter:
        """Return the model's counter; the default one for an empty name. An exact counter ignores the factor."""
        name = lookup(model).counter_name
        counter = self.named(name) if name else self.default
        return counter if counter.exact or factor == 1 else Calibrated(counter, factor)


def _load(name: str) -> Counter:
    if ":" in name:
        return load_custom(name)
    known = ", ".join([*VOCABULARIES, "chars4", "module:function"])
    raise InvalidCounter(f"tokenizer {name!r} is not known; known: {known}")
