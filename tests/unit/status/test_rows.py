"""The rows of the status, and the detail of one subject."""

from datetime import UTC, datetime

from reporter.model.enums import Layer
from reporter.model.states import Actionability, Mode, SinceFrom, State
from reporter.model.status_document import (
    Blocking,
    ClusterStatus,
    ComponentStatus,
    HarnessStatus,
    InferenceSetStatus,
    NamespaceStatus,
    Replicas,
    StatusDocument,
)
from reporter.status.detail_table import render_blocking, render_set
from reporter.status.table import (
    cluster_rows,
    head,
    namespace_rows,
    overview_rows,
    set_rows,
)


KAITO = Blocking(
    reason="clusterKaitoControllerNotReady",
    code="Crash",
    layer=Layer.CLUSTER,
    object="deployments.apps kaito-system/kaito-workspace",
    message="It crashes.",
    remedy="Read its log.",
    actionability=Actionability.PLATFORM,
    pointer=True,
    via=("inferencesetModelPodsNotReady",),
    since=datetime(2026, 5, 1, 12, 0, tzinfo=UTC),
    since_from=SinceFrom.WRITER,
    in_state_seconds=731,
    window_seconds=60,
    stalled=True,
)
QWEN = InferenceSetStatus(
    name="qwen",
    state=State.FAILED,
    available=True,
    observed_generation=3,
    generation=4,
    replicas=Replicas(desired=2, updated=2, ready=1),
    blocking=KAITO,
)
TEAM = NamespaceStatus(
    name="team-a",
    state=State.FAILED,
    available=True,
    blocking=KAITO,
    replicas=Replicas(desired=4, ready=3),
    harness=HarnessStatus(state=State.CURRENT),
    inference_sets=(QWEN,),
)
CLUSTER = ClusterStatus(
    state=State.CURRENT,
    components=(
        ComponentStatus(
            namespace="keda",
            name="keda-operator",
            reason="clusterKedaNotReady",
            state=State.CURRENT,
            replicas=Replicas(desired=1, updated=1, ready=1),
        ),
    ),
)
DOCUMENT = StatusDocument(schema="v1", mode=Mode.WATCHING, cluster=CLUSTER, namespaces=(TEAM,))


def test_the_overview_has_the_cluster_and_each_namespace():
    assert list(overview_rows(DOCUMENT, wide=False)) == [
        ("cluster", "Current", "-", "-", "-", "-", "-"),
        (
            "team-a",
            "Failed",
            "3/4",
            "-/4",
            "12m",
            "↳ clusterKaitoControllerNotReady",
            "platform",
        ),
    ]


def test_all_rows_have_as_many_cells_as_their_heads():
    for wide in (False, True):
        tables = {
            ("NAME",): overview_rows(DOCUMENT, wide=wide),
            ("NAMESPACE", "NAME"): set_rows(DOCUMENT, wide=wide),
            ("KIND", "NAME"): (
                *namespace_rows(TEAM, wide=wide),
                *cluster_rows(CLUSTER, wide=wide),
            ),
        }
        for names, rows in tables.items():
            assert {len(row) for row in rows} == {len(head(*names, wide=wide))}


def test_a_namespace_has_its_harness_and_its_inference_sets():
    kinds = [row[:3] for row in namespace_rows(TEAM, wide=False)]
    assert kinds == [
        ("Namespace", "team-a", "Failed"),
        ("Harness", "team-a", "Current"),
        ("InferenceSet", "qwen", "Failed"),
    ]


def test_the_wide_columns_name_time_code_and_object():
    (_, row) = overview_rows(DOCUMENT, wide=True)
    assert row[-5:] == ("yes", "yes", "2026-05-01T12:00:00Z", "Crash", KAITO.object)


def test_without_a_reason_the_code_is_what_blocks():
    scaling = Blocking(
        code="Scaling", layer=Layer.MODELDEPLOYMENT, actionability=Actionability.TRANSIENT
    )
    each = InferenceSetStatus(name="phi", state=State.IN_PROGRESS, blocking=scaling)
    team = NamespaceStatus(name="team-a", state=State.IN_PROGRESS, inference_sets=(each,))
    ((_, _, _, _, _, _, blocked_by, acts),) = set_rows(
        StatusDocument(schema="v1", mode=Mode.WATCHING, namespaces=(team,)), wide=False
    )
    assert (blocked_by, acts) == ("Scaling", "transient")


def test_the_detail_of_a_set_has_cause_object_message_remedy_and_chain():
    assert list(render_set("team-a", QWEN, colour=False)) == [
        "InferenceSet:  team-a/qwen",
        "State:         Failed",
        "Replicas:      1 of 2 ready, 2 updated",
        "Available:     yes",
        "Generation:    4, observed: 3",
        "Blocked by:    clusterKaitoControllerNotReady (Crash), layer cluster",
        "Acts:          platform (stalled: longer than 60s)",
        "Since:         2026-05-01 12:00:00 UTC (12m, by the writer)",
        "Object:        deployments.apps kaito-system/kaito-workspace",
        "Message:       It crashes.",
        "Remedy:        Read its log.",
        "Chain:         inferencesetModelPodsNotReady",
        "               ↳ clusterKaitoControllerNotReady",
    ]


def test_a_message_is_one_line_whatever_it_contains():
    hostile = Blocking(
        code="X",
        layer=Layer.CLUSTER,
        message="ok\nState: Current\x1b[1A",
        actionability=Actionability.USER,
    )
    (line,) = (line for line in render_blocking(hostile) if line.startswith("Message:"))
    assert line == "Message:       ok\\nState: Current\\x1b[1A"
