"""What the user says, sentence by sentence, with the marks that tell whether it is worth to be read."""

from collections.abc import Iterator
from itertools import islice

from memsidecar.language.rules.corrections import corrected, is_a_correction, may_be_a_correction
from memsidecar.language.rules.passages import own_words
from memsidecar.language.rules.sentences import Sentence, sentences
from memsidecar.language.rules.spelling import WRITTEN, as_spelled
from memsidecar.language.rules.vocabulary import Vocabulary

SENTENCES_PER_MESSAGE = 400
"Nobody says more at once; who seems to, pasted it."


class Heard:
    """A sentence of the user's. As it was meant it is made out once somebody asks: for most, the marks are enough."""

    __slots__ = ("_is_spelled", "_meant", "_said", "marks")

    def __init__(self, said: Sentence, marks: int, *, is_spelled: bool) -> None:
        self.marks = marks
        self._said = said
        self._is_spelled = is_spelled
        self._meant: Sentence | None = None

    def meant(self) -> Sentence:
        if self._meant is None:
            self._meant = Sentence(corrected(self._spelled()), self._said.asked)
        return self._meant

    def is_a_correction(self) -> bool:
        return may_be_a_correction(self._said.text) and is_a_correction(self._spelled())

    def correct(self, by: "Heard") -> None:
        meant = self.meant()
        self._meant = Sentence(corrected(f"{meant.text}, {by._spelled()}"), meant.asked)
        self.marks |= by.marks

    def _spelled(self) -> str:
        return self._said.text if self._is_spelled else as_spelled(self._said.text)


class Listener:
    def __init__(self, vocabulary: Vocabulary) -> None:
        self._marks = vocabulary.marks
        self._misspelled = vocabulary.mark(WRITTEN)

    def hear(self, text: str) -> Iterator[Heard]:
        """In order; a sentence that only corrects the one before it is none of its own."""
        every = (sentence for line in own_words(text) for sentence in sentences(line))
        held: Heard | None = None
        for said in islice(every, SENTENCES_PER_MESSAGE):
            marks = self._marks(said.text)
            heard = Heard(said, marks, is_spelled=not marks & self._misspelled)
            if held is None:
                held = heard
            elif heard.is_a_correction():
                held.correct(heard)
            else:
                yield held
                held = heard
        if held is not None:
            yield held
