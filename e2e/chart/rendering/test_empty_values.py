"""
Values without a value: Helm removes what is null, and so are those of a release that keeps earlier values.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, golden
from e2e.chart.alerts.promtool import alerts_of
from e2e.chart.helm import Helm, HelmFailed
from e2e.chart.rendering.objects import arguments_of
from reporter.settings import load_settings
from tests.support.sample import one_in


pytestmark = pytest.mark.controlplane

VALUES: dict[str, Any] = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
KEYS = [
    *VALUES,
    *(
        f"{key}.{name}"
        for key, group in VALUES.items()
        if isinstance(group, dict)
        for name, value in group.items()
        if isinstance(value, dict | list | bool)
    ),
]
EVERYTHING = (
    "prometheusRule.enabled=true,serviceMonitor.enabled=true"
    ",networkPolicy.enabled=true,dashboard.enabled=true,podDisruptionBudget.enabled=true"
    ",statusObjects.enabled=true,store.backend=healthevents,mirrorEvents=true"
)


def _error(helm: Helm, key: str) -> str:
    """Return why the chart is not rendered without a value; empty if it is."""
    try:
        helm.render(CHART, f"--set={EVERYTHING}", golden.OPERATOR, f"--set={key}=null")
    except HelmFailed as err:
        return str(err)
    return ""


@pytest.mark.parametrize("key", one_in(5, KEYS))
def test_a_value_that_is_empty_is_its_default_or_is_named(helm: Helm, key: str) -> None:
    error = _error(helm, key)
    assert not error or (key.partition(".")[0] in error and "has no value: " in error)


# ---------------------------------------------------------------- one value of a group


SWITCHES = {"enabled", "backend"}


def _leaves(values: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, f"{prefix}{name}.")
        elif prefix and name not in SWITCHES:
            yield f"{prefix}{name}"


def _alerts(objects: list[dict[str, Any]]) -> list[tuple[str, ...]]:
    return sorted(
        (alert["alert"], alert["labels"].get("severity", ""), alert["expr"])
        for each in objects
        if each["kind"] == "PrometheusRule"
        for alert in alerts_of(each["spec"])
    )


@pytest.mark.parametrize("path", one_in(5, _leaves(VALUES)))
def test_one_that_is_empty_is_named_or_runs_with_the_same_alerts(helm: Helm, path: str) -> None:
    words = (f"--set={EVERYTHING}", golden.OPERATOR)
    try:
        objects = helm.render(CHART, *words, f"--set={path}=null")
    except HelmFailed as err:
        assert f"{path} has no value: " in str(err)  # noqa: PT017  either is right
        return
    assert load_settings(arguments_of(objects), {})
    assert _alerts(objects) == _alerts(helm.render(CHART, *words))
