"""Which commands may share a transaction."""

from collections.abc import Callable, Hashable
from typing import Any

from memsidecar.domain.session import SessionKey
from memsidecar.stores.contract import (
    AddDeadLetter,
    AdvanceWatermark,
    Append,
    Calibrate,
    Command,
    DeleteDocument,
    DeleteRecord,
    Erase,
    EraseUser,
    ExpireMessages,
    ForgetMessages,
    ImportDocument,
    ImportMessages,
    ImportRecords,
    ImportSession,
    Owner,
    PutDocument,
    UpdateWindowExclusive,
    UpsertRecords,
)


class CommandGroup:
    """The commands of one transaction, as far as their order matters.

    Lookups read the last committed state. So in one transaction an object is either only appended to, or changed by one
    other command. A window update that decides exclusively reads like any reader: it comes first, or waits. The erasure
    of a user and an import of messages change many objects: they are alone.
    """

    def __init__(self) -> None:
        self._appended: set[Hashable] = set()
        self._changed: set[Hashable] = set()
        self._record_commands: set[type] = set()
        self._is_alone = False

    def can_include(self, command: Command) -> bool:
        """Return whether the command would see the effects of all earlier ones; if so, include it."""
        target = _target(command)
        comes_first = isinstance(command, UpdateWindowExclusive | EraseUser | ImportMessages)
        if self._is_alone or target in self._changed or (comes_first and not self._is_empty):
            return False
        self._is_alone = isinstance(command, EraseUser | ImportMessages)
        if isinstance(command, Append):
            self._appended.add(target)
            return True
        self._changed.add(target)
        return target not in self._appended and self._separates_erasures(command)

    def _separates_erasures(self, command: Command) -> bool:
        """Return whether this transaction still has either record commands or erasures, and not both.

        The source session of a record is known only when its handler runs. An erasure would miss a record that was
        added before it, and a record could be derived from what an earlier erasure removes. An erasure of messages
        looks up the messages of other sessions, so no other erasure is in its transaction.
        """
        companions = _COMPANIONS.get(type(command))
        if companions is None:
            return True
        fits = self._record_commands <= companions
        self._record_commands.add(type(command))
        return fits

    @property
    def _is_empty(self) -> bool:
        return not self._appended and not self._changed


_RECORD_COMMANDS: frozenset[type] = frozenset({UpsertRecords, DeleteRecord, ImportRecords})
_COMPANIONS: dict[type, frozenset[type]] = {
    Erase: frozenset({Erase}),
    UpsertRecords: _RECORD_COMMANDS,
    DeleteRecord: _RECORD_COMMANDS,
    ImportRecords: _RECORD_COMMANDS,
    ForgetMessages: frozenset(),
    ExpireMessages: frozenset(),
}


def _owned_target(owner: Owner, name: Hashable) -> Hashable:
    """A session's documents and records are erased with it, so their target is the session."""
    return SessionKey(owner.namespace, owner.session_id) if owner.session_id else (*owner, name)


_TARGETS: dict[type, Callable[[Any], Hashable]] = {
    Calibrate: lambda command: (command.namespace, command.model, "calibration"),
    AdvanceWatermark: lambda command: (command.task, command.namespace, "watermark"),
    AddDeadLetter: lambda command: (command.task, command.namespace, command.lsn),
    PutDocument: lambda command: _owned_target(command.document.owner, command.document.id),
    DeleteDocument: lambda command: _owned_target(command.owner, command.document_id),
    UpsertRecords: lambda command: _owned_target(command.owner, command.kind),
    DeleteRecord: lambda command: _owned_target(command.owner, command.kind),
    EraseUser: lambda command: (command.namespace, command.user_id, "user"),
    ImportSession: lambda command: command.session.key,
    ImportMessages: lambda _: "import",
    ImportRecords: lambda command: _owned_target(command.owner, command.kind),
    ImportDocument: lambda command: _owned_target(command.document.owner, command.document.id),
}


def _target(command: Any) -> Hashable:
    """Return the object that at most one command of a transaction may change, unless all append to it."""
    target = _TARGETS.get(type(command))
    return command.key if target is None else target(command)
