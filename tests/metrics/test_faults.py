"""Metrics of sidecars with a model that fails, with an index, and with TLS."""

import http.client
import ssl
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memsidecar.v1 import memory_pb2
from tests.metrics.scrape import HTTP, Scrape, sampled_scrape, scrape
from tests.scenarios.index_readiness import until_index_is_ready
from tests.support.process import SidecarProcess
from tests.support.waiting import HANG_SECONDS, until
from tests.tls.authority import Authority
from tests.tls.server import tls_sidecar

pytestmark = pytest.mark.metrics

NO_SERVER = "http://127.0.0.1:1/v1"


def reaches(sidecar: SidecarProcess, name: str, least: float, **labels: str) -> Callable[[], bool]:
    return lambda: sum(scrape(sidecar).values(name, **labels)) >= least


def test_a_model_that_does_not_answer_is_counted_with_its_task(data_dir: Path) -> None:
    model = ("--model-url", NO_SERVER, "--model-name", "absent", "--facts-every-turns", "1")
    with SidecarProcess(data_dir, *HTTP, *model) as sidecar, sidecar.client() as client:
        client.add("s", "I live in Berlin.")
        until(reaches(sidecar, "memsidecar_model_requests_total", 1, outcome="failed"))
        until(reaches(sidecar, "memsidecar_task_failures_total", 1, task="semantic.facts"))
        until(reaches(sidecar, "memsidecar_fact_extraction_failures_total", 1, extractor="model"))
        until(reaches(sidecar, "memsidecar_task_lag_entries", 1, task="semantic.facts"))


def test_the_index_is_sampled_and_searches_are_timed(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP, "--index", "lancedb") as sidecar, sidecar.client() as client:
        until_index_is_ready(sidecar)
        for number in range(3):
            client.add("s", f"message {number} about trains", namespace=f"tenant-{number}")
        until(reaches(sidecar, "memsidecar_index_rows", 3))
        client.memory.Search(memory_pb2.SearchRequest(session_id="s", namespace="tenant-1", query="trains"))
        found = sampled_scrape(sidecar)
        assert found.value("memsidecar_index_tables") == 3
        assert found.value("memsidecar_index_fragments") >= 3 and found.value("memsidecar_index_disk_bytes") > 0
        assert found.value("memsidecar_index_ready") == 1
        index, process = (found.value("memsidecar_memory_used_bytes", part=part) for part in ("index", "process"))
        assert 0 < index < process
        assert found.value("memsidecar_index_call_duration_seconds_count") > 0
        assert found.value("memsidecar_retrieval_duration_seconds_count") == 1
        assert found.value("memsidecar_task_lag_entries", task="episodic") == 0


def test_the_page_is_served_over_tls_with_the_expiry_of_the_certificate(tmp_path: Path) -> None:
    authority = Authority.new()
    pair = authority.server()
    with tls_sidecar(tmp_path, pair, *HTTP) as sidecar:
        context = ssl.create_default_context(cadata=authority.pem.decode())
        host, _, port = sidecar.ready["http_listen"].rpartition(":")
        connection = http.client.HTTPSConnection(host, int(port), context=context, timeout=HANG_SECONDS)
        with closing(connection):
            connection.request("GET", "/metrics")
            found = Scrape(connection.getresponse().read().decode())
    expiry = found.value("memsidecar_tls_certificate_expiry_timestamp_seconds")
    assert expiry == pair.chain[0].not_valid_after_utc.timestamp()
