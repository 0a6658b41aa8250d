"""The panels of the dashboard, and their queries as Grafana sends them."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from e2e.chart import CHART


Json = dict[str, Any]
FILE = CHART / "files" / "dashboard.json"
DASHBOARD: Json = json.loads(FILE.read_text("utf-8"))
ALL = ".*"
VARIABLES: Mapping[str, str] = {
    "$__rate_interval": "5m",
    "$__range": "3600s",
    "$cluster": ALL,
    "$namespace": ALL,
    "$owner": ALL,
}
"""The values of Grafana's variables, with "All" chosen."""


@dataclass(frozen=True)
class Query:
    panel: str
    ref: str
    type: str
    text: str
    instant: bool

    def sent(self, **chosen: str) -> str:
        text = self.text
        for name, value in {**VARIABLES, **{f"${k}": v for k, v in chosen.items()}}.items():
            text = text.replace(name, value)
        return text


def panels() -> Iterator[Json]:
    yield from DASHBOARD["panels"]


def queries() -> list[Query]:
    return [
        Query(
            panel["title"],
            target["refId"],
            panel["type"],
            target["expr"],
            bool(target.get("instant")),
        )
        for panel in panels()
        for target in panel.get("targets", ())
    ]


def query_of(panel: str) -> Query:
    (found,) = (each for each in queries() if each.panel == panel)
    return found
