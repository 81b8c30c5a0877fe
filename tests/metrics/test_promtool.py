"""Prometheus's own tool accepts the alerts, and each alert fires when it should."""

import subprocess
from pathlib import Path

import pytest

from tests.metrics.scrape import HTTP, scrape
from tests.support.process import SidecarProcess

pytestmark = pytest.mark.metrics

ROOT = Path(__file__).resolve().parents[2]
PROMTOOL = ROOT / ".tools" / "bin" / "promtool"
ALERTS = ROOT / "helm" / "memsidecar" / "files" / "alerts.yaml"
SECONDS = 120


def promtool(*arguments: str, stdin: str = "") -> str:
    """Run promtool, and return what it prints. Fails if it finds a problem."""
    assert PROMTOOL.exists(), f"NOT TESTED: there is no {PROMTOOL}: `make test-metrics` builds it"
    command = [str(PROMTOOL), *arguments]
    done = subprocess.run(command, input=stdin, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_promtool_accepts_the_rules() -> None:
    assert "SUCCESS" in promtool("check", "rules", "--lint=all", "--lint-fatal", str(ALERTS))


def test_each_alert_fires_for_the_pod_that_is_ill_and_for_no_other() -> None:
    assert "SUCCESS" in promtool("test", "rules", str(ROOT / "tests" / "metrics" / "alerts_test.yaml"))


def test_an_alert_that_does_not_fire_fails_the_unit_test(tmp_path: Path) -> None:
    tests = (ROOT / "tests" / "metrics" / "alerts_test.yaml").read_text()
    rules = tmp_path / "alerts.yaml"
    rules.write_text(ALERTS.read_text().replace("> 0.5", "> 5.0"))
    changed = tmp_path / "alerts_test.yaml"
    changed.write_text(tests.replace("../../helm/memsidecar/files/alerts.yaml", str(rules)))
    with pytest.raises(AssertionError, match="MemsidecarRetrievalSlow"):
        promtool("test", "rules", str(changed))


def test_promtool_finds_nothing_to_improve_in_the_page(data_dir: Path) -> None:
    with SidecarProcess(data_dir, *HTTP) as sidecar:
        page = scrape(sidecar).text
    assert promtool("check", "metrics", stdin=page) == ""
