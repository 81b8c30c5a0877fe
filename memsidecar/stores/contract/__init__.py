"""What a journal promises. `tests/conformance/` holds every implementation to it.

The journal is a log: one number, the lsn, for each entry, whatever its kind, growing by the order of commits.
Writers hand in commands and wait; readers see every command that has been answered, at once, whole or not at all.
"""

from memsidecar.stores.contract.commands import (
    Added,
    Advance,
    Append,
    Appended,
    Calibrate,
    Calibration,
    Change,
    Command,
    Erase,
    Erased,
    Forerunner,
    PolicySet,
    Revision,
    Rewrite,
    Rewritten,
    SetPolicy,
    Stale,
    Trim,
    Trimmed,
    TrimNow,
)
from memsidecar.stores.contract.journal import Journal
from memsidecar.stores.contract.reads import Found, JournalFigures, Page, Scope, Selection, SessionPage
from memsidecar.stores.contract.ticket import Ticket

__all__ = [
    "Added",
    "Advance",
    "Append",
    "Appended",
    "Calibrate",
    "Calibration",
    "Change",
    "Command",
    "Erase",
    "Erased",
    "Forerunner",
    "Found",
    "Journal",
    "JournalFigures",
    "Page",
    "PolicySet",
    "Revision",
    "Rewrite",
    "Rewritten",
    "Scope",
    "Selection",
    "SessionPage",
    "SetPolicy",
    "Stale",
    "Ticket",
    "Trim",
    "TrimNow",
    "Trimmed",
]
