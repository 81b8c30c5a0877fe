"""Documents in the journal: given by the caller, kept in chunks, replaced as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Owner(NamedTuple):
    """Who sees a document: a session, or else a user, or with neither everybody in the namespace.

    A session's documents have an empty `user_id`, whoever the session belongs to.
    """

    namespace: str
    user_id: str = ""
    session_id: str = ""


class Chunk(NamedTuple):
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document as it is put. `metadata` is the encoded Struct, `sha256` the hex digest of the whole text."""

    owner: Owner
    id: str
    title: str
    source: str
    metadata: bytes
    create_time_us: int
    sha256: str
    tokens: int
    chunking: str
    "How it was chunked: the same text chunked otherwise is a change."
    chunks: Sequence[Chunk]

    def stored(self, number: int, version: int) -> "StoredDocument":
        """As it is kept, without its chunks."""
        names = (self.owner, self.id, self.title, self.source, self.metadata)
        figures = (self.create_time_us, self.sha256, self.tokens, len(self.chunks), self.chunking)
        return StoredDocument(number, version, *names, *figures)


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document as it is kept. `number` is its own for good; `version` is the lsn of the put that made its chunks.

    `chunks` is empty where only the figures were asked for.
    """

    row_id: int
    version: int
    owner: Owner
    id: str
    title: str
    source: str
    metadata: bytes
    create_time_us: int
    sha256: str
    tokens: int
    chunk_count: int
    chunking: str
    chunks: Sequence[Chunk] = ()


@dataclass(frozen=True, slots=True)
class PutDocument:
    """Keep a document: all of its chunks at once, in place of those it had.

    The same text, chunked the same way, keeps its chunks and its version; a new title, source or metadata is taken over
    all the same. Nothing at all is written when nothing at all is new.
    """

    document: DocumentDraft


@dataclass(frozen=True, slots=True)
class DocumentPut:
    document: StoredDocument
    unchanged: bool
    "Text, title, source and metadata were known already."


@dataclass(frozen=True, slots=True)
class DeleteDocument:
    """Erase a document from every file; NoSuchThing if there is none."""

    owner: Owner
    document_id: str


@dataclass(frozen=True, slots=True)
class DocumentDeleted:
    removed_chunks: int


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Which documents of an owner to list, in the order of their ids, after this one."""

    owner: Owner
    limit: int = 100
    after_id: str = ""
