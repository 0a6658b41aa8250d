"""The alerts on reasons that are read from the metrics pages of model pods."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from e2e.chart.alerts.expected import LASTS, OURS, READ_FROM_PAGES, Alert
from e2e.chart.alerts.promtool import firing_errors
from e2e.chart.alerts.timeline import selector


pytestmark = pytest.mark.controlplane
"""helm and promtool are built together with the control plane."""

Json = dict[str, Any]


def _page_series(pages: Mapping[str, int], *, cluster: str) -> Iterator[Json]:
    """
    Yield the series of a reporter with so many pages by outcome, which cannot evaluate two reasons.
    """
    target = {"namespace": "kaito-system", "pod": "reporter-0", "cluster": cluster}
    values = {("leader", ""): 1}
    values |= {("scrape_pages", f'outcome="{outcome}"'): n for outcome, n in pages.items()}
    for reason in sorted(READ_FROM_PAGES):
        of = f'layer="x",owner="user",reason="{reason}",workload_namespace="team-a",reads="pages"'
        values["reason_state", f'{of},state="unknown"'] = 1
    for (name, labels), value in values.items():
        series = selector(OURS + name, target).replace("{", f"{{{labels}," if labels else "{")
        yield {"series": series, "values": f"{value}x{LASTS}"}
    evaluated = selector(f"{OURS}rollup_evaluated_timestamp_seconds", target)
    yield {"series": evaluated, "values": f"1+30x{LASTS}"}


@pytest.mark.parametrize(
    ("read", "failed", "unreadable"), [(0, 3, True), (1, 3, False), (0, 0, False)]
)
def test_one_alert_stands_for_all_namespaces_while_no_page_can_be_read(
    rules: Json, tmp_path: Path, read: int, failed: int, unreadable: bool
) -> None:
    pages = {"read": read, "failed": failed, "new": 0}
    series = [*_page_series(pages, cluster="west")]
    series += _page_series({"read": 5, "failed": 0, "new": 0}, cluster="east")

    def unknown(cluster: str) -> list[Alert]:
        labels = {"layer": "x", "workload_namespace": "team-a", "cluster": cluster}
        name = {"alertname": "ProductionStackReasonUnknown", "severity": "warning"}
        owned = {"namespace": "team-a", "owner": "platform", "reads": "pages"}
        return [{**name, **owned, **labels, "reason": each} for each in sorted(READ_FROM_PAGES)]

    one = {"alertname": "ProductionStackMetricsPagesUnreadable", "severity": "warning"}
    owned = {"namespace": "kaito-system", "owner": "platform"}
    west = [{**one, **owned, "cluster": "west"}] if unreadable else unknown("west")
    firing: dict[int, list[Alert]] = {50: [], LASTS - 1: [*unknown("east"), *west]}
    assert firing_errors(rules, series, firing, tmp_path) == ""
