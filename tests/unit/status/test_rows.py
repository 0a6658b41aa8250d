"""The rows of the status, and the detail of one subject."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from reporter.model.enums import Layer
from reporter.model.states import Actionability, Mode, SinceFrom, State
from reporter.model.status_document import (
    PAUSED_CODE,
    UNROUTED_CODE,
    AvailableCounts,
    Blocking,
    ClusterCounts,
    ClusterStatus,
    ComponentStatus,
    HarnessStatus,
    InferenceSetStatus,
    NamespaceStatus,
    NotAvailable,
    Replicas,
    StatusDocument,
)
from reporter.status.detail_table import render_blocking, render_set
from reporter.status.table import (
    AGE_COLUMNS,
    COLUMNS,
    TextTable,
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
    message="It crashes again and again. The last time was today.",
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
ROUTER_OUT = NotAvailable(
    reason="clusterBBRNotReady",
    code="ScaledToZero",
    layer=Layer.CLUSTER,
    object="deployments.apps kaito-system/body-based-router",
    message="It is scaled to zero. No request finds its model.",
    remedy="Scale it up.",
    actionability=Actionability.PLATFORM,
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
    available_counts=AvailableCounts(available=1, unknown=1),
    blocking=KAITO,
    replicas=Replicas(desired=4, ready=3),
    harness=HarnessStatus(state=State.CURRENT),
    inference_sets=(QWEN,),
)
CLUSTER = ClusterStatus(
    state=State.CURRENT,
    counts=ClusterCounts(available=AvailableCounts(available=1, unavailable=1, paused=3)),
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
        ("cluster", "Ready", "-", "1/2", "-", "-", "-", "-"),
        (
            *("team-a", "Failed", "3/4", "1/2", "12m", "platform"),
            "↳ clusterKaitoControllerNotReady",
            "It crashes again and again.",
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


def test_only_a_column_of_ages_differs_with_the_time_alone():
    earlier, later = (
        replace(QWEN, answered_seconds=age, blocking=replace(KAITO, in_state_seconds=age))
        for age in (40, 4000)
    )
    different = {each.head for each in COLUMNS if each.cell(earlier) != each.cell(later)}
    assert different == AGE_COLUMNS


def test_a_deployment_of_the_control_plane_has_a_state_and_replicas_alone():
    (_, row) = cluster_rows(CLUSTER, wide=True)
    cells = dict(zip(head("KIND", "NAME", wide=True), row, strict=True))
    assert {name: cell for name, cell in cells.items() if cell != "-"} == {
        "KIND": "Deployment",
        "NAME": "keda/keda-operator",
        "STATE": "Ready",
        "READY": "1/1",
        "UPDATED": "1/1",
    }


def test_a_namespace_has_its_harness_and_its_inference_sets():
    kinds = [row[:3] for row in namespace_rows(TEAM, wide=False)]
    assert kinds == [
        ("Namespace", "team-a", "Failed"),
        ("Harness", "team-a", "Ready"),
        ("InferenceSet", "qwen", "Failed"),
    ]


def test_the_wide_columns_name_time_code_and_object():
    (_, row) = overview_rows(DOCUMENT, wide=True)
    cells = dict(zip(head("NAME", wide=True), row, strict=True))
    assert [cells[each] for each in ("UPDATED", "STALLED", "SINCE", "CODE", "OBJECT")] == [
        *("-/4", "yes", "2026-05-01T12:00:00Z", "Crash"),
        KAITO.object,
    ]


def test_without_a_reason_the_code_is_what_blocks():
    scaling = Blocking(
        code="Scaling", layer=Layer.MODELDEPLOYMENT, actionability=Actionability.TRANSIENT
    )
    each = InferenceSetStatus(name="phi", state=State.IN_PROGRESS, blocking=scaling)
    team = NamespaceStatus(name="team-a", state=State.IN_PROGRESS, inference_sets=(each,))
    ((*_, since, acts, blocked_by, _),) = set_rows(
        StatusDocument(schema="v1", mode=Mode.WATCHING, namespaces=(team,)), wide=False
    )
    assert (blocked_by, acts) == ("Scaling", "transient")
    assert since == "-"  # nobody says since when


def rows_of(each: InferenceSetStatus) -> tuple[str, ...]:
    team = NamespaceStatus(name="team-a", state=State.CURRENT, inference_sets=(each,))
    document = StatusDocument(schema="v1", mode=Mode.WATCHING, namespaces=(team,))
    ((_, _, *cells),) = set_rows(document, wide=False)
    return tuple(cells)


def test_a_current_model_whose_requests_are_hindered_names_what_hinders_them():
    each = InferenceSetStatus(
        name="phi", state=State.CURRENT, available=False, not_available=ROUTER_OUT
    )
    assert rows_of(each) == (
        *("Ready", "-", "no", "-", "platform"),
        *("↳ clusterBBRNotReady", "It is scaled to zero."),
    )
    assert list(render_set("team-a", each, colour=False))[3:] == [
        "Available:     no, because of clusterBBRNotReady (ScaledToZero)",
        "  Acts:        platform",
        "  Object:      deployments.apps kaito-system/body-based-router",
        "  Message:     It is scaled to zero. No request finds its model.",
        "  Remedy:      Scale it up.",
    ]


def test_a_namespace_names_what_hinders_the_requests_of_its_models():
    paused = NotAvailable(
        code=PAUSED_CODE, layer=Layer.MODELDEPLOYMENT, actionability=Actionability.USER
    )
    sets = (
        InferenceSetStatus(name="asleep", state=State.CURRENT, paused=True, not_available=paused),
        InferenceSetStatus(name="phi", state=State.CURRENT, not_available=ROUTER_OUT),
    )
    counts = AvailableCounts(unavailable=1, paused=1)
    team = NamespaceStatus(
        name="team-a", state=State.CURRENT, available_counts=counts, inference_sets=sets
    )
    document = StatusDocument(schema="v1", mode=Mode.WATCHING, namespaces=(team,))
    assert list(overview_rows(document, wide=False)) == [
        (
            "team-a",
            "Ready",
            "-",
            "0/1",
            "-",
            "platform",
            "↳ clusterBBRNotReady",
            "It is scaled to zero.",
        )
    ]


@pytest.mark.parametrize("code", [PAUSED_CODE, UNROUTED_CODE])
def test_what_somebody_wants_so_blocks_nothing(code):
    cause = NotAvailable(
        code=code,
        layer=Layer.MODELDEPLOYMENT,
        actionability=Actionability.USER,
        message="So it is.",
    )
    each = InferenceSetStatus(
        name="phi", state=State.CURRENT, available=False, not_available=cause
    )
    assert rows_of(each) == ("Ready", "-", "no", "-", "-", "-", "-")


def test_an_answer_of_a_check_is_named_with_its_age():
    each = InferenceSetStatus(name="phi", state=State.CURRENT, available=True, answered_seconds=40)
    assert list(render_set("team-a", each, colour=False))[3] == (
        "Available:     yes, answered 40s ago"
    )


def test_what_is_unknown_is_not_shown_as_if_it_blocked():
    unread = Blocking(
        reason="inferencesetEPPNotReady",
        code="Unknown",
        layer=Layer.MODELDEPLOYMENT,
        message="Deployments may not be listed",
        actionability=Actionability.TRANSIENT,
    )
    cells = rows_of(InferenceSetStatus(name="phi", state=State.UNKNOWN, blocking=unread))
    assert cells == (
        *("Unknown", "-", "unknown", "-", "transient", "-"),
        "Deployments may not be listed",
    )


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (None, "team-a   It crashes again and again."),
        (24, "team-a   It crashes aga…"),
        (5, "team-a   It crashes…"),
    ],
)
def test_the_message_ends_where_the_terminal_does(width, line):
    table = TextTable(("NAME", "MESSAGE"), width=width)
    assert list(table.render([("team-a", "It crashes again and again.")]))[1] == line


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
        "Message:       It crashes again and again. The last time was today.",
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
