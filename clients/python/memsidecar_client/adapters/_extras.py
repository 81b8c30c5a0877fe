"""What is said when a framework is not installed."""


def missing(extra: str, error: ImportError) -> ImportError:
    """The error to raise for one that was met while a framework was imported."""
    return ImportError(f"{error}. This adapter needs: pip install 'memsidecar-client[{extra}]'", name=error.name)
