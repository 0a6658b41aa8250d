"""
The rules that the chart renders, with all that switches some of them on.
"""

from typing import Any

import pytest

from e2e.chart import CHART, golden
from e2e.chart.helm import Helm


SWITCHED_ON = (
    "prometheusRule.enabled=true,statusObjects.enabled=true,rollupMetrics=namespace"
    ",store.backend=healthevents"
)


@pytest.fixture
def rules(helm: Helm) -> dict[str, Any]:
    rendered = helm.render(CHART, f"--set={SWITCHED_ON}", golden.OPERATOR)
    (found,) = (each["spec"] for each in rendered if each["kind"] == "PrometheusRule")
    return dict(found)
