"""The counters of one sidecar, one instance each."""

from threading import Lock

from memsidecar.tokens.contract import Counter
from memsidecar.tokens.estimate import Calibrated, CharsPerFour, InvalidCounter, load_custom
from memsidecar.tokens.models import lookup
from memsidecar.tokens.tiktoken_counter import VOCABULARIES, TiktokenCounter

# The setting is written without the slash, receipts with it.
_CHARS_PER_FOUR = ("chars/4", "chars4")


class Counters:
    """Thread-safe. Asking for a counter loads no vocabulary; its first count does."""

    def __init__(self, default: str) -> None:
        """Raises InvalidCounter, so that a wrong setting is refused at start."""
        self._lock = Lock()
        self._by_name: dict[str, Counter] = {}
        self.default: Counter = self.named(default)

    def named(self, name: str) -> Counter:
        """The same instance for the same name. Raises InvalidCounter for a name that is no tokenizer."""
        name = "chars/4" if name in _CHARS_PER_FOUR else name
        with self._lock:
            if name not in self._by_name:
                self._by_name[name] = _open(name)
            return self._by_name[name]

    def for_model(self, model: str, factor: float = 1.0) -> Counter:
        """The model's counter; the default one for an empty name. An exact counter ignores the factor."""
        name = lookup(model).counter_name
        counter = self.named(name) if name else self.default
        return counter if counter.exact or factor == 1 else Calibrated(counter, factor)


def _open(name: str) -> Counter:
    if name in VOCABULARIES:
        return TiktokenCounter(name)
    if name in _CHARS_PER_FOUR:
        return CharsPerFour()
    if ":" in name:
        return load_custom(name)
    known = ", ".join([*VOCABULARIES, "chars4", "module:function"])
    raise InvalidCounter(f"tokenizer {name!r} is not known; known: {known}")
