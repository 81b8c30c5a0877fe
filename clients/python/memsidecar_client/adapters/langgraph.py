"""A store of LangGraph (`langgraph`) stored in a sidecar.

    store = MemsidecarStore(client)
    store.put(("memories", "ana"), "home", {"text": "Ana lives in Lisbon."})
    store.search(("memories", "ana"), query="Where does Ana live?")
    graph = builder.compile(store=store)

An item is a document: put again it is replaced, deleted it is erased from every file, and it is found by its words and
its meaning. A namespace of LangGraph is a session of the sidecar, which holds the documents and is never talked in.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from operator import ge, gt, le, lt
from typing import Any, Literal

from memsidecar_client import Client, Document
from memsidecar_client.adapters import _contract
from memsidecar_client.adapters._attachments import Attachments
from memsidecar_client.adapters._contract import Place
from memsidecar_client.adapters._extras import missing
from memsidecar_client.errors import NotFound

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        validate_op_namespace,
    )
except ImportError as error:
    raise missing("langgraph", error) from error

Namespace = tuple[str, ...]
Index = Literal[False] | list[str] | None

MAX_RECORD_BYTES = 14_000
"""In bytes, of the 16,384 that the metadata of a document may have."""

NAME_PLATE = "namespace"
"""The id of the one message of a namespace's session. With it the session exists, and is listed."""

LEASE = "lease"
MIN_TTL_MINUTES = 1 / 60_000
MAX_TTL_MINUTES = 100 * 365 * 24 * 60

COMPARISONS: dict[str, Callable[[float, float], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}


@dataclass(frozen=True)
class _Record:
    """An item with the store's own data."""

    key: str
    value: dict[str, Any]
    created_at: datetime
    updated_at: datetime
    index: Index
    ttl_minutes: float | None
    attached: bool = False

    def to_json(self) -> str:
        return json.dumps(
            {
                "key": self.key,
                "value": self.value,
                "created_at": self.created_at.isoformat(),
                "updated_at": self.updated_at.isoformat(),
                "index": self.index,
                "ttl_minutes": self.ttl_minutes,
            }
        )

    @staticmethod
    def from_json(text: str, attached: bool) -> "_Record":
        read = json.loads(text)
        for name in ("created_at", "updated_at"):
            read[name] = datetime.fromisoformat(read[name])
        return _Record(**read, attached=attached)


class MemsidecarStore(BaseStore):
    """LangGraph's store. Everything that an item says can be searched, unless `index` names fields of it, or is False.

    namespace: The namespace in the sidecar; no other program should store documents of the whole namespace there.
    user_id: Whose the store is in the sidecar. ttl: As other stores of LangGraph have it: `default_ttl` in minutes,
    `refresh_on_read`.
    """

    supports_ttl = True

    def __init__(
        self,
        client: Client,
        *,
        namespace: str = "langgraph",
        user_id: str = "langgraph",
        ttl: TTLConfig | None = None,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._user_id = user_id
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Reads first, then writes; of writes to one item the last one. So do the stores of LangGraph itself."""
        asked = list(ops)
        for op in asked:
            validate_op_namespace(op)
        results: list[Result] = [None if isinstance(op, PutOp) else self._read(op) for op in asked]
        for op in {(op.namespace, op.key): op for op in asked if isinstance(op, PutOp)}.values():
            self._write(op)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await asyncio.to_thread(self.batch, list(ops))

    def sweep_ttl(self) -> int:
        """Erase expired items and return their number. Reads omit expired items; until the sweep they stay stored."""
        return sum(self._room(namespace).sweep() for namespace in self._namespaces())

    def _read(self, op: GetOp | SearchOp | ListNamespacesOp) -> Result:
        if isinstance(op, GetOp):
            return self._get(op)
        if isinstance(op, SearchOp):
            return self._search(op)
        if isinstance(op, ListNamespacesOp):
            return self._list(op)
        raise ValueError(f"unknown operation: {type(op)}")

    def _get(self, op: GetOp) -> Item | None:
        room = self._room(op.namespace)
        record = room.record(op.key)
        if record is None:
            return None
        room.touch(record, op.refresh_ttl)
        return Item(
            value=record.value,
            key=record.key,
            namespace=op.namespace,
            created_at=record.created_at,
            updated_at=record.updated_at,
        )

    def _search(self, op: SearchOp) -> list[SearchItem]:
        """Return hits of the query first, best first; then, without a score, other items, newest first."""
        found: list[tuple[float | None, _Room, _Record]] = []
        for namespace in self._namespaces():
            if namespace[: len(op.namespace_prefix)] == op.namespace_prefix:
                room = self._room(namespace)
                scores = room.scores(op.query) if op.query else {}
                found += [(scores.get(_document_id(record.key)), room, record) for record in room.records()]
        kept = [entry for entry in found if _passes(entry[2].value, op.filter)]
        kept.sort(key=lambda entry: (entry[0] or 0.0, entry[2].updated_at), reverse=True)
        page = kept[op.offset : op.offset + op.limit]
        for _, room, record in page:
            room.touch(record, op.refresh_ttl)
        return [
            SearchItem(
                namespace=room.labels,
                key=record.key,
                value=record.value,
                created_at=record.created_at,
                updated_at=record.updated_at,
                score=score,
            )
            for score, room, record in page
        ]

    def _list(self, op: ListNamespacesOp) -> list[Namespace]:
        """Return the namespaces that contain an item."""
        wanted = op.match_conditions or ()
        matching = [entry for entry in self._namespaces() if all(_matches(entry, condition) for condition in wanted)]
        cut = sorted({entry[: op.max_depth] for entry in matching if any(True for _ in self._room(entry).records())})
        return cut[op.offset : op.offset + op.limit]

    def _write(self, op: PutOp) -> None:
        room = self._room(op.namespace)
        before = room.record(op.key)
        if op.value is None:
            if before is not None:
                room.delete(before)
            return
        now = datetime.now(UTC)
        room.put(
            _Record(
                key=op.key,
                value=dict(op.value),
                created_at=before.created_at if before else now,
                updated_at=now,
                index=op.index,
                ttl_minutes=op.ttl,
                attached=before.attached if before else False,
            )
        )

    def _namespaces(self) -> Iterator[Namespace]:
        for session in self._client.iter_sessions(namespace=self._namespace, user_id=self._user_id, page_size=1000):
            yield tuple(session.session_id.split("."))

    def _room(self, namespace: Namespace) -> "_Room":
        place = Place(namespace=self._namespace, user_id=self._user_id, session_id=".".join(namespace))
        return _Room(self._client, place, namespace)


@dataclass(frozen=True)
class _Room:
    """The session with the items of one namespace. Its name joins the labels by full stops, which labels cannot
    contain.
    """

    client: Client
    place: Place
    labels: Namespace

    def record(self, key: str) -> _Record | None:
        """Read one record: documents are listed in the order of their ids."""
        wanted = (document for document in self._documents() if document.id == _document_id(key))
        return next(self._living(wanted), None)

    def records(self) -> Iterator[_Record]:
        return self._living(self._documents())

    def touch(self, record: _Record, refresh: bool) -> None:
        if refresh and record.ttl_minutes is not None:
            self._lease(record)

    def sweep(self) -> int:
        leases = self._leases()
        expired = [record for record in self._read(self._documents()) if _is_over(record, leases)]
        for record in expired:
            self.delete(record)
        return len(expired)

    def scores(self, query: str | None) -> dict[str, float]:
        """Return scores by document: the relevance of its best chunk."""
        scores: dict[str, float] = {}
        for hit in self.client.search_documents(**self.place, query=query or "", limit=1000).hits:
            scores.setdefault(hit.chunk.document_id, hit.relevance)
        return scores

    def put(self, record: _Record) -> None:
        """Store an item; a value that is too large for the metadata becomes an attachment."""
        document_id, written = _document_id(record.key), record.to_json()
        attached = len(written) > MAX_RECORD_BYTES
        if attached:
            self._attachments().put(document_id, written)
        if record.ttl_minutes is not None:
            self._lease(record)
        self.client.add(**self.place, message_id=NAME_PLATE, role="system", content=self.place["session_id"])
        self.client.put_document(
            **self.place,
            document_id=document_id,
            text=_searchable(record),
            metadata={"record": "" if attached else written},
        )
        if record.attached and not attached:
            self._attachments().delete([document_id])

    def delete(self, record: _Record) -> None:
        """Ignore documents that are deleted already, by another process or because they expired."""
        document_id = _document_id(record.key)
        with suppress(NotFound):
            self.client.delete_document(**self.place, document_id=document_id)
        if record.attached:
            self._attachments().delete([document_id])
        if record.ttl_minutes is not None:
            with suppress(NotFound):
                self.client.delete_artifact(**self.place, artifact_id=_lease_id(document_id))

    def _documents(self) -> Iterator[Document]:
        return self.client.iter_documents(**self.place, page_size=1000)

    def _living(self, documents: Iterable[Document]) -> Iterator[_Record]:
        leases: set[str] | None = None
        for record in self._read(documents):
            if record.ttl_minutes is not None and leases is None:
                leases = self._leases()
            if not _is_over(record, leases or set()):
                yield record

    def _read(self, documents: Iterable[Document]) -> Iterator[_Record]:
        attached: dict[str, str] = {}
        for document in documents:
            written = str(document.metadata["record"])
            if not written and document.id not in attached:
                attached = self._attachments().all()
            yield _Record.from_json(written or attached[document.id], attached=not written)

    def _lease(self, record: _Record) -> None:
        """An item with a time to live has an artifact that expires with it: to make that longer touches no value, so a
        reader never overwrites what a writer puts.
        """
        document_id = _document_id(record.key)
        self.client.put_artifact(
            **self.place,
            artifact_id=_lease_id(document_id),
            source=LEASE,
            content="-",
            expire_time=_expiry(record.ttl_minutes or 0),
            metadata={"document": document_id},
        )

    def _leases(self) -> set[str]:
        artifacts = self.client.iter_artifacts(**self.place)
        return {str(artifact.metadata["document"]) for artifact in artifacts if artifact.source == LEASE}

    def _attachments(self) -> Attachments:
        return Attachments(self.client, self.place)


def _document_id(key: str) -> str:
    return _contract.id_of(key) or "none"


def _searchable(record: _Record) -> str:
    """Return the searchable text; a document must have a text, so an item without one gets a sign that is no word."""
    if record.index is False:
        return "-"
    paths = record.index or ["$"]
    texts = [text for path in paths for text in get_text_at_path(record.value, path)]
    found = _contract.sendable("\n".join(texts))
    return found if found.strip() else "-"


def _lease_id(document_id: str) -> str:
    return _contract.id_of(f"{LEASE}/{document_id}")


def _expiry(minutes: float) -> datetime:
    """Return the expiry time, within the range that the contract accepts."""
    return datetime.now(UTC) + timedelta(minutes=min(max(minutes, MIN_TTL_MINUTES), MAX_TTL_MINUTES))


def _is_over(record: _Record, leases: set[str]) -> bool:
    return record.ttl_minutes is not None and _document_id(record.key) not in leases


def _passes(value: Any, wanted: Mapping[str, Any] | None) -> bool:
    return all(_equals(value.get(key), condition) for key, condition in (wanted or {}).items())


def _equals(value: Any, condition: Any) -> bool:
    """Return whether a value equals the condition, or satisfies all of its operators."""
    if isinstance(condition, Mapping):
        if any(key.startswith("$") for key in condition):
            return all(_compares(value, operator, wanted) for operator, wanted in condition.items())
        return isinstance(value, Mapping) and all(_equals(value.get(key), entry) for key, entry in condition.items())
    if isinstance(condition, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(condition)
            and all(_equals(entry, wanted) for entry, wanted in zip(value, condition, strict=True))
        )
    return bool(value == condition)


def _compares(value: Any, operator: str, wanted: Any) -> bool:
    """Compare a value; a missing one compares as false."""
    if operator in ("$eq", "$ne"):
        return bool(value == wanted) == (operator == "$eq")
    if operator not in COMPARISONS:
        raise ValueError(f"unknown operator: {operator}")
    return value is not None and COMPARISONS[operator](float(value), float(wanted))


def _matches(namespace: Namespace, condition: MatchCondition) -> bool:
    path = condition.path
    if len(namespace) < len(path):
        return False
    labels = namespace[: len(path)] if condition.match_type == "prefix" else namespace[len(namespace) - len(path) :]
    return all(wanted in ("*", label) for label, wanted in zip(labels, path, strict=True))
