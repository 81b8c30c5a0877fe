"""Fixtures of many tests: a sidecar in a separate process, and a client."""

import gc
import signal
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from memsidecar.stores.lance.process_memory import defer_rest_client
from tests.support.attempts import Attempts, save_result
from tests.support.cached_models import cache_models
from tests.support.process import Client, SidecarProcess

cache_models()  # before a test module imports a function that is cached
defer_rest_client()  # before a test module imports LanceDB

# The same examples in each run, and no deadline, because it would depend on the machine.
hypothesis_settings.register_profile(
    "suite",
    max_examples=50,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
hypothesis_settings.load_profile("suite")

# Folders and files that targets other than `make test` run, and the markers of those targets.
MARKERS = {
    "adversary": "adversary",
    "archives/test_interruptions.py": "adversary",
    "benchmarks": "long",
    "bad_input/test_fields.py": "long",
    "bad_input/test_fuzz.py": "long",
    "documents/test_chunker_properties.py": "long",
    "faults/test_linearizability.py": "long",
    "faults/test_power_loss.py": "long",
    "fuzz": "long",
    "hostile/test_fairness.py": "long",
    "hostile/test_linear_time.py": "long",
    "http/test_same_errors.py": "long",
    "index/test_differential.py": "long",
    "index/test_process.py": "long",
    "language/test_extractive_properties.py": "long",
    "language/test_rules_properties.py": "long",
    "procedural/test_usage_counters.py": "long",
    "stores/test_differential.py": "long",
    "stores/test_differential_records.py": "long",
    "stores/test_differential_quotas.py": "long",
    "context_wire": "contexts",
    "access": "access",
    "tls": "access",
    "limits": "access",
    "mcp": "mcp",
    "cli/test_bench.py": "commands",
    "cli/test_compare.py": "commands",
    "cli/test_doctor.py": "commands",
    "cli/test_help.py": "commands",
    "cli/test_read_commands.py": "commands",
    "working/test_bounds.py": "long",
    "scenarios/test_reindex.py": "index_faults",
    "faults_index": "index_faults",
    "index/test_full_disk.py": "index_faults",
    "index/test_repair.py": "index_faults",
    "index/test_kills.py": "index_faults",
    "index/test_threads.py": "index_faults",
    "index/test_maintenance.py": "index_faults",
    "image/test_image.py": "image",
    "image/test_kill.py": "image",
    "helm": "helm",
    "console": "console",
    "postgres": "postgres",
    "helm/test_apiserver.py": "apiserver",
}


HERE = Path(__file__).parent


@cache
def marker_of(path: Path) -> str:
    """Return the marker of the target that runs the tests below a path; empty where `make test` does."""
    below = path.relative_to(HERE) if path.is_relative_to(HERE) else Path()
    places = [below, *below.parents]
    return next((MARKERS[str(place)] for place in places if str(place) in MARKERS), "")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not import the tests of other targets: in each worker the imports take as long as many tests."""
    marker = marker_of(collection_path)
    return True if marker and f"not {marker}" in config.option.markexpr else None


def pytest_configure() -> None:
    """Let commands be interrupted: a shell without job control starts background jobs with SIGINT ignored.

    Children inherit that, and Python then installs no handler.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(tryfirst=True)  # before the choice by marker
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if marker := marker_of(item.path):
            item.add_marker(marker)


def pytest_collection_finish() -> None:
    """Exempt modules, tests and loaded files from garbage collections: they are most objects and live to the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module")
def sidecar(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SidecarProcess]:
    """One sidecar for the tests of a module, which use session ids of their own."""
    with SidecarProcess(tmp_path_factory.mktemp("sidecar") / "data") as running:
        yield running


@pytest.fixture
def client(sidecar: SidecarProcess) -> Iterator[Client]:
    with sidecar.client() as connected:
        yield connected


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def attempts() -> Iterator[Attempts]:
    """Collect the attacks of a test for the table of `make test-adversary`."""
    counted = Attempts()
    yield counted
    counted.save()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report attacks that were not tried, or that failed, to the same table."""
    report = yield
    if item.get_closest_marker("adversary") and report.outcome != "passed":
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
        save_result({"name": item.name.removeprefix("test_").replace("_", " "), report.outcome: reason})
    return report
