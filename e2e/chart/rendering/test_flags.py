"""The flags that the chart gives to the process, and what goes with them."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e.chart import CHART, golden
from e2e.chart.helm import Helm
from e2e.chart.rendering.objects import arguments_of, object_of
from reporter.settings import RollUpScope, load_settings


pytestmark = pytest.mark.controlplane
"""The helm program is built together with the control plane."""

Json = dict[str, Any]
SILENCES = "/etc/status-reporter-silences/silences.yaml"
DIFFERS = {
    "kaito-namespace": "kaito-workspace",
    "resync-seconds": "60",
    "silence-file": SILENCES,
}
"""
Flags whose default in the chart differs from the program's: two always have, and a pod has a place for silences.
"""


@pytest.mark.parametrize("values", golden.OF_REPORTER, ids=lambda path: path.stem)
def test_program_accepts_every_flag(helm: Helm, values: Path, tmp_path: Path) -> None:
    overlay = tmp_path / "overlay.yaml"
    overlay.write_text("reasons: {}\n")
    mounted = "/etc/status-reporter/overlay.yaml"
    arguments = arguments_of(helm.render(CHART, f"--values={values}"))
    load_settings([each.replace(mounted, str(overlay)) for each in arguments], {})


def test_defaults_are_those_of_the_program(helm: Helm) -> None:
    given = dict(
        each.removeprefix("--").split("=", 1) for each in arguments_of(helm.render(CHART))
    )
    loaded = load_settings([], {})
    inside = {"status-bind-address": str(loaded.status_bind_address)}
    ours = {**loaded.flag_texts, **DIFFERS, **inside, "release-namespace": "kaito-system"}
    assert given == {name: ours[name] for name in given}
    assert {"metrics-bind-address", "leader-elect", "scrape-mode"} <= given.keys()


def test_status_is_inside_the_pod_alone_and_no_peer_is_let_in(helm: Helm) -> None:
    ports, address = _ingress_and_status_address(helm)
    assert address == "127.0.0.1:8082"
    assert ports == {"health": None, "metrics": None}
    assert load_settings([f"--status-bind-address={address}"], {}).status_bind_address == (
        load_settings([], {}).status_bind_address
    )


def test_status_that_is_opened_is_so_to_named_peers_alone(helm: Helm) -> None:
    peers = [{"ipBlock": {"cidr": "10.0.0.0/8"}}]
    named = ("--set-json", f"networkPolicy.statusFrom={json.dumps(peers)}")
    opened = "--set=statusBindAddress=:8090"
    assert _ingress_and_status_address(helm, opened) == (
        {"health": None, "metrics": None},
        ":8090",
    )
    assert _ingress_and_status_address(helm, *named)[0].keys() == {"health", "metrics"}
    assert _ingress_and_status_address(helm, opened, *named)[0][8090] == peers


@pytest.mark.parametrize("flag", ["--set", "--set-string"])
def test_status_is_switched_off_by_zero_as_number_and_as_text(helm: Helm, flag: str) -> None:
    ports, address = _ingress_and_status_address(helm, flag, "statusBindAddress=0")
    assert ports.keys() == {"health", "metrics"}
    assert load_settings([f"--status-bind-address={address}"], {}).status_bind_address is None


def test_status_that_asks_for_tokens_is_open_unless_peers_are_named(helm: Helm) -> None:
    peers = [{"ipBlock": {"cidr": "10.0.0.0/8"}}]
    named = ("--set-json", f"networkPolicy.statusFrom={json.dumps(peers)}")
    opened = "--set=statusBindAddress=:8090,statusAuthorization=kubernetes"
    assert _ingress_and_status_address(helm, opened)[0][8090] is None
    assert _ingress_and_status_address(helm, opened, *named)[0][8090] == peers
    inside = "--set=statusAuthorization=kubernetes"
    assert _ingress_and_status_address(helm, inside)[0].keys() == {"health", "metrics"}


def _ingress_and_status_address(helm: Helm, *words: str) -> tuple[dict[str | int, Any], str]:
    """Return the peers by port, None for everyone, and the address of the status page."""
    objects = helm.render(CHART, "--set=networkPolicy.enabled=true", *words)
    given = dict(each.removeprefix("--").split("=", 1) for each in arguments_of(objects))
    rules = object_of(objects, "NetworkPolicy")["spec"]["ingress"]
    peers = {port["port"]: rule.get("from") for rule in rules for port in rule["ports"]}
    return peers, given["status-bind-address"]


def test_overlay_is_mounted_and_a_change_of_it_leaves_the_pods_alone(helm: Helm) -> None:
    def template(overlay: str) -> Json:
        objects = helm.render(CHART, "--set-json", f"catalogueOverlay={overlay}")
        found: Json = object_of(objects, "Deployment")["spec"]["template"]
        content = yaml.safe_load(object_of(objects, "ConfigMap")["data"]["overlay.yaml"])
        assert content == json.loads(overlay)
        return found

    one = template('{"reasons": {"clusterKedaNotReady": {"enabled": false}}}')
    other = template('{"reasons": {"clusterKedaNotReady": {"enabled": true}}}')
    assert one == other


ROLLUP_ALERTS = {"ProductionStackStalled", "ProductionStackStatusReporterStatusOutdated"}


@pytest.mark.parametrize(
    ("written", "scope"),
    [
        ("off", RollUpScope.OFF),
        ('"off"', RollUpScope.OFF),
        ("false", RollUpScope.OFF),
        ("cluster", RollUpScope.CLUSTER),
        ("namespace", RollUpScope.NAMESPACE),
    ],
)
def test_metrics_of_the_status_are_chosen_and_their_alerts_go_with_them(
    helm: Helm, tmp_path: Path, written: str, scope: RollUpScope
) -> None:
    """Helm reads off without quotes as false."""
    values = tmp_path / "values.yaml"
    values.write_text(f"rollupMetrics: {written}\nprometheusRule: {{enabled: true}}\n")
    objects = helm.render(CHART, f"--values={values}", golden.OPERATOR)
    assert load_settings(arguments_of(objects), {}).rollup_metrics is scope
    groups = object_of(objects, "PrometheusRule")["spec"]["groups"]
    alerts = {rule.get("alert") for group in groups for rule in group["rules"]}
    assert ROLLUP_ALERTS & alerts == (set() if scope is RollUpScope.OFF else ROLLUP_ALERTS)
    assert "ProductionStackStatusReporterRightMissing" in alerts
