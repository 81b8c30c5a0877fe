"""Who carries out which command."""

from collections.abc import Callable
from typing import Any

from memsidecar.stores.contract import (
    Advance,
    Append,
    Calibrate,
    Claim,
    DropDocument,
    DropNote,
    Erase,
    PutDocument,
    ReviseNotes,
    Rewrite,
    SetAside,
    SetPolicy,
    Trim,
    TrimNow,
)
from memsidecar.stores.journal.advance import advance
from memsidecar.stores.journal.append import append
from memsidecar.stores.journal.calibrate import calibrate
from memsidecar.stores.journal.claim import claim
from memsidecar.stores.journal.drop_document import drop_document
from memsidecar.stores.journal.drop_note import drop_note
from memsidecar.stores.journal.erase import erase
from memsidecar.stores.journal.put_document import put_document
from memsidecar.stores.journal.revise_notes import revise_notes
from memsidecar.stores.journal.rewrite import rewrite
from memsidecar.stores.journal.set_aside import set_aside
from memsidecar.stores.journal.set_policy import set_policy
from memsidecar.stores.journal.staging import Stage
from memsidecar.stores.journal.trim import trim, trim_now

VERBS: dict[type, Callable[[Stage, Any], Any]] = {
    Append: append,
    Rewrite: rewrite,
    Trim: trim,
    TrimNow: trim_now,
    Erase: erase,
    Claim: claim,
    SetPolicy: set_policy,
    Calibrate: calibrate,
    Advance: advance,
    SetAside: set_aside,
    PutDocument: put_document,
    DropDocument: drop_document,
    ReviseNotes: revise_notes,
    DropNote: drop_note,
}
