"""Validation of manifests by the schemas of Kubernetes."""

from importlib import import_module
from typing import Any

from tests.helm.rendering import Manifest


def problem(manifest: Manifest, kubernetes: str) -> str | None:
    """Return the first field that this version of Kubernetes rejects, or None."""
    # By name and late: only `make test-helm` installs it, and `make test` imports this file, too.
    library: Any = import_module("kubernetes_validate")
    try:
        library.validate(manifest, kubernetes, strict=True)
    except library.ValidationError as error:
        return f"{manifest['kind']}: {error.message}"
    return None
