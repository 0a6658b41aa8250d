"""
The rules that the chart renders, with all that switches some of them on, and the pages of each state.
"""

import asyncio
from typing import Any

import pytest

from e2e.chart import CHART, golden
from e2e.chart.alerts import states as produced
from e2e.chart.alerts.capture import State, produce
from e2e.chart.helm import Helm


SWITCHED_ON = (
    "prometheusRule.enabled=true,statusObjects.enabled=true,rollupMetrics=namespace"
    ",store.backend=healthevents,mirrorEvents=true"
)


@pytest.fixture
def rules(helm: Helm) -> dict[str, Any]:
    rendered = helm.render(CHART, f"--set={SWITCHED_ON}", golden.OPERATOR)
    (found,) = (each["spec"] for each in rendered if each["kind"] == "PrometheusRule")
    return dict(found)


@pytest.fixture(scope="session")
def states(tmp_path_factory: pytest.TempPathFactory) -> dict[str, State]:
    return asyncio.run(produce(tmp_path_factory.mktemp("states"), produced.ALL))
