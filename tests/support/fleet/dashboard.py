"""The queries of the example dashboard of a fleet."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any


EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "grafana-fleet.json"


def _queries(found: Any) -> Iterator[str]:
    if isinstance(found, dict):
        yield from [found["expr"]] if "expr" in found else []
        found = list(found.values())
    if isinstance(found, list):
        for each in found:
            yield from _queries(each)


QUERIES = tuple(_queries(json.loads(EXAMPLE.read_text("utf-8"))))


def query_of(panel: str) -> str:
    """Return the query of the panel with this title."""
    every = json.loads(EXAMPLE.read_text("utf-8"))["panels"]
    (found,) = (each["targets"][0]["expr"] for each in every if each["title"] == panel)
    return str(found)
