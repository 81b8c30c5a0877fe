"""Composition of a sidecar from its settings. The only package that names concrete stores, embedders and models."""

from memsidecar.assembly.data_directory import directory_findings
from memsidecar.assembly.serve import run_serve
from memsidecar.assembly.storage import run_doctor, run_migrate, run_reindex

__all__ = ["directory_findings", "run_doctor", "run_migrate", "run_reindex", "run_serve"]
