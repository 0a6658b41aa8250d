"""Check rules and evaluate them over time with Prometheus' promtool."""

import json
import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from e2e.chart.alerts.timeline import selector
from e2e.controlplane import assets
from reporter.metrics.declarations import PREFIX


Json = dict[str, Any]
MINUTE = "1m"
RARELY = "400"
"""
Percent by which the heap grows before Go collects garbage: it saves a fifth of the CPU time, for 200 MB.
"""


def each_rule(rules: Json) -> Iterator[Json]:
    """Yield each alert and each recorded series."""
    for group in rules["groups"]:
        yield from group["rules"]


def alerts_of(rules: Json) -> list[Json]:
    return [rule for rule in each_rule(rules) if "alert" in rule]


def metrics_of(rules: Json) -> set[str]:
    """Return the reporter's metrics that the rules are about."""
    expressions = " ".join(rule["expr"] for rule in each_rule(rules))
    return set(re.findall(rf"{PREFIX}\w+", expressions))


_CHECKED: set[str] = set()
"""Groups and rules that are right: many values change one rule, and leave the others."""


def rule_errors(rules: Json) -> str:
    """
    Return what Prometheus reports about expressions, templates and durations; empty if nothing.
    """
    groups = json.dumps([each | {"rules": len(each["rules"])} for each in rules["groups"]])
    parts = {groups, *map(json.dumps, each_rule(rules))}
    if parts <= _CHECKED:
        return ""
    done = _promtool("check", "rules", "--lint=all", "--lint-fatal", stdin=json.dumps(rules))
    if done.returncode:
        return done.stdout + done.stderr
    _CHECKED.update(parts)
    return ""


@dataclass(frozen=True)
class AlertTest:
    """
    *firing*: the labels of all alerts by minute, or of those named *alert*. *texts*: further checks as
    promtool has them.
    """

    series: Sequence[Json]
    firing: Mapping[int, Iterable[Mapping[str, str]]]
    texts: Sequence[Json] = ()
    alert: str = ""

    def as_json(self, name: str) -> Json:
        return {
            "name": name,
            "interval": MINUTE,
            "input_series": list(self.series),
            "promql_expr_test": [
                _expected(at, alerts, self.alert) for at, alerts in self.firing.items()
            ],
            "alert_rule_test": list(self.texts),
        }


def firing_errors(
    rules: Json,
    series: Sequence[Json],
    firing: Mapping[int, Iterable[Mapping[str, str]]],
    folder: Path,
    *,
    alert: str = "",
    texts: Sequence[Json] = (),
) -> str:
    """Return how the alerts that fire differ from those expected; empty if they do not."""
    test = AlertTest(series, firing, texts, alert)
    return errors_by_name(rules, {"it": test}, folder)["it"]


def errors_by_name(rules: Json, tests: Mapping[str, AlertTest], folder: Path) -> dict[str, str]:
    """
    Return for each test how the alerts that fire differ from those expected; empty if they do not.

    One process runs all. Where it refuses their file, that is the error of each.
    """
    (folder / "rules.json").write_text(json.dumps(rules))
    file = {
        "rule_files": ["rules.json"],
        "evaluation_interval": MINUTE,
        "tests": [test.as_json(name) for name, test in tests.items()],
    }
    (folder / "test.json").write_text(json.dumps(file))
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    done = _promtool("test", "rules", f"--junit={report}", str(folder / "test.json"))
    found = _failures(report) if report.exists() else {}
    if found.keys() != tests.keys() or (done.returncode != 0) != any(found.values()):
        return dict.fromkeys(tests, done.stdout + done.stderr or "promtool reports nothing")
    return found


def _failures(report: Path) -> dict[str, str]:
    """Return the failures by the name of the test; empty for those that passed."""
    cases = ET.fromstring(report.read_bytes()).iter("testcase")
    return {case.attrib["name"]: "\n".join(case.itertext()).strip() for case in cases}


def _expected(minute: int, alerts: Iterable[Mapping[str, str]], name: str) -> Json:
    names = [selector("ALERTS", {**each, "alertstate": "firing"}) for each in alerts]
    values = [{"labels": name, "value": 1} for name in names]
    expr = selector("ALERTS", {"alertstate": "firing", "alertname": name})
    return {"expr": expr, "eval_time": f"{minute}m", "exp_samples": values}


def _promtool(*words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    program, env = assets.program("promtool"), os.environ | {"GOGC": RARELY}
    return subprocess.run(
        [program, *words], input=stdin, env=env, capture_output=True, text=True, check=False
    )
