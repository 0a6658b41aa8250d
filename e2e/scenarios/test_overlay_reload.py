"""
The overlay of a reporter that runs is replaced, as the kubelet replaces the file of a ConfigMap.
"""

import os
from collections.abc import Iterator

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.granted_rules import granted
from e2e.support.observer import NO_PAGES
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import ReporterProcess
from e2e.support.reporter_waits import until_logged, until_metric, until_states
from e2e.support.timeouts import SETTLE, SHORT_FLAGS
from reporter.model.enums import Layer
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.mounted_file import MountedFile
from tests.support.setting_reason import SETTING, setting_overlay


BBR, READY, DASHBOARD = "clusterBBRNotReady", "clusterReady", "clusterDashboardNotReady"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DECLARED = "configmaps/declared"
"""
The name of the test's kind, beside that of the ConfigMaps that the program knows itself.
"""

PATIENT = 60
"""
Seconds in which a change is loaded, of which two looks at the file take ten.
"""

READS = [{"apiGroups": [""], "resources": ["configmaps"]}]
NOTHING = "reasons: {}\n"
ADDED = f"""\
reasons: {{ clusterBBRNotReady: {{ settle: {SETTLE}s }} }}
add:
  - reason: {DASHBOARD}
    layer: cluster
    type: Warning
    owner: platform
    rank: 5
    probe: deployments
    parameters: {{ components: [{{ name: dashboard, namespace-flag: kaito-namespace }}] }}
    message: "{{object}} {{state}}{{pods}}."
    remedy: {{ default: Restart it. }}
"""
ROUTER_OFF = "reasons: { clusterBBRNotReady: { enabled: false } }\n"
WRONG = "reasons: { clusterBBRNotRedy: { enabled: false } }\n"
MODELS_OFF = "reasons:\n" + "".join(
    f"  {entry.reason}: {{ enabled: false }}\n"
    for layer in (Layer.MODELHARNESS, Layer.MODELDEPLOYMENT)
    for entry in DEFAULT_CATALOGUE.evaluated_entries(layer)
)
INFERENCE_SETS = "inferencesets.kaito.sh"


@pytest.fixture
def plane(stack: ControlPlane) -> Iterator[ControlPlane]:
    with restore.healthy_stack(stack) as plane:
        yield plane


def test_an_episode_goes_on_while_reasons_come_and_go(plane: ControlPlane) -> None:
    overlay = mounted(plane, "episode", NOTHING)
    with reporter_with(plane, overlay) as reporter:
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        first = events.wait_for(plane.client, BBR, within=PATIENT)
        overlay.write(ADDED)
        events.wait_for(plane.client, DASHBOARD, within=PATIENT)
        (still,) = events.reporter_events(plane.client, BBR)
        assert (still.uid, still.first) == (first.uid, first.first)
        assert reporter.states()[BBR] != ""
        overlay.write(NOTHING)
        reloaded(reporter, "applied", 2)
        until(lambda: DASHBOARD not in reporter.states(), within=PATIENT, what="it is gone")
        components.scale(plane.client, BODY_BASED_ROUTER, 2)
        components.until_ready(plane.client, BODY_BASED_ROUTER)
        events.wait_for(plane.client, READY, within=PATIENT)
        assert sorted(events.reasons(plane.client)) == [BBR, DASHBOARD, READY]


def test_a_reason_that_is_switched_off_ends_without_a_ready(plane: ControlPlane) -> None:
    overlay = mounted(plane, "off", NOTHING)
    with reporter_with(plane, overlay) as reporter:
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=PATIENT)
        overlay.write(ROUTER_OFF)
        reloaded(reporter, "applied")
        components.scale(plane.client, BODY_BASED_ROUTER, 2)
        components.until_ready(plane.client, BODY_BASED_ROUTER)
        passes = reporter.metric("pass_duration_seconds_count")
        until(
            lambda: reporter.metric("pass_duration_seconds_count") >= passes + 3,
            within=PATIENT,
            what="three further passes",
        )
        overlay.write(NOTHING)
        reloaded(reporter, "applied", 2)
        assert reporter.states() == {}
        assert events.reasons(plane.client) == [BBR]


def test_an_overlay_that_is_wrong_changes_nothing(plane: ControlPlane) -> None:
    overlay = mounted(plane, "wrong", NOTHING)
    with reporter_with(plane, overlay) as reporter:
        overlay.write(WRONG)
        reloaded(reporter, "refused")
        until_metric(reporter, 1, "overlay_refused")
        until_logged(reporter, f"{overlay.path}:1: unknown reason `clusterBBRNotRedy`")
        assert "clusterBBRNotRedy" in reporter.status()["overlayRefused"]
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=PATIENT)
        overlay.write(NOTHING)
        reloaded(reporter, "applied")
        until_metric(reporter, 0, "overlay_refused")


def test_kinds_that_become_needed_are_watched(plane: ControlPlane) -> None:
    overlay = mounted(plane, "kinds", MODELS_OFF)
    with reporter_with(plane, overlay) as reporter:
        assert f'kind="{INFERENCE_SETS}"' not in reporter.metrics()
        overlay.write(NOTHING)
        until(
            lambda: reporter.status()["kinds"].get("inferencesets") == "watched",
            within=PATIENT,
            what="InferenceSets are watched",
        )
        until_metric(reporter, 1, "watch_up", kind=INFERENCE_SETS)
        until_states(reporter, {})
        until_logged(reporter, "switched on: ")
        assert not events.reasons(plane.client)


@pytest.fixture
def setting(plane: ControlPlane) -> Iterator[str]:
    """
    A ConfigMap of which one field is as wanted, and another is not.
    """
    meta = {"name": "reloaded", "labels": {"checked": "reload"}}
    plane.client.create(CONFIG_MAPS, {"metadata": meta, "data": {"good": "yes", "bad": "no"}})
    path = f"{CONFIG_MAPS}/reloaded"
    yield path
    plane.client.delete(path)


def test_a_reason_of_ones_own_comes_with_its_kind_and_goes(
    plane: ControlPlane, setting: str
) -> None:
    overlay = mounted(plane, "own", NOTHING)
    with granted(plane.client, "reload", READS), reporter_with(plane, overlay) as reporter:
        overlay.write(setting_overlay('object.data.good == "yes"', hold="1s"))
        watched(reporter)
        plane.client.patch(setting, {"data": {"good": "no"}})
        events.wait_for(plane.client, SETTING, within=PATIENT, containing="default/reloaded")
        plane.client.patch(setting, {"data": {"good": "yes"}})
        events.wait_for(plane.client, READY, within=PATIENT)
        overlay.write(NOTHING)
        until(lambda: SETTING not in _reasons(reporter), within=PATIENT, what="the reason is gone")
        until(
            lambda: (
                DECLARED not in reporter.status()["kinds"]
                and f'kind="{DECLARED}"' not in reporter.metrics()
            ),
            within=PATIENT,
            what="its kind is gone",
        )
        assert events.reasons(plane.client) == [SETTING, READY]


def test_other_fields_are_read_without_a_restart(plane: ControlPlane, setting: str) -> None:
    """
    The episode goes on, although what it is about is listed anew.
    """
    overlay = mounted(plane, "fields", setting_overlay('object.data.good == "yes"', hold="1s"))
    with granted(plane.client, "fields", READS), reporter_with(plane, overlay) as reporter:
        watched(reporter)
        plane.client.patch(setting, {"data": {"good": "no"}})
        first = events.wait_for(plane.client, SETTING, within=PATIENT)
        overlay.write(setting_overlay('object.data.bad == "yes"', hold="1s"))
        reloaded(reporter, "applied")
        watched(reporter)
        plane.client.patch(setting, {"data": {"good": "yes"}})
        passes = reporter.metric("pass_duration_seconds_count")
        until(
            lambda: reporter.metric("pass_duration_seconds_count") >= passes + 3,
            within=PATIENT,
            what="three further passes",
        )
        (still,) = events.reporter_events(plane.client, SETTING)
        assert (still.uid, still.first) == (first.uid, first.first)
        assert not events.reporter_events(plane.client, READY)
        plane.client.patch(setting, {"data": {"bad": "yes"}})
        events.wait_for(plane.client, READY, within=PATIENT)
        assert events.reasons(plane.client) == [SETTING, READY]
        assert reporter.metric("overlay_refused") == 0


def watched(reporter: ReporterProcess) -> None:
    until(
        lambda: reporter.status()["kinds"].get(DECLARED) == "watched",
        within=PATIENT,
        what="ConfigMaps are watched",
    )


def _reasons(reporter: ReporterProcess) -> list[str]:
    """
    Return the reasons about the cluster that are clear or not.
    """
    (cluster,) = (each for each in reporter.status()["subjects"] if each["layer"] == "cluster")
    return [*cluster["clear"], *(each["reason"] for each in cluster["verdicts"])]


def test_an_overlay_that_is_no_file_is_refused_and_blocks_nothing(plane: ControlPlane) -> None:
    overlay = mounted(plane, "fifo", NOTHING)
    with reporter_with(plane, overlay) as reporter:
        overlay.path.unlink()
        os.mkfifo(overlay.path)
        reloaded(reporter, "refused")
        until_logged(reporter, f"{overlay.path}:1: cannot be read: it is not a regular file")
        components.scale(plane.client, BODY_BASED_ROUTER, 0)
        events.wait_for(plane.client, BBR, within=PATIENT)


def mounted(plane: ControlPlane, name: str, text: str) -> MountedFile:
    return MountedFile(plane.folder / f"overlay-{name}", text)


def reporter_with(plane: ControlPlane, overlay: MountedFile) -> ReporterProcess:
    flag = f"--catalogue-overlay={overlay.path}"
    return ReporterProcess(plane, *SHORT_FLAGS, NO_PAGES, "--resync-seconds=5", flag)


def reloaded(reporter: ReporterProcess, result: str, times: int = 1) -> None:
    until(
        lambda: reporter.metric("overlay_reloads_total", result=result) == times,
        within=PATIENT,
        what=f"{times} overlays {result}",
    )
