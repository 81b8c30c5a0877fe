"""An entry of the log in RAM: what it is about, and not what it says, which is looked up when it is told."""

from enum import Enum, auto
from typing import NamedTuple


class About(Enum):
    MESSAGE = auto()
    ANNOTATION = auto()
    CLAIM = auto()
    ERASURE = auto()
    DOCUMENT = auto()
    WINDOW = auto()


class Entry(NamedTuple):
    """`number` is a session's, or the negative one of a document."""

    lsn: int
    about: About
    namespace: str
    number: int
    sequence: int = 0
