"""The verdicts about model pods while nodes, upgrades and scaling change them."""

import pytest

from reporter.kinds.core import Pod
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear
from tests.support.builders import HOUR, LONG_AGO, MINUTE, NOON, an_observed_condition
from tests.support.model_builders import (
    WAITING_CONDITIONS,
    a_model,
    a_model_pod,
    a_set,
    a_workspace,
    lost,
    never_ready,
)
from tests.support.model_pods import LOOP, PENDING, REASON, broken, multi
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


def upgrading(since=NOON - MINUTE, **changes):
    """Return a Workspace whose upgrade in place began a minute ago."""
    return a_workspace(
        changed_conditions=PENDING,
        labels={"kaito.sh/upgrade-to-version": "0.9.1"},
        annotations={"kaito.sh/upgrade-start-time": since.strftime("%Y-%m-%dT%H:%M:%SZ")},
        **changes,
    )


LACKS_GPU = {
    "conditions": [("PodScheduled", "False", "Unschedulable", "0/4 nodes are available")],
    "phase": "Pending",
    "containers": False,
    **never_ready(NOON),
}
ON_THEIR_WAY = {
    "the node is on its way": {**WAITING_CONDITIONS, "NodeClaimReady": ("False", "NodeNotFound")},
    "its drivers are": {**PENDING, "NodesReady": ("False", "NodePluginsNotReady")},
    "own nodes that are not ready": {**WAITING_CONDITIONS, "NodeClaimReady": None},
}
THERE = {
    "the node came": broken("Unschedulable"),
    "own nodes": broken("Unschedulable", NodeClaimReady=None),
}


@pytest.mark.parametrize("changed_conditions", ON_THEIR_WAY.values(), ids=ON_THEIR_WAY.keys())
def test_a_pod_that_waits_for_its_node_is_none_of_the_pods_trouble(changed_conditions):
    objects = a_model(a_workspace(changed_conditions=changed_conditions), a_model_pod(**LACKS_GPU))
    assert isinstance(verdict_of(REASON, *objects), Clear)


@pytest.mark.parametrize("changed_conditions", THERE.values(), ids=THERE.keys())
def test_a_pod_that_fits_no_node_counts_once_the_node_came(changed_conditions):
    objects = a_model(a_workspace(changed_conditions=changed_conditions), a_model_pod(**LACKS_GPU))
    found = only_trouble(verdict_of(REASON, *objects))
    assert (found.kind, found.cause.code) == (TroubleKind.LOST, "Unschedulable")
    assert found.foreign_text == "0/4 nodes are available"


def test_a_pod_that_fits_no_node_counts_since_the_node_came():
    came = a_workspace(changed_conditions=THERE["the node came"], since=NOON + HOUR)
    assert only_trouble(verdict_of(REASON, *a_model(came, a_model_pod(**LACKS_GPU)))).since == (
        NOON + HOUR
    )


def test_an_upgrade_in_place_takes_its_pod_down():
    found = only_trouble(verdict_of(REASON, *a_model(upgrading(), a_model_pod(**lost(NOON)))))
    assert found.kind is TroubleKind.STARTING


def test_an_upgrade_that_is_over_excuses_nothing():
    """KAITO does not remove the label and the annotation of an upgrade."""
    newer = a_model_pod(created_at=LONG_AGO + HOUR, started=LONG_AGO + HOUR, **lost(NOON))
    found = only_trouble(verdict_of(REASON, *a_model(upgrading(LONG_AGO), newer)))
    assert found.kind is TroubleKind.LOST


def test_an_upgrade_that_crashes_is_reported():
    found = only_trouble(
        verdict_of(REASON, *a_model(upgrading(), a_model_pod(**{**LOOP, **lost(NOON)})))
    )
    assert found.kind is TroubleKind.FAILED


@pytest.mark.parametrize(
    "meta",
    [
        {"labels": {"kaito.sh/upgrade-to-version": "0.9.1"}},
        {"annotations": {"kaito.sh/upgrade-start-time": "2026-05-01T11:59:00Z"}},
        {
            "labels": {"kaito.sh/upgrade-to-version": "0.9.1"},
            "annotations": {"kaito.sh/upgrade-start-time": "yesterday"},
        },
    ],
)
def test_half_an_upgrade_is_none(meta):
    found = only_trouble(
        verdict_of(REASON, *a_model(a_workspace(**meta), a_model_pod(**lost(NOON))))
    )
    assert found.kind is TroubleKind.LOST


def test_a_start_time_without_a_zone_is_read_as_utc():
    made = a_workspace(
        labels={"kaito.sh/upgrade-to-version": "1"},
        annotations={"kaito.sh/upgrade-start-time": "2026-05-01T11:59:00"},
    )
    assert (
        only_trouble(verdict_of(REASON, *a_model(made, a_model_pod(**lost(NOON))))).kind
        is TroubleKind.STARTING
    )


def test_two_revisions_at_once_are_a_rolling_update():
    pods = a_model_pod(0, **lost(NOON)), a_model_pod(1, revision="2", **never_ready(NOON))
    assert (
        only_trouble(verdict_of(REASON, *multi(*pods, changed_conditions=PENDING))).kind
        is TroubleKind.STARTING
    )


def test_a_replica_too_many_is_being_removed():
    surplus = (
        a_workspace("qwen-b2", changed_conditions=PENDING),
        a_model_pod(0, "qwen-b2", **lost(NOON)),
    )
    assert only_trouble(verdict_of(REASON, *a_model(*surplus))).kind is TroubleKind.STARTING
    assert only_trouble(verdict_of(REASON, *a_model(a_set(2), *surplus))).kind is TroubleKind.LOST


def test_a_surge_that_fails_is_reported():
    new = a_workspace("qwen-b2", changed_conditions=PENDING)
    pod = a_model_pod(0, "qwen-b2", waiting="ImagePullBackOff", **never_ready(NOON))
    assert only_trouble(verdict_of(REASON, *a_model(new, pod))).kind is TroubleKind.FAILED


def test_a_set_that_scales_up_lacks_a_workspace():
    verdict = verdict_of(REASON, *a_model(a_set(3)))
    assert (
        rendered_message(verdict)
        == "degraded, 1 of 3 model pods is ready: KAITO has made 1/3 Workspaces."
    )
    assert (only_trouble(verdict).kind, only_trouble(verdict).cause.code) == (
        TroubleKind.STARTING,
        "Degraded.NoWorkspace",
    )


def failed(**changes):
    condition = an_observed_condition(
        "InferenceSetReady", "False", "inferencesetFailed", "no preset x", NOON
    )
    return a_set(conditions=(condition,), **changes)


def test_what_kaito_could_not_do_is_a_hard_error():
    found = only_trouble(
        verdict_of(REASON, *a_model(failed(), without=[type(a_workspace()), Pod]))
    )
    assert (found.kind, found.foreign_text, found.since) == (
        TroubleKind.FAILED,
        "no preset x",
        NOON,
    )


def test_workspaces_are_missing_though_what_it_could_not_do_is_about_an_older_spec():
    objects = a_model(failed(generation=2), without=[type(a_workspace()), Pod])
    found = only_trouble(verdict_of(REASON, *objects))
    assert (found.kind, found.cause.code) == (TroubleKind.STARTING, "NoWorkspace")
    assert not found.foreign_text


def test_what_it_could_not_do_is_over_once_all_is_made():
    assert isinstance(verdict_of(REASON, *a_model(failed())), Clear)
