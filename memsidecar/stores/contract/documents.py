"""Documents: texts of a client, stored in chunks, replaced as a whole."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple


class Owner(NamedTuple):
    """The scope of a document or record: a session, else a user, else the whole namespace.

    What a session owns has an empty `user_id`, also if the session has a user.
    """

    namespace: str
    user_id: str = ""
    session_id: str = ""


class Chunk(NamedTuple):
    text: str
    tokens: int


@dataclass(frozen=True, slots=True)
class DocumentDraft:
    """A document to put. `metadata` is an encoded Struct, `sha256` the hex digest of the whole text."""

    owner: Owner
    id: str
    title: str
    source: str
    metadata: bytes
    create_time_us: int
    sha256: str
    tokens: int
    chunking: str
    "Parameters of the chunker: the same text with other parameters is a change."
    chunks: Sequence[Chunk]
    layout: bytes = b""
    "How the text is made of the chunks again. It is white space and numbers. Opaque to the journal."

    def stored(self, row_id: int, version: int) -> "StoredDocument":
        """Return the stored form, without chunks."""
        return StoredDocument(
            row_id=row_id,
            version=version,
            owner=self.owner,
            id=self.id,
            title=self.title,
            source=self.source,
            metadata=self.metadata,
            create_time_us=self.create_time_us,
            sha256=self.sha256,
            tokens=self.tokens,
            chunk_count=len(self.chunks),
            chunking=self.chunking,
        )


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document. `row_id` never changes; `version` is the lsn of the put that wrote its chunks.

    `chunks` and `layout` are empty where only the header was read; a document of an older version has no layout.
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
    layout: bytes = b""


@dataclass(frozen=True, slots=True)
class PutDocument:
    """Store a document with all its chunks, in place of an earlier version.

    The same text with the same chunking keeps its chunks and version; a new title, source or metadata is stored.
    A put that changes nothing writes nothing. Result: DocumentPut.
    """

    document: DocumentDraft


@dataclass(frozen=True, slots=True)
class DocumentPut:
    document: StoredDocument
    unchanged: bool
    "Text, title, source and metadata were stored already."


@dataclass(frozen=True, slots=True)
class DeleteDocument:
    """Erase a document from every file; NotFound if there is none. Result: DocumentDeleted.

    With `version`, NotFound also if it was put again since that version.
    """

    owner: Owner
    document_id: str
    version: int | None = None


@dataclass(frozen=True, slots=True)
class DocumentDeleted:
    removed_chunks: int


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """An owner's documents in the order of their ids, after that id."""

    owner: Owner
    limit: int = 100
    after_id: str = ""
