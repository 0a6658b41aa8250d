"""The verdicts about nodes under pressure, as KAITO appends them to a message."""

import pytest

from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import LONG_AGO, NOON
from tests.support.model_builders import NODE, a_model, a_model_pod, a_set, a_workspace
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetNodeUnderPressure"
MARK = "warning: worker node(s) under resource pressure: "


def pressed(text: str, status: str = "True", **changes):
    words = (status, "NodesReady" if status == "True" else "NodeNotReady", text)
    return a_workspace(changed_conditions={"NodesReady": words}, **changes)


CLEAR = {
    "none": a_model(),
    "another warning": a_model(pressed("warning: the node is old")),
    "no condition yet": a_model(a_workspace(bare=True)),
    "being deleted": a_model(pressed(f"{MARK}{NODE} (DiskPressure)", deleted=NOON)),
    "of another set": a_model(pressed(f"{MARK}{NODE} (DiskPressure)", of="other")),
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_nodes_without_pressure_on_a_model_are_clear(objects):
    assert isinstance(verdict_of(REASON, *objects), Clear)


@pytest.mark.parametrize("status", ["True", "False"])
def test_the_message_counts_whatever_the_status_is(status):
    verdict = verdict_of(REASON, *a_model(pressed(f"Nodes; {MARK}{NODE} (DiskPressure)", status)))
    assert rendered_message(verdict) == (
        "worker node aks-ws1-0 is under resource pressure (DiskPressure);"
        " pod qwen-7rk2p-0 may be evicted."
    )
    found = only_trouble(verdict)
    assert (found.kind, found.cause.code, found.cause.object.name) == (
        TroubleKind.FAILED,
        "Disk",
        NODE,
    )
    assert found.since is None, "the transition time is that of the status"


PRESSURES = {
    "MemoryPressure": "Memory",
    "PIDPressure": "PID",
    "DiskPressure, MemoryPressure": "Memory.Disk",
    "DiskPressure, MemoryPressure, PIDPressure": "Memory.Disk.PID",
}


@pytest.mark.parametrize(("pressures", "code"), PRESSURES.items())
def test_each_pressure_is_part_of_the_cause(pressures, code):
    found = only_trouble(verdict_of(REASON, *a_model(pressed(f"{MARK}{NODE} ({pressures})"))))
    assert (found.cause.code, found.message_fields["pressure"]) == (code, pressures)


def test_every_node_is_reported_once_with_the_pods_on_it():
    second = pressed(f"{MARK}{NODE} (MemoryPressure); node-b (PIDPressure)", of="qwen")
    other = a_workspace(
        "qwen-b2",
        changed_conditions={"NodesReady": ("True", "NodesReady", f"{MARK}{NODE} (DiskPressure)")},
    )
    objects = a_model(a_set(2), second, other, a_model_pod(0, "qwen-b2"))
    verdict = verdict_of(REASON, *objects)
    assert [t.cause.object.name for t in verdict.troubles] == [NODE, "node-b"]
    assert verdict.troubles[0].message_fields == {
        "node": NODE,
        "pressure": "DiskPressure, MemoryPressure",
        "pod": "pods qwen-7rk2p-0, qwen-b2-0",
    }
    assert verdict.troubles[1].message_fields["pod"] == "its model pods"


def test_a_message_that_is_cut_or_goes_on_is_read_as_far_as_it_goes():
    text = f"{MARK}{NODE} (DiskPressure) (last reconcile error: node-x (timeout))"
    assert only_trouble(verdict_of(REASON, *a_model(pressed(text)))).cause.object.name == NODE
    cut = f"{MARK}{NODE} (DiskPressure); node-b (MemoryPre"
    assert only_trouble(verdict_of(REASON, *a_model(pressed(cut)))).cause.object.name == NODE


def test_a_message_cut_before_the_first_name_points_to_the_condition():
    verdict = verdict_of(REASON, *a_model(pressed(f"{MARK}aks-ws")))
    assert rendered_message(verdict) == (
        "worker node of Workspace qwen-7rk2p is under resource pressure"
        " (its NodesReady condition tells which); its model pods may be evicted."
    )


def test_a_condition_of_an_older_spec_is_unknown():
    made = pressed(f"{MARK}{NODE} (DiskPressure)", generation=2, observed=1, since=LONG_AGO)
    assert isinstance(verdict_of(REASON, *a_model(made)), Unknown)


def test_a_workspace_of_an_older_spec_hides_no_other():
    old = pressed(f"{MARK}{NODE} (DiskPressure)", generation=2, observed=1)
    condition = {"NodesReady": ("True", "NodesReady", f"{MARK}node-b (PIDPressure)")}
    other = a_workspace("qwen-b2", changed_conditions=condition)
    verdict = verdict_of(REASON, *a_model(old, other))
    assert only_trouble(verdict).cause.object.name == "node-b"
    assert verdict.why_partial
