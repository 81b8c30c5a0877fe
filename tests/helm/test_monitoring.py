"""Scraping, alerts and dashboard: rendered only if they are enabled, and from the files that are tested elsewhere."""

import json

import pytest
import yaml

from tests.helm.rendering import CHART, Helm, Manifest, of_kind, pods
from tests.helm.schemas import problem

SERVICE: Manifest = {"mode": "service", "tls": {"secretName": "tls"}, "access": {"secretName": "access"}}
ENABLED: Manifest = {name: {"enabled": True} for name in ("serviceMonitor", "prometheusRule", "dashboard")}


def test_nothing_of_it_is_rendered_by_default(either_helm: Helm) -> None:
    manifests = either_helm.render(SERVICE)
    assert {"ServiceMonitor", "PrometheusRule", "ConfigMap"}.isdisjoint(manifest["kind"] for manifest in manifests)
    (pod,) = pods(of_kind("StatefulSet", manifests))
    assert "memory-http" not in [port["name"] for port in pod["containers"][0]["ports"]]


def test_a_service_monitor_finds_the_http_port_of_the_pod(either_helm: Helm) -> None:
    manifests = either_helm.render(SERVICE | ENABLED)
    (monitor,) = of_kind("ServiceMonitor", manifests)
    labels = monitor["spec"]["selector"]["matchLabels"]
    (service,) = [
        each for each in of_kind("Service", manifests) if labels.items() <= each["metadata"]["labels"].items()
    ]
    (endpoint,), (port,) = monitor["spec"]["endpoints"], service["spec"]["ports"]
    assert (endpoint["port"], endpoint["path"], endpoint["scheme"]) == (port["name"], "/metrics", "https")
    assert endpoint["tlsConfig"]["serverName"] == "memory-memsidecar.agents.svc"
    (pod,) = pods(of_kind("StatefulSet", manifests))
    container = pod["containers"][0]
    assert {"name": port["targetPort"], "containerPort": 7680} in container["ports"]
    assert {"name": "MEMSIDECAR_HTTP_LISTEN", "value": "0.0.0.0:7680"} in container["env"]


def test_only_the_named_peers_reach_the_http_port(either_helm: Helm) -> None:
    peers = [{"podSelector": {"matchLabels": {"app": "prometheus"}}}]
    (policy,) = of_kind(
        "NetworkPolicy", either_helm.render(SERVICE | ENABLED | {"networkPolicy": {"metricsFrom": peers}})
    )
    rules = [rule for rule in policy["spec"]["ingress"] if rule["ports"][0]["port"] == "memory-http"]
    assert [rule["from"] for rule in rules] == [peers]


def test_the_rules_and_the_dashboard_are_those_of_the_files(either_helm: Helm) -> None:
    manifests = either_helm.render(SERVICE | ENABLED)
    (rule,) = of_kind("PrometheusRule", manifests)
    assert rule["spec"] == yaml.safe_load((CHART / "files" / "alerts.yaml").read_text())
    (config_map,) = of_kind("ConfigMap", manifests)
    (shown,) = config_map["data"].values()
    assert json.loads(shown) == json.loads((CHART / "files" / "dashboard.json").read_text())
    assert config_map["metadata"]["labels"]["grafana_dashboard"] == "1"


def test_kubernetes_knows_every_field_of_its_own_kinds(either_helm: Helm) -> None:
    own = [each for each in either_helm.render(SERVICE | ENABLED) if "monitoring.coreos.com" not in each["apiVersion"]]
    assert [found for manifest in own if (found := problem(manifest, "1.37.0"))] == []


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mode": "injection"} | ENABLED, "a collector in the pod reads http://127.0.0.1:7680/metrics"),
        (SERVICE | ENABLED | {"settings": {"metrics": "off"}}, "would scrape nothing"),
        (SERVICE | ENABLED | {"settings": {"http_listen": "0.0.0.0:80"}}, "see listen.httpPort"),
        (SERVICE | ENABLED | {"listen": {"httpPort": 7600}}, "listen.httpPort is 7600, the port of another listener"),
        (SERVICE | ENABLED | {"networkPolicy": {"metricsFrom": None}}, "networkPolicy.metricsFrom is empty"),
    ],
)
def test_values_that_would_scrape_nothing_are_rejected(either_helm: Helm, values: Manifest, words: str) -> None:
    assert words in either_helm.refusal(values)


def test_alerts_and_dashboard_are_for_every_mode(either_helm: Helm) -> None:
    only = {name: {"enabled": True} for name in ("prometheusRule", "dashboard")}
    for mode in ("injection", "sidecar"):
        manifests = either_helm.render({"mode": mode, **only})
        assert of_kind("PrometheusRule", manifests) and of_kind("ConfigMap", manifests)
