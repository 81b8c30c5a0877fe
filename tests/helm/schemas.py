"""What Kubernetes' own schemas say about a manifest."""

from importlib import import_module
from typing import Any

from tests.helm.rendering import Manifest


def problem(manifest: Manifest, kubernetes: str) -> str | None:
    """The first field that this version of Kubernetes does not take, or None."""
    # By name and late: only `make test-helm` installs it, and `make test` imports this file, too.
    library: Any = import_module("kubernetes_validate")
    try:
        library.validate(manifest, kubernetes, strict=True)
    except library.ValidationError as error:
        return f"{manifest['kind']}: {error.message}"
    return None
