"""The error for a missing framework."""


def missing(extra: str, error: ImportError) -> ImportError:
    """Return the error to raise for an ImportError of a framework."""
    return ImportError(f"{error}. This adapter needs: pip install 'memsidecar-client[{extra}]'", name=error.name)
