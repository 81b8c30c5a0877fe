"""Sidecars with metrics, and what a scraper reads from them."""

from collections.abc import Mapping
from typing import NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from tests.http.http_client import HTTP, HttpClient
from tests.support.process import SidecarProcess
from tests.support.waiting import until

Labels = Mapping[str, str]

_SAMPLE_TIME = "memsidecar_sample_timestamp_seconds"


class Series(NamedTuple):
    name: str
    labels: Labels
    value: float


class Scrape:
    """One answer of /metrics."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.families = {family.name: family for family in text_string_to_metric_families(text)}
        self.series = [
            Series(sample.name, sample.labels, sample.value)
            for family in self.families.values()
            for sample in family.samples
        ]

    @property
    def names(self) -> set[str]:
        """The names with which a query can select series. A metric without series has its name, too."""
        return {
            f"{name}{suffix}"
            for name, family in self.families.items()
            for suffix in {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}.get(family.type, ("",))
        }

    def value(self, name: str, **labels: str) -> float:
        """Return the value of the only series with these labels."""
        (found,) = self.values(name, **labels)
        return found

    def values(self, name: str, **labels: str) -> list[float]:
        return [
            series.value for series in self.series if series.name == name and labels.items() <= series.labels.items()
        ]


def scrape(sidecar: SidecarProcess) -> Scrape:
    return Scrape(_page(sidecar))


def _page(sidecar: SidecarProcess) -> str:
    with HttpClient(sidecar.ready["http_listen"]) as http:
        answer = http.get("/metrics")
    assert answer.status == 200
    return answer.body.decode()


def sampled_scrape(sidecar: SidecarProcess) -> Scrape:
    """Return a scrape with a sample that began after this call."""

    def sample_time() -> str:
        """Return the line of the gauge. To parse all others each time would keep a processor busy."""
        (line,) = [line for line in _page(sidecar).splitlines() if line.startswith(f"{_SAMPLE_TIME} ")]
        return line

    times = {sample_time()}

    def has_two_more() -> bool:
        times.add(sample_time())
        return len(times) > 2

    until(has_two_more)  # the first may have been under way
    return scrape(sidecar)


__all__ = ["HTTP", "Labels", "Scrape", "Series", "sampled_scrape", "scrape"]
