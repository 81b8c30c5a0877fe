"""Each test of the chart runs with both versions of Helm."""

import pytest

from tests.helm.rendering import Helm, helm


@pytest.fixture(scope="session", params=[3, 4], ids=["helm3", "helm4"])
def either_helm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Helm:
    return helm(request.param, tmp_path_factory.mktemp(f"helm{request.param}"))
