"""The table of states: what happens to a stack, and the state of each subject a minute later."""

import pytest
from msgspec.structs import replace

from reporter.model.observations import WatchLost
from reporter.model.states import State
from reporter.model.status_document import Counts
from reporter.rollup.fold import fold, fold_steps
from reporter.rollup.namespaces import SETS_PER_BATCH
from reporter.rollup.records import RollUp
from tests.support.builders import HOUR
from tests.support.rollups import BAD_IMAGE, FULLY_REPORTED, LOST, line_of, stack_after, view_of


QWEN = "team-m/qwen"
READY_OF = {
    "metadata": {"generation": 2},
    "status": {
        "conditions": [{"type": "InferenceSetReady", "status": "True", "observedGeneration": 1}]
    },
}
KAITO_OUT = "clusterKaitoControllerNotReady ScaledToZero platform"
GONE_AT = {"metadata": {"deletionTimestamp": "now"}}

TABLE = [
    ({}, "team-m/qwen", "Current available 1/1"),
    ({}, "cluster", "Current"),
    ({}, "team-a", "Current unavailable 0/0, 0 updated"),
    # Terminating: the object, KAITO's condition, or its namespace.
    ({"InferenceSet team-m/qwen": GONE_AT}, QWEN, "Terminating available 1/1"),
    ({"InferenceSet team-m/qwen": GONE_AT}, "team-m", "Current available 1/1"),
    (
        {
            "InferenceSet team-m/qwen": {
                "status": {"conditions": [{"type": "InferenceSetDeleting", "status": "True"}]}
            }
        },
        QWEN,
        "Terminating available 1/1",
    ),
    ({"Namespace team-m": GONE_AT}, QWEN, "Terminating available 1/1"),
    ({"Namespace team-m": GONE_AT}, "team-m", "Terminating available 1/1"),
    # Failed: the subject's own finding, or a suppressed one whose cause is upstream.
    (BAD_IMAGE, QWEN, "Failed unavailable 0/1: inferencesetModelPodsNotReady ImagePull user"),
    (BAD_IMAGE, "team-m", "Failed unavailable 0/1: inferencesetModelPodsNotReady ImagePull user"),
    (BAD_IMAGE, "cluster", "Current"),
    (
        {**LOST, "Deployment kaito-system/kaito-workspace": {"replicas": 0}},
        QWEN,
        f"Failed unavailable 0/1: {KAITO_OUT} via inferencesetModelPodsNotReady",
    ),
    # InProgress: a stale status, held trouble, replicas missing or old.
    (
        {"InferenceSet team-m/qwen": READY_OF},
        QWEN,
        "InProgress available 1/1: StaleStatus transient",
    ),
    (
        {"InferenceSet team-m/qwen": {"spec": {"replicas": 2}}},
        QWEN,
        "InProgress available 1/2: inferencesetModelPodsNotReady Degraded.NoWorkspace transient held",
    ),
    (
        {
            "InferenceSet team-m/qwen": {
                "status": {"autoUpgrade": {"numDriftedWorkspaces": 1}},
            }
        },
        QWEN,
        "InProgress available 1/1, 0 updated: Updating transient",
    ),
    # Scaled to zero on purpose is Current.
    (
        {
            "InferenceSet team-m/qwen": {"spec": {"replicas": 0}},
            "Workspace team-m/qwen-7rk2p": None,
            "Pod team-m/qwen-7rk2p-0": None,
        },
        QWEN,
        "Current paused unavailable 0/0",
    ),
    # A model whose Gateway is out serves nobody.
    (
        {"Gateway team-m/team-m-gw": None},
        "team-m",
        "InProgress unavailable 1/1: modelharnessGatewayClassMissing Deleted transient held",
    ),
    # A rollout of the control plane with surge is in progress without trouble.
    (
        {
            "Deployment kaito-system/body-based-router": {
                "updated": 1,
                "rollout": "ReplicaSetUpdated",
            }
        },
        "cluster",
        "InProgress: Updating transient",
    ),
    (
        {
            "Deployment kaito-system/body-based-router": {
                "updated": 1,
                "rollout": "ReplicaSetUpdated",
            }
        },
        "Deployment kaito-system/body-based-router",
        "InProgress 2/2, 1 updated",
    ),
]


@pytest.mark.parametrize(("change", "subject", "line"), TABLE)
def test_the_table_of_states(change, subject, line):
    assert line_of(stack_after(change, until="50s"), subject) == line


def test_the_harness_of_a_gateway_without_findings_is_current():
    assert line_of(stack_after(), "team-m/harness") == "Current"


@pytest.mark.parametrize(
    ("kind", "line"),
    [("namespaces", "Unknown (was Current) 1/1: "), ("inferencesets", "Unknown (was Current): ")],
)
def test_what_cannot_be_listed_is_unknown_with_what_was_known(kind, line):
    replay = stack_after(watch={kind: "lost"}, until="2m")
    assert line_of(replay, QWEN).startswith(line)
    assert "modeldeployment not listed" in line_of(replay, "cluster")
    assert line_of(replay, "counts") == "1 Unknown"


def test_a_namespace_that_may_exist_is_unknown_and_not_missing():
    replay = stack_after(watch={"namespaces": "lost"}, until="2m")
    found = view_of(replay).namespace("team-x")
    assert (found.state, found.blocking.code) == (State.UNKNOWN, "NotListed")
    assert view_of(stack_after()).namespace("team-x") is None


@pytest.mark.parametrize(
    ("until", "stalled", "acts"), [("2m", False, "transient"), ("20m", True, "platform")]
)
def test_somebody_must_act_if_what_may_exist_cannot_be_listed_for_long(until, stalled, acts):
    replay = stack_after(watch={"namespaces": "lost"}, until=until)
    found = view_of(replay).namespace("team-x").blocking
    assert (found.stalled, found.actionability, found.window_seconds) == (stalled, acts, 900)
    assert (found.pattern is not None) == stalled
    assert found.in_state_seconds > 0


def test_an_inference_set_that_may_exist_is_unknown_and_not_missing():
    replay = stack_after(watch={"inferencesets": "lost"}, until="2m")
    assert view_of(replay).inference_set("team-m", "phi").state is State.UNKNOWN
    assert view_of(stack_after()).inference_set("team-m", "phi") is None


def test_a_namespace_whose_inference_sets_cannot_be_listed_is_unknown_until_they_can():
    without_sets = {"InferenceSet team-m/qwen": None}
    replay = stack_after(without_sets, watch={"inferencesets": "lost"}, until="5m")
    found = view_of(replay).namespace("team-m")
    assert (found.state, found.available, found.replicas) == (State.UNKNOWN, None, None)
    assert found.counts is None
    counts = view_of(replay).cluster().counts
    assert (counts.namespaces, counts.inference_sets) == (Counts(unknown=2), None)
    assert (found.blocking.code, found.blocking.layer) == ("NotListed", "modeldeployment")
    listed = view_of(stack_after(without_sets, until="5m")).namespace("team-m")
    assert (listed.state, listed.blocking, listed.counts) == (State.CURRENT, None, Counts())


@pytest.mark.parametrize("kind", ["pods", "workspaces"])
def test_replicas_that_cannot_be_counted_are_unknown(kind):
    replay = stack_after(watch={kind: "lost"}, until="2m")
    line = line_of(replay, QWEN)
    assert line.startswith("Unknown (was Current)")
    assert "available" not in line
    found = view_of(replay)
    for replicas in (
        found.inference_set("team-m", "qwen").replicas,
        found.namespace("team-m").replicas,
    ):
        assert (replicas.desired, replicas.ready) == (1, None)


def test_before_the_first_pass_all_is_unknown():
    replay = stack_after()
    replay.rollup = RollUp()
    cluster = view_of(replay).cluster()
    assert (cluster.state, cluster.blocking.message) == (
        State.UNKNOWN,
        "No pass was finished yet.",
    )


def test_a_new_subject_that_the_pass_has_not_reached_is_unknown():
    replay = stack_after(
        {"InferenceSet team-m/phi": {"spec": {"replicas": 0}}, "Namespace team-n": None}
    )
    given = replay.rollup_input()
    unreached = fold(
        stack_after().rollup,
        type(given)(
            evaluation=given.evaluation,
            snapshot=given.snapshot,
            changed=frozenset(),
            evaluated=frozenset(),
            dirty=given.evaluation.subjects,
            now=given.now,
            episodes={},
        ),
        replay.rollup_rules,
    )
    record = unreached.namespaces["team-m"].sets["phi"]
    assert (record.subject_state.state, record.subject_state.blocker.code) == (
        State.UNKNOWN,
        "NotEvaluated",
    )


def test_an_undecodable_inference_set_is_unknown():
    replay = stack_after()
    kind = next(kind for kind in replay.store.kinds if kind.resource == "inferencesets")
    replay.store.mark_undecodable(kind, "team-m", "qwen")
    replay.run_pass()
    assert line_of(replay, QWEN).startswith("Unknown (was Current):")


def test_a_namespace_whose_newest_version_is_undecodable_is_unknown():
    replay = stack_after()
    kind = next(kind for kind in replay.store.kinds if kind.resource == "namespaces")
    replay.store.mark_undecodable(kind, "", "team-m")
    replay.run_pass()
    line = "Unknown (was Current): Undecodable transient"
    assert line_of(replay, "team-m/harness") == line
    assert line_of(replay, "team-m").startswith("Unknown (was Current)")


def test_an_undecodable_component_is_unknown_beside_trouble_of_another_one():
    one, other = gateway_auth()
    replay = stack_after({f"Deployment {one}": {"replicas": 0}})
    kind = next(kind for kind in replay.store.kinds if kind.resource == "deployments")
    replay.store.mark_undecodable(kind, *other.split("/"))
    replay.run_pass()
    assert line_of(replay, "cluster").startswith("Failed")
    assert line_of(replay, f"Deployment {one}").startswith("Failed")
    assert line_of(replay, f"Deployment {other}").startswith("Unknown")


def gateway_auth() -> list[str]:
    """Return the two components of one reason."""
    components = view_of(stack_after()).cluster().components
    found = [each for each in components if each.reason == "clusterGatewayAuthNotReady"]
    return [f"{each.namespace}/{each.name}" for each in found]


def test_a_watch_that_was_lost_a_moment_ago_changes_nothing():
    replay = stack_after()
    pods = next(kind for kind in replay.store.kinds if kind.resource == "pods")
    replay.store.set_watch_state(pods, WatchLost(replay.now, "closed"))
    replay.run_pass()
    assert line_of(replay, QWEN) == "Current available 1/1"


def test_what_cannot_be_listed_hides_no_known_failure_of_the_namespace():
    replay = stack_after(BAD_IMAGE, packs=("kaito", "kserve"))
    services = next(kind for kind in replay.store.kinds if kind.resource == "inferenceservices")
    replay.store.set_watch_state(services, WatchLost(replay.now - HOUR, "forbidden"))
    replay.run_pass()
    assert line_of(replay, "team-a").startswith("Unknown")
    assert "inferencesetModelPodsNotReady ImagePull" in line_of(replay, "team-m")


def test_the_package_is_the_chart_of_the_gateway():
    package = view_of(stack_after(given=FULLY_REPORTED)).namespace("team-m").package
    assert (package.name, package.revision) == ("modelharness", "0.2.2")


def test_a_published_blocking_reason_has_the_text_of_the_event():
    found = view_of(stack_after(BAD_IMAGE)).inference_set("team-m", "qwen").blocking
    assert found.message.startswith("InferenceSet team-m/qwen: ")
    assert found.remedy == "Correct the image or preset, or give the nodes access to its registry."
    assert found.object.startswith("workspaces.kaito.sh team-m/qwen-7rk2p")
    assert found.in_state_seconds > 0


def test_the_replicas_of_a_deleted_set_end_one_by_one():
    replay = stack_after({"InferenceSet team-m/qwen": GONE_AT})
    replay._change({"Pod team-m/qwen-7rk2p-0": None}, now=replay.now)
    replay.run_pass()
    assert line_of(replay, QWEN) == "Terminating unavailable 0/1"


def test_a_namespace_of_many_is_rolled_up_in_parts():
    many = {f"InferenceSet team-m/phi-{n}": {"spec": {"replicas": 0}} for n in range(500)}
    replay = stack_after(many)
    steps = list(fold_steps(RollUp(), replay.rollup_input(), replay.rollup_rules))
    assert len(steps) >= 500 // SETS_PER_BATCH


def test_until_earlier_events_are_read_nothing_is_current_or_available():
    replay = stack_after()
    for why, state in (("503", State.UNKNOWN), ("timeout", State.UNKNOWN), ("", State.CURRENT)):
        replay.evaluation = replace(replay.evaluation, unread_events=why)
        replay.run_pass()
        view = view_of(replay)
        cluster, found = view.cluster(), view.inference_set("team-m", "qwen")
        assert (cluster.state, found.state, found.available) == (
            state,
            state,
            None if why else True,
        )
        if why:
            assert (found.blocking.code, found.blocking.message) == ("EarlierEventsUnread", why)
            assert found.blocking.since is None


def test_what_failed_stays_failed_while_events_are_unread_without_a_beginning():
    replay = stack_after({"Deployment kaito-system/kaito-workspace": {"replicas": 0}})
    replay.evaluation = replace(replay.evaluation, unread_events="503")
    replay.run_pass()
    found = view_of(replay).cluster()
    assert (found.state, found.blocking.since, found.blocking.since_from) == (
        State.FAILED,
        None,
        None,
    )
    replay.evaluation = replace(replay.evaluation, unread_events="")
    replay.run_pass()
    assert view_of(replay).cluster().blocking.since is not None
