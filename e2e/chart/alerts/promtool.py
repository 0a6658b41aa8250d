"""
Check rules and evaluate them over time with Prometheus' promtool.
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from e2e.chart.alerts.timeline import selector
from e2e.controlplane import assets
from reporter.sinks.metrics.declarations.declaration import PREFIX


Json = dict[str, Any]
MINUTE = "1m"


def each_rule(rules: Json) -> Iterator[Json]:
    """
    Yield each alert and each recorded series.
    """
    for group in rules["groups"]:
        yield from group["rules"]


def alerts_of(rules: Json) -> list[Json]:
    return [rule for rule in each_rule(rules) if "alert" in rule]


def metrics_of(rules: Json) -> set[str]:
    """
    Return the reporter's metrics that the rules are about.
    """
    expressions = " ".join(rule["expr"] for rule in each_rule(rules))
    return set(re.findall(rf"{PREFIX}\w+", expressions))


def rule_errors(rules: Json) -> str:
    """
    Return what Prometheus reports about expressions, templates and durations; empty if nothing.
    """
    done = _promtool("check", "rules", stdin=json.dumps(rules))
    return "" if done.returncode == 0 else done.stdout + done.stderr


def firing_errors(
    rules: Json,
    series: Sequence[Json],
    firing: Mapping[int, Iterable[Mapping[str, str]]],
    folder: Path,
    *,
    texts: Sequence[Json] = (),
    alert: str = "",
) -> str:
    """
    Return how the alerts that fire differ from those expected; empty if they do not.

    *firing*: the labels of all alerts by minute, or of those named *alert*. *texts*: further checks as
    promtool has them.
    """
    (folder / "rules.json").write_text(json.dumps(rules))
    test = {
        "rule_files": ["rules.json"],
        "evaluation_interval": MINUTE,
        "tests": [
            {
                "interval": MINUTE,
                "input_series": list(series),
                "promql_expr_test": [
                    _expected(at, alerts, alert) for at, alerts in firing.items()
                ],
                "alert_rule_test": list(texts),
            }
        ],
    }
    (folder / "test.json").write_text(json.dumps(test))
    done = _promtool("test", "rules", str(folder / "test.json"))
    return "" if done.returncode == 0 else done.stdout + done.stderr


def _expected(minute: int, alerts: Iterable[Mapping[str, str]], name: str) -> Json:
    names = [selector("ALERTS", {**each, "alertstate": "firing"}) for each in alerts]
    values = [{"labels": name, "value": 1} for name in names]
    expr = selector("ALERTS", {"alertstate": "firing", "alertname": name})
    return {"expr": expr, "eval_time": f"{minute}m", "exp_samples": values}


def _promtool(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    program = assets.program("promtool")
    return subprocess.run(
        [program, *words], input=stdin, capture_output=True, text=True, check=False
    )
