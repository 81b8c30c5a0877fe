"""Exposition of points in the formats of Prometheus, by prometheus_client."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.core import Metric as Family
from prometheus_client.exposition import choose_encoder
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from memsidecar.domain.statistics import DistributionSnapshot
from memsidecar.metrics.definitions import METRICS, Metric, MetricKind, Point

PointSource = Callable[[], Iterable[Point]]
"Reads points of some metrics. Called on the thread of a scrape, so it waits for no lock that is held for long."


class PointCollector(Collector):
    """Makes families of the points of all sources. A metric without points is a family without samples."""

    def __init__(self, sources: Sequence[PointSource]) -> None:
        self._sources = sources

    def describe(self) -> Iterable[Family]:
        return [_family(metric) for metric in METRICS]

    def collect(self) -> Iterator[Family]:
        families = {metric: _family(metric) for metric in METRICS}
        for source in self._sources:
            for metric, labels, value in source():
                _add(families[metric], labels, value)
        yield from families.values()


class Exposition:
    """Renders all metrics. It has a registry of its own: libraries cannot add to it."""

    def __init__(self, sources: Sequence[PointSource]) -> None:
        self._registry = CollectorRegistry()
        self._registry.register(PointCollector(sources))
        ProcessCollector(registry=self._registry)

    def render(self, accept: str) -> tuple[str, bytes]:
        """Return the content type and the page, as OpenMetrics if `accept` prefers it. Takes milliseconds of CPU."""
        try:
            encode, content_type = choose_encoder(accept)
        except TypeError:  # prometheus_client fails on a version that is no number
            encode, content_type = choose_encoder("")
        return content_type, encode(self._registry)


def _family(metric: Metric) -> Family:
    unit = metric.unit if metric.name.removesuffix("_total").endswith(f"_{metric.unit}") else ""
    if metric.kind is MetricKind.COUNTER:
        return CounterMetricFamily(metric.name, metric.meaning, labels=metric.labels, unit=unit)
    if metric.kind is MetricKind.GAUGE:
        return GaugeMetricFamily(metric.name, metric.meaning, labels=metric.labels, unit=unit)
    return HistogramMetricFamily(metric.name, metric.meaning, labels=metric.labels, unit=unit)


def _add(family: Family, labels: Sequence[str], value: float | DistributionSnapshot) -> None:
    if isinstance(family, HistogramMetricFamily):
        assert isinstance(value, DistributionSnapshot)
        family.add_metric(labels, _buckets(value), value.sum)
    elif isinstance(family, CounterMetricFamily | GaugeMetricFamily):
        assert not isinstance(value, DistributionSnapshot)
        family.add_metric(labels, value)


def _buckets(found: DistributionSnapshot) -> list[tuple[str, float]]:
    bounds = map(floatToGoString, found.bounds)
    return [*zip(bounds, map(float, found.cumulative), strict=True), ("+Inf", float(found.count))]


def process_metrics() -> Mapping[str, str]:
    """Return the meaning of the metrics of the process, by name. Only Linux has them."""
    return {
        f"{family.name}{'_total' if family.type == 'counter' else ''}": family.documentation
        for family in ProcessCollector(registry=None).collect()
    }
