"""From settings to a running sidecar: the one room that names concrete parts. Opens in order, closes in reverse."""

from memsidecar.assembly.maintenance import check, reindex
from memsidecar.assembly.serve import serve

__all__ = ["check", "reindex", "serve"]
