"""
The rules that the chart renders, with all that switches some of them on, and the pages of each state.
"""

from typing import Any

import pytest

from e2e.chart import CHART, golden
from e2e.chart.alerts import states as produced
from e2e.chart.alerts.capture import States
from e2e.chart.helm import Helm


SWITCHED_ON = (
    "prometheusRule.enabled=true,statusObjects.enabled=true,rollupMetrics=namespace"
    ",store.backend=healthevents,mirrorEvents=true"
)


@pytest.fixture(scope="session")
def rules(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    helm = Helm(tmp_path_factory.mktemp("helm"))
    rendered = helm.render(CHART, f"--set={SWITCHED_ON}", golden.OPERATOR)
    (found,) = (each["spec"] for each in rendered if each["kind"] == "PrometheusRule")
    return dict(found)


@pytest.fixture(scope="session")
def states(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> States:
    expected = {
        each.callspec.params.get("name")
        for each in request.session.items
        if isinstance(each, pytest.Function)
        and "states" in each.fixturenames
        and hasattr(each, "callspec")
    }
    return States(tmp_path_factory.mktemp("states"), produced.ALL, expected)
