"""A summary as lines: one for each turn of a speaker, who is named at its head. Read back, it is the same sentences."""

import re
from collections.abc import Collection, Iterable, Iterator
from functools import cache

from memsidecar.domain.message import Role
from memsidecar.language.contract import Utterance
from memsidecar.language.extractive.salience import Said
from memsidecar.language.extractive.sentences import line_sentences, sentences_of

_LONGEST_LABEL_CHARACTERS = 40
_LABELLED = re.compile(rf"([^\W_][^:\n]{{0,{_LONGEST_LABEL_CHARACTERS - 1}}}): (?=\S)")
_ROLES = {Role.USER: "User", Role.ASSISTANT: "Assistant", Role.TOOL: "Tool", Role.SYSTEM: "System"}


def label_of(utterance: Utterance) -> str:
    """The speaker's name where it can stand at the head of a line, else the role."""
    name = " ".join(utterance.name.replace(":", " ").split())
    if name[:1].isalnum() and len(name) <= _LONGEST_LABEL_CHARACTERS:
        return name
    return _ROLES.get(Role(utterance.role), "User") if utterance.role in list(Role) else "User"


def spoken(utterance: Utterance) -> Iterator[Said]:
    label = label_of(utterance)
    return (Said(label, sentence) for sentence in sentences_of(utterance.text))


def read(summary: str, labels: Collection[str]) -> Iterator[Said]:
    """The sentences of a former summary, or of any text. `labels` are speakers', whatever they look like."""
    for line in summary.splitlines():
        label, text = _parted(line.strip(), labels)
        yield from (Said(label, sentence) for sentence in line_sentences(text))


def _parted(line: str, labels: Collection[str]) -> tuple[str, str]:
    found = _LABELLED.match(line)
    if found and (found[1] in labels or _looks_like_a_name(found[1])):
        return found[1], line[found.end() :]
    return "", line


def _looks_like_a_name(label: str) -> bool:
    """One word, or a few capitalised ones: "He told me: go" is a sentence."""
    words = label.split(" ")
    return len(words) == 1 or (len(words) <= 4 and not any(word[:1].islower() for word in words))


class Lines:
    """Writes sentences as lines. Who looks for what fits writes the same ones again and again: pairs are remembered."""

    def __init__(self) -> None:
        self._stay_apart = cache(_stay_apart)

    def written(self, sentences: Iterable[Said]) -> str:
        lines: list[str] = []
        last = Said("", "")
        for said in sentences:
            if lines and said.label and said.label == last.label and self._stay_apart(last.text, said.text):
                lines[-1] += f" {said.text}"
            else:
                lines.append(f"{said.label}: {said.text}" if said.label else said.text)
            last = said
        return "\n".join(lines)


def _stay_apart(first: str, second: str) -> bool:
    """Whether two sentences on one line are read back as two; else each needs a line of its own."""
    return list(line_sentences(f"{first} {second}")) == [first, second]
