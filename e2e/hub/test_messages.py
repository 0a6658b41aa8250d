"""
The messages in the course of an outage: real reporters, a hub, Prometheus and Alertmanager, with the rules of the
charts and the example of Alertmanager. Only the times differ: each duration of rules and routes is divided by FACTOR.
"""

import contextlib
import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest

from e2e.chart import CHART, golden
from e2e.chart.alerts import states as produced
from e2e.chart.alerts.capture import States
from e2e.chart.helm import Helm
from e2e.chart.hub.rendered import NAME, objects_of_hub, rendered_hub
from e2e.chart.hub.rendered import NAMESPACE as RELEASE
from e2e.controlplane import ControlPlane, WaitTimeout, until
from e2e.hub.parts import hub_process
from e2e.hub.parts.engines import KEPT
from e2e.hub.parts.hub_process import HubProcess
from e2e.hub.parts.receivers import PAGERDUTY, Alertmanager, Inbox, Message, example, inbox
from e2e.hub.parts.recorded_cluster import RecordedCluster, recorded_cluster
from e2e.hub.parts.shortened import shortened
from e2e.support.metrics_process import Prometheus
from e2e.support.observer import NO_PAGES
from e2e.support.production_stack import inference_sets
from e2e.support.production_stack.inference_sets import INVALID_REASON
from e2e.support.reporter_process import ReporterProcess
from e2e.support.shared_plane import SharedPlane
from e2e.support.timeouts import SHORT_FLAGS
from reporter.cli.hub_configuration import HUB_LEASE
from tests.support.ports import free_port


pytestmark = pytest.mark.controlplane

Json = dict[str, Any]
FACTOR = 15
INTERVAL = 30 // FACTOR
"""Seconds between two scrapes, and two evaluations."""

GROUP_INTERVAL = 300 // FACTOR
ARRIVES_WITHIN = 180
"""Seconds within which a message is there on a busy machine."""

PATIENT = ("--lease-duration-seconds=60", "--renew-deadline-seconds=50")
"""The Lease of the hub, which is never killed: an API server that stands still for a while is no outage of it."""

RUNBOOKS = "https://runbooks.example.com"
RULES = f"--set=prometheusRule.enabled=true,prometheusRule.runbookURL={RUNBOOKS}"
CHANNEL = "#platform-alerts"


@pytest.mark.parametrize(
    ("given", "shorter"),
    [
        ({"for": "5m", "alert": "In5m"}, {"for": "20000ms", "alert": "In5m"}),
        ({"expr": "increase(x[600s]) > 2"}, {"expr": "increase(x[40000ms]) > 2"}),
        ({"expr": "x offset 1h"}, {"expr": "x offset 240000ms"}),
        ({"expr": "time() - x <= 300 or y > 30"}, {"expr": "time() - x <= 20 or y > 30"}),
        ({"routes": [{"group_wait": "30s"}]}, {"routes": [{"group_wait": "2000ms"}]}),
    ],
)
def test_only_times_are_shortened(given: Json, shorter: Json) -> None:
    assert shortened(given, FACTOR) == shorter


class Expected:
    """All that should have been sent."""

    def __init__(self, found: Inbox) -> None:
        self._sent, self._expected = found.messages, list[Message]()

    def arrive(self, *messages: Message) -> None:
        """Wait until these have been sent, beside those before. Nothing else may have been."""
        self._expected += messages
        with contextlib.suppress(WaitTimeout):
            until(
                lambda: len(self._sent) >= len(self._expected),
                within=ARRIVES_WITHIN,
                what="they are sent",
            )
        self.nothing_else()

    def nothing_else(self) -> None:
        assert Counter(self._sent) == Counter(self._expected)


@pytest.fixture
def helm(tmp_path: Path) -> Helm:
    return Helm(tmp_path)


@pytest.fixture
def states(tmp_path: Path) -> States:
    return States(tmp_path / "states", produced.ALL, ("healthy", "finding"))


@pytest.fixture
def plane(small_plane: SharedPlane) -> Iterator[ControlPlane]:
    with inference_sets.lent_plane(small_plane, 1) as plane:
        yield plane


@pytest.fixture
def alertmanager(plane: ControlPlane, tmp_path: Path) -> Iterator[tuple[Alertmanager, Expected]]:
    """
    Run one with a disk of its own: it sends no second time what it sent in another test, and has noted there.
    """
    with inbox() as found:
        config = shortened(example(plane.folder, found), FACTOR)
        process = Alertmanager(plane, f"alertmanager-{tmp_path.name}", config)
        process.start()
        yield process, Expected(found)
        process.stop()


def _line(status: str, summary: str, owner: str, page: str) -> str:
    return f"{status} {summary}, owner {owner} <{RUNBOOKS}/{page.lower()}|runbook>"


def _slack(status: str, *lines: str) -> Message:
    return Message(CHANNEL, status, "\n".join(lines))


def _of_model(status: str, number: int = 0) -> str:
    """Return the line of the finding on a model."""
    summary = f"{INVALID_REASON} in team-0/model-{number} in cluster west"
    return _line(status, summary, "user", f"reasons.md#{INVALID_REASON}")


def _finding(status: str) -> Message:
    return _slack(status, _of_model(status))


def _critical(status: str, summary: str, alert: str) -> tuple[Message, Message]:
    """Return the messages of an alert that pages."""
    action = "trigger" if status == "FIRING" else "resolve"
    line = _line(status, summary, "platform", f"alerts.md#ProductionStack{alert}")
    return _slack(status, line), Message(PAGERDUTY, action, summary)


def _silent(status: str, cluster: str) -> tuple[Message, Message]:
    summary = f"No replica of the status reporter is the leader in cluster {cluster}"
    return _critical(status, summary, "StatusReporterSilent")


# ---------------------------------------------------------------- what Alertmanager makes of alerts


FINDING, SILENT = "ProductionStackFinding", "ProductionStackStatusReporterSilent"


def _alert(line: str, **labels: str) -> Json:
    """Return an alert as Prometheus sends it, with the annotations that make this line of a message."""
    found = re.fullmatch(r"(\w+) (.*), owner (\w+) <(.*)\|runbook>", line)
    assert found is not None
    status, summary, owner, url = found.groups()
    now = datetime.now(UTC)
    lasts = timedelta(hours=1) if status == "FIRING" else timedelta()
    return {
        "labels": {"cluster": WEST, "owner": owner, **labels},
        "annotations": {"summary": summary, "runbook_url": url},
        "startsAt": now.isoformat(),
        "endsAt": (now + lasts).isoformat(),
    }


def _alert_of_model(status: str, number: int = 0) -> Json:
    labels = {"alertname": FINDING, "severity": "warning", "namespace": "team-0"}
    return _alert(_of_model(status, number), inferenceset=f"model-{number}", **labels)


def _send(alertmanager: Alertmanager, *alerts: Json) -> None:
    headers = {"Content-Type": "application/json"}
    body = json.dumps(alerts).encode()
    request = Request(f"{alertmanager.url}/api/v2/alerts", data=body, headers=headers)
    with urlopen(request, timeout=60) as response:
        assert response.status == HTTPStatus.OK


@pytest.mark.slow
def test_the_end_of_a_finding_arrives_also_while_the_reporter_is_silent(
    alertmanager: tuple[Alertmanager, Expected],
) -> None:
    """Prometheus may find first that the finding is over, or that the reporter is back."""
    process, expected = alertmanager
    _send(process, _alert_of_model("FIRING"))
    expected.arrive(_finding("FIRING"))
    messages = _silent("FIRING", WEST)
    labels = {"alertname": SILENT, "severity": "critical", "namespace": "kaito-system"}
    _send(process, _alert(messages[0].text, **labels))
    expected.arrive(*messages)
    _send(process, _alert_of_model("RESOLVED"))
    expected.arrive(_finding("RESOLVED"))


@pytest.mark.slow
def test_a_message_says_which_models_have_recovered(
    alertmanager: tuple[Alertmanager, Expected],
) -> None:
    process, expected = alertmanager
    _send(process, _alert_of_model("FIRING", 0), _alert_of_model("FIRING", 1))
    expected.arrive(_slack("FIRING", _of_model("FIRING", 0), _of_model("FIRING", 1)))
    _send(process, _alert_of_model("RESOLVED", 0))
    expected.arrive(_slack("FIRING", _of_model("RESOLVED", 0), _of_model("FIRING", 1)))


# ---------------------------------------------------------------- the course of an outage


WEST, EAST = "west", "east"
"""Clusters with rules of their own in a Prometheus of both."""

NORTH, SOUTH = "north", "south"
"""Clusters of which the hub answers, and that send nothing but the series of the status."""


@dataclass(frozen=True)
class Course:
    plane: ControlPlane
    reporter: ReporterProcess
    east: RecordedCluster
    north: RecordedCluster
    south: RecordedCluster
    expected: Expected

    def until_clusters(self, **states: str) -> None:
        def shown() -> dict[str, str]:
            objects = {name: hub_process.read(self.plane.client, name) for name in states}
            return {name: each.get("status", {}).get("state") for name, each in objects.items()}

        until(lambda: shown() == states, within=ARRIVES_WITHIN, what=f"the hub shows {states}")


def _rules(helm: Helm) -> tuple[Json, Json]:
    """Return the rules of a reporter, and those of a hub, for the name that it has here."""
    reporters = helm.render(CHART, RULES, golden.OPERATOR)
    (found,) = (each["spec"] for each in reporters if each["kind"] == "PrometheusRule")
    hubs = rendered_hub(helm, RULES)
    rules = json.dumps(objects_of_hub(hubs)["PrometheusRule"]["spec"])
    of_release, of_test = f"{RELEASE}/{NAME}", f"{hub_process.NAMESPACE}/{HUB_LEASE}"
    assert of_release in rules
    return found, json.loads(rules.replace(of_release, of_test))


def _prometheus(
    plane: ControlPlane, name: str, jobs: list[Json], rules: Json, alertmanager: Alertmanager
) -> Prometheus:
    interval = f"{INTERVAL}s"
    receivers = [{"static_configs": [{"targets": [f"127.0.0.1:{alertmanager.port}"]}]}]
    config = {
        "global": {"scrape_interval": interval, "evaluation_interval": interval},
        "scrape_configs": jobs,
        "rule_files": ["rules.json"],
        "alerting": {"alertmanagers": receivers},
    }
    engine = Prometheus(plane, name, config, "--storage.tsdb.path={folder}/data")
    (engine.folder / "rules.json").write_text(json.dumps(shortened(rules, FACTOR)))
    return engine


def _job(name: str, port: int, **more: Any) -> Json:
    target = {"targets": [f"127.0.0.1:{port}"], "labels": {"cluster": name, "pod": f"{name}-0"}}
    return {"job_name": name, "scrape_timeout": f"{INTERVAL}s", "static_configs": [target], **more}


def _rollup_only(name: str, port: int) -> Json:
    kept = {"source_labels": ["__name__"], "regex": KEPT, "action": "keep"}
    return _job(name, port, metric_relabel_configs=[kept])


def _of_hub(port: int) -> Json:
    target = {"targets": [f"127.0.0.1:{port}"]}
    return {"job_name": "hub", "honor_labels": True, "static_configs": [target]}


@pytest.fixture
def course(
    helm: Helm,
    states: States,
    plane: ControlPlane,
    alertmanager: tuple[Alertmanager, Expected],
) -> Iterator[Course]:
    """Run it all, once the hub has seen that its clusters are Current."""
    process, expected = alertmanager
    flags = (*SHORT_FLAGS, NO_PAGES, "--rollup-metrics=namespace")
    resync = f"--resync-seconds={60 // FACTOR}"
    of_reporters, of_hub = _rules(helm)
    hub_process.install(plane.client)
    with contextlib.ExitStack() as stack:
        reporter = stack.enter_context(ReporterProcess(plane, *flags, resync))
        east, north, south = (
            stack.enter_context(recorded_cluster(name, states["healthy"]))
            for name in (EAST, NORTH, SOUTH)
        )
        jobs = [_job(WEST, reporter.metrics_port), _job(EAST, east.port)]
        engine = _prometheus(plane, "engine", jobs, of_reporters, process)
        hub_port = free_port()
        rollups = [_rollup_only(each.name, each.port) for each in (north, south)]
        central = _prometheus(plane, "central", [*rollups, _of_hub(hub_port)], of_hub, process)
        for each in (engine, central):
            each.start()
            stack.callback(each.stop)
        for name in (NORTH, SOUTH):
            hub_process.create_cluster(plane.client, name)
        hub = HubProcess(plane, central, *PATIENT)
        hub.metrics_port = hub_port
        stack.enter_context(hub)
        found = Course(plane, reporter, east, north, south, expected)
        found.until_clusters(north="Current", south="Current")
        yield found


def _failed(status: str, cluster: str) -> tuple[Message, Message]:
    summary = f"The production stack of cluster {cluster} is Failed"
    return _critical(status, summary, "ClusterFailed")


def _silent_at_the_hub(status: str, cluster: str) -> tuple[Message, Message]:
    summary = f"The production stack of cluster {cluster} is silent"
    return _critical(status, summary, "ClusterSilent")


@pytest.mark.slow
def test_each_trouble_is_one_message_and_resolves_when_it_is_over(
    course: Course, states: States
) -> None:
    expected, healthy = course.expected, states["healthy"]
    expected.nothing_else()
    inference_sets.misconfigure(course.plane.client, 0)
    expected.arrive(_finding("FIRING"))
    course.reporter.kill()
    expected.arrive(*_silent("FIRING", WEST))
    course.east.fall_silent()
    expected.arrive(*_silent("FIRING", EAST))
    course.south.fall_silent()
    expected.arrive(*_silent_at_the_hub("FIRING", SOUTH))
    course.north.show(states["finding"])
    expected.arrive(*_failed("FIRING", NORTH))
    course.reporter.start()
    expected.arrive(*_silent("RESOLVED", WEST))
    until(
        lambda: course.reporter.metric("findings_complete") == 1,
        within=ARRIVES_WITHIN,
        what="all findings are known again",
    )
    time.sleep(GROUP_INTERVAL + 3 * INTERVAL)
    expected.nothing_else()
    inference_sets.repair(course.plane.client, 0)
    expected.arrive(_finding("RESOLVED"))
    for each in (course.east, course.south, course.north):
        each.show(healthy)
    expected.arrive(
        *_silent("RESOLVED", EAST),
        *_silent_at_the_hub("RESOLVED", SOUTH),
        *_failed("RESOLVED", NORTH),
    )
    time.sleep(2 * GROUP_INTERVAL)
    expected.nothing_else()
