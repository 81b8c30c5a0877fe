"""The alerts and the dashboard of the chart: their names are exported, and each alert is tested and documented."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.metrics.scrape import HTTP, scrape
from tests.support.process import SidecarProcess

ROOT = Path(__file__).resolve().parents[2]
FILES = ROOT / "helm" / "memsidecar" / "files"
NAME = re.compile(r"\b(?:memsidecar|process)_\w+")


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load((FILES / "alerts.yaml").read_text())["groups"]
    return list(group["rules"])


def alert_names() -> list[str]:
    return [rule["alert"] for rule in rules()]


def expressions() -> list[str]:
    """Return the queries of all alerts and of all panels."""
    panels = json.loads((FILES / "dashboard.json").read_text())["panels"]
    queries = [target["expr"] for panel in panels for target in panel.get("targets", ())]
    assert queries
    return [*(rule["expr"] for rule in rules()), *queries]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    with SidecarProcess(tmp_path_factory.mktemp("alerts") / "data", *HTTP) as sidecar:
        return scrape(sidecar).names


def test_every_name_of_a_query_is_exported(exported: set[str]) -> None:
    used = {name for expression in expressions() for name in NAME.findall(expression)}
    assert used - exported == set()


def test_the_dashboard_shows_every_metric(exported: set[str]) -> None:
    used = {name for expression in expressions() for name in NAME.findall(expression)}
    families = {re.sub(r"_(bucket|count|sum)$", "", name) for name in used}
    own = {re.sub(r"_(bucket|count|sum)$", "", name) for name in exported if name.startswith("memsidecar_")}
    assert own - families == set()


def test_each_alert_has_a_unit_test() -> None:
    tests = yaml.safe_load((ROOT / "tests" / "metrics" / "alerts_test.yaml").read_text())["tests"]
    assert [test["name"] for test in tests] == alert_names()
    for test in tests:
        for query in test["promql_expr_test"]:
            assert f'alertname="{test["name"]}"' in query["expr"] and query["exp_samples"]


def test_each_alert_is_documented_in_the_order_of_the_file() -> None:
    page = (ROOT / "docs" / "operations.md").read_text()
    assert re.findall(r"^\| `(Memsidecar\w+)` \|", page, re.MULTILINE) == alert_names()


def test_each_alert_has_a_severity_and_says_what_is_wrong() -> None:
    for rule in rules():
        assert rule["labels"]["severity"] in {"warning", "critical"}
        assert rule["annotations"].keys() == {"summary", "description"}
