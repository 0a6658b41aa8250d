"""
The overlay of a reporter that runs is replaced, as the kubelet replaces the file of a ConfigMap.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from e2e.controlplane import ControlPlane, until
from e2e.support import events
from e2e.support.granted_rules import granted
from e2e.support.observer import NO_PAGES
from e2e.support.production_stack import components, restore
from e2e.support.production_stack.components import BODY_BASED_ROUTER
from e2e.support.reporter_process import ReporterProcess
from e2e.support.reporter_waits import (
    until_all_said,
    until_logged,
    until_metric,
    until_states,
)
from e2e.support.timeouts import SETTLE, SHORT_FLAGS
from reporter.model.enums import Layer
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE
from tests.support.mounted_file import MountedFile
from tests.support.setting_reason import SETTING, setting_overlay


BBR, READY, DASHBOARD = "clusterBBRNotReady", "clusterReady", "clusterDashboardNotReady"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
DECLARED = "configmaps/declared"
"""The name of the test's kind, beside that of the ConfigMaps that the program knows itself."""

PATIENT = 60
"""Seconds in which a change is loaded, of which two looks at the file take ten."""

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


@dataclass
class Reloading:
    """A reporter, and its overlay with the text that was loaded last."""

    reporter: ReporterProcess
    overlay: MountedFile
    loaded: str
    results: Counter[str] = field(default_factory=Counter)

    def load(self, text: str) -> None:
        if text != self.loaded:
            self.overlay.write(text)
            self.counted("applied")
            self.loaded = text

    def refuse(self, replace: Callable[[], object]) -> None:
        replace()
        self.counted("refused")
        self.loaded = ""

    def counted(self, result: str) -> None:
        """Wait until one more overlay had this result."""
        self.results[result] += 1
        times = self.results[result]
        until(
            lambda: self.reporter.metric("overlay_reloads_total", result=result) == times,
            within=PATIENT,
            what=f"{times} overlays {result}",
        )

    def three_passes(self) -> None:
        passes = self.reporter.metric("pass_duration_seconds_count")
        until(
            lambda: self.reporter.metric("pass_duration_seconds_count") >= passes + 3,
            within=PATIENT,
            what="three further passes",
        )


@pytest.fixture(scope="module")
def reloading(stack: ControlPlane) -> Iterator[Reloading]:
    """One reporter for all tests, each of which begins and ends without a finding."""
    events.clear(stack.client)  # the Ready of a finding that others left would come at any time
    overlay = MountedFile(stack.folder / "overlay", MODELS_OFF)
    flag = f"--catalogue-overlay={overlay.path}"
    flags = (*SHORT_FLAGS, NO_PAGES, "--resync-seconds=5", flag)
    with ReporterProcess(stack, *flags) as reporter:
        yield Reloading(reporter, overlay, MODELS_OFF)


@pytest.fixture
def plane(stack: ControlPlane, reloading: Reloading) -> Iterator[ControlPlane]:
    until_all_said(reloading.reporter)
    with restore.healthy_stack(stack) as plane:
        yield plane


def recover(plane: ControlPlane) -> None:
    components.scale(plane.client, BODY_BASED_ROUTER, 2)
    components.until_ready(plane.client, BODY_BASED_ROUTER)
    events.wait_for(plane.client, READY, within=PATIENT)


def test_kinds_that_become_needed_are_watched(plane: ControlPlane, reloading: Reloading) -> None:
    reporter = reloading.reporter
    reloading.load(MODELS_OFF)
    until(
        lambda: f'kind="{INFERENCE_SETS}"' not in reporter.metrics(),
        within=PATIENT,
        what="InferenceSets are not watched",
    )
    reloading.load(NOTHING)
    until(
        lambda: reporter.status()["kinds"].get("inferencesets") == "watched",
        within=PATIENT,
        what="InferenceSets are watched",
    )
    until_metric(reporter, 1, "watch_up", kind=INFERENCE_SETS)
    until_states(reporter, {})
    until_logged(reporter, "switched on: ")
    assert not events.reasons(plane.client)


def test_an_episode_goes_on_while_reasons_come_and_go(
    plane: ControlPlane, reloading: Reloading
) -> None:
    reporter = reloading.reporter
    reloading.load(NOTHING)
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    first = events.wait_for(plane.client, BBR, within=PATIENT)
    reloading.load(ADDED)
    events.wait_for(plane.client, DASHBOARD, within=PATIENT)
    (still,) = events.reporter_events(plane.client, BBR)
    assert (still.uid, still.first) == (first.uid, first.first)
    assert reporter.states()[BBR] != ""
    reloading.load(NOTHING)
    until(lambda: DASHBOARD not in reporter.states(), within=PATIENT, what="it is gone")
    recover(plane)
    assert sorted(events.reasons(plane.client)) == [BBR, DASHBOARD, READY]


def test_a_disabled_reason_ends_without_a_ready(plane: ControlPlane, reloading: Reloading) -> None:
    reloading.load(NOTHING)
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=PATIENT)
    reloading.load(ROUTER_OFF)
    components.scale(plane.client, BODY_BASED_ROUTER, 2)
    components.until_ready(plane.client, BODY_BASED_ROUTER)
    reloading.three_passes()
    reloading.load(NOTHING)
    assert reloading.reporter.states() == {}
    assert events.reasons(plane.client) == [BBR]


def test_an_overlay_that_is_wrong_changes_nothing(
    plane: ControlPlane, reloading: Reloading
) -> None:
    reporter, overlay = reloading.reporter, reloading.overlay
    reloading.load(NOTHING)
    reloading.refuse(lambda: overlay.write(WRONG))
    until_metric(reporter, 1, "overlay_refused")
    until_logged(reporter, f"{overlay.path}:1: unknown reason `clusterBBRNotRedy`")
    assert "clusterBBRNotRedy" in reporter.status()["overlayRefused"]
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=PATIENT)
    reloading.load(NOTHING)
    until_metric(reporter, 0, "overlay_refused")
    recover(plane)


@pytest.fixture
def setting(plane: ControlPlane) -> Iterator[str]:
    """A ConfigMap of which one field is as wanted, and another is not."""
    meta = {"name": "reloaded", "labels": {"checked": "reload"}}
    plane.client.create(CONFIG_MAPS, {"metadata": meta, "data": {"good": "yes", "bad": "no"}})
    path = f"{CONFIG_MAPS}/reloaded"
    yield path
    plane.client.delete(path)


@pytest.mark.slow
def test_a_reason_of_ones_own_comes_with_its_kind_reads_other_fields_and_goes(
    plane: ControlPlane, setting: str, reloading: Reloading
) -> None:
    """The episode goes on, although what it is about is listed anew."""
    reporter = reloading.reporter
    reloading.load(NOTHING)
    with granted(plane.client, "reload", READS):
        reloading.load(setting_overlay('object.data.good == "yes"', hold="1s"))
        watched(reporter)
        plane.client.patch(setting, {"data": {"good": "no"}})
        first = events.wait_for(
            plane.client, SETTING, within=PATIENT, containing="default/reloaded"
        )
        reloading.load(setting_overlay('object.data.bad == "yes"', hold="1s"))
        watched(reporter)
        plane.client.patch(setting, {"data": {"good": "yes"}})
        reloading.three_passes()
        (still,) = events.reporter_events(plane.client, SETTING)
        assert (still.uid, still.first) == (first.uid, first.first)
        assert not events.reporter_events(plane.client, READY)
        plane.client.patch(setting, {"data": {"bad": "yes"}})
        events.wait_for(plane.client, READY, within=PATIENT)
        assert reporter.metric("overlay_refused") == 0
        reloading.load(NOTHING)
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


def watched(reporter: ReporterProcess) -> None:
    until(
        lambda: reporter.status()["kinds"].get(DECLARED) == "watched",
        within=PATIENT,
        what="ConfigMaps are watched",
    )


def _reasons(reporter: ReporterProcess) -> list[str]:
    """Return the reasons about the cluster that are clear or not."""
    (cluster,) = (each for each in reporter.status()["subjects"] if each["layer"] == "cluster")
    return [*cluster["clear"], *(each["reason"] for each in cluster["verdicts"])]


@pytest.mark.slow
def test_an_overlay_that_is_no_file_is_refused_and_blocks_nothing(
    plane: ControlPlane, reloading: Reloading
) -> None:
    path = reloading.overlay.path
    target = path.readlink()
    reloading.load(NOTHING)

    def replace() -> None:
        path.unlink()
        os.mkfifo(path)

    reloading.refuse(replace)
    until_logged(reloading.reporter, f"{path}:1: cannot be read: it is not a regular file")
    components.scale(plane.client, BODY_BASED_ROUTER, 0)
    events.wait_for(plane.client, BBR, within=PATIENT)
    path.unlink()
    path.symlink_to(target)
    reloading.load(NOTHING)
    recover(plane)
