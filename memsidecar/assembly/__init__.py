"""From settings to a running sidecar: the one room that names concrete parts. Opens in order, closes in reverse."""

from memsidecar.assembly.maintenance import run_doctor, run_reindex
from memsidecar.assembly.serve import run_serve

__all__ = ["run_doctor", "run_reindex", "run_serve"]
