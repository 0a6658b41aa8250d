"""The verdicts about endpoint pickers."""

import pytest
from msgspec.structs import replace

from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import Pod
from reporter.kinds.gateway_api import INFERENCE_POOLS, HTTPRoute, HTTPRouteSpec, InferencePool
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear, Unknown
from tests.support.builders import LONG_AGO, NOON
from tests.support.model_builders import (
    EPP,
    TEAM,
    a_model,
    a_model_store,
    a_picker,
    a_picker_pod,
    a_pool,
    a_route,
    a_set,
)
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetEPPNotReady"
ROLLING = [("Progressing", "True", "ReplicaSetUpdated")]
WITHOUT = {"without": [Deployment, Pod]}

CLEAR = {
    "healthy": a_model(),
    "one leader of three": a_model(a_picker(replicas=3, ready=1)),
    "one leader, so the rollout never ends": a_model(
        a_picker(
            replicas=2, ready=1, conditions=[("Progressing", "False", "ProgressDeadlineExceeded")]
        )
    ),
    "being deleted": a_model(a_picker(replicas=0, deleted=NOON)),
    "named by the pool": a_model(
        a_pool(picker="own-epp"), a_picker("own-epp"), a_picker(replicas=0)
    ),
    "a pool without one": a_model(a_pool(picker=None), **WITHOUT),
    "deployed without pool and route": a_model(without=[InferencePool, HTTPRoute, Deployment]),
    "the pool is on its way out": a_model(a_pool(deleted=NOON), **WITHOUT),
    "a Service of which no Deployment has the name": a_model(a_pool(picker="shared"), **WITHOUT),
    "scaled to zero itself": a_model(a_set(0)),
}


@pytest.mark.parametrize("objects", CLEAR.values(), ids=CLEAR.keys())
def test_an_endpoint_picker_that_serves_is_clear(objects):
    verdict = verdict_of(REASON, *objects)
    assert isinstance(verdict, Clear), rendered_message(verdict)


def test_scaled_to_zero_has_this_message():
    verdict = verdict_of(REASON, *a_model(a_picker(replicas=0)))
    assert rendered_message(verdict) == (
        "endpoint picker Deployment team-a/qwen-inferencepool-epp is scaled to zero replicas."
    )
    assert (only_trouble(verdict).kind, only_trouble(verdict).is_out) == (
        TroubleKind.DECLARED,
        True,
    )


def test_an_endpoint_picker_is_evaluated_while_its_set_is_scaled_to_zero():
    assert only_trouble(verdict_of(REASON, *a_model(a_set(0), a_picker(replicas=0))))


def test_scaled_to_zero_does_not_wait_for_a_writer():
    late = a_picker(replicas=0, generation=8, observed=7)
    assert only_trouble(verdict_of(REASON, *a_model(late))).cause.code == "ScaledToZero"


def test_missing_and_deleted_are_two_things():
    missing = only_trouble(verdict_of(REASON, *a_model(**WITHOUT)))
    assert (missing.cause.code, missing.kind) == ("NotFound", TroubleKind.DECLARED)
    deleted = only_trouble(verdict_of(REASON, *a_model(**WITHOUT), deleted=[a_picker()]))
    assert (deleted.cause.code, deleted.kind) == ("Deleted", TroubleKind.LOST)
    assert missing.object_created_at is deleted.object_created_at is None


ELSEWHERE = replace(a_route(), spec=HTTPRouteSpec())
UNROUTED = [InferencePool, HTTPRoute, Deployment, Pod]


@pytest.mark.parametrize("deleted", [[a_picker()], [a_pool(), a_picker("own"), a_route()]])
def test_an_endpoint_picker_that_was_deleted_with_all_that_refers_to_it_is_missed(deleted):
    found = only_trouble(verdict_of(REASON, *a_model(without=UNROUTED), deleted=deleted))
    assert (found.cause.code, found.kind) == ("Deleted", TroubleKind.LOST)


@pytest.mark.parametrize(
    ("objects", "deleted"),
    [
        (a_model(without=UNROUTED), [a_picker("helper")]),
        (a_model(a_pool(picker=None), without=[Deployment, Pod]), [a_picker()]),
        (a_model(ELSEWHERE, without=[InferencePool, Deployment, Pod]), [a_picker()]),
    ],
    ids=["no pool ever referred to it", "its pool needs none now", "its route leads elsewhere"],
)
def test_a_deployment_that_is_needed_no_longer_is_not_missed(objects, deleted):
    assert isinstance(verdict_of(REASON, *objects, deleted=deleted), Clear)


def test_a_custom_one_that_was_there_is_missed():
    objects = a_model(a_pool(picker="own-epp"), **WITHOUT)
    assert (
        only_trouble(verdict_of(REASON, *objects, deleted=[a_picker("own-epp")])).cause.code
        == "Deleted"
    )


def test_the_labelled_deployment_is_evaluated_where_the_service_has_another_name():
    verdict = verdict_of(REASON, *a_model(a_pool(picker="own-service"), a_picker(replicas=0)))
    assert only_trouble(verdict).cause.object.name == EPP


def test_a_recreation_is_starting():
    objects = a_model(a_picker(ready=0, total=0, updated=0, conditions=ROLLING), without=[Pod])
    assert only_trouble(verdict_of(REASON, *objects)).kind is TroubleKind.STARTING


def test_a_drained_pods_replacement_is_starting():
    new = a_picker_pod(ready=False, created_at=NOON, started=NOON, since=NOON)
    assert (
        only_trouble(verdict_of(REASON, *a_model(a_picker(ready=0), new))).kind
        is TroubleKind.STARTING
    )


def test_the_pods_of_an_endpoint_picker_explain_its_trouble():
    pod = a_picker_pod(
        ready=False, waiting="CrashLoopBackOff", last_exit=1, restarts=4, since=LONG_AGO
    )
    verdict = verdict_of(REASON, *a_model(a_picker(ready=0), pod))
    assert rendered_message(verdict) == (
        "endpoint picker Deployment team-a/qwen-inferencepool-epp is unavailable: 0/1 replicas ready; pod"
        " qwen-inferencepool-epp-6c9f-x1 CrashLoopBackOff (exit code 1, 4 restarts)."
    )
    assert only_trouble(verdict).cause.code == "Unavailable.Crash"


def test_a_stale_status_of_an_endpoint_picker_is_unknown():
    stale = a_picker(ready=1, generation=8, observed=7)
    assert isinstance(verdict_of(REASON, *a_model(stale)), Unknown)
    stale = a_picker(ready=0, generation=8, observed=7)
    assert isinstance(verdict_of(REASON, *a_model(stale)), Unknown)


@pytest.mark.parametrize(("kind", "name"), [(DEPLOYMENTS, EPP), (INFERENCE_POOLS, "qwen-pool")])
def test_an_endpoint_picker_that_cannot_be_decoded_is_unknown(kind, name):
    store = a_model_store(*a_model(a_picker(replicas=0)))
    store.mark_undecodable(kind, TEAM, name)
    assert isinstance(verdict_of(REASON, store=store), Unknown)


LOOP = {"waiting": "CrashLoopBackOff", "last_exit": 1, "restarts": 4, "since": LONG_AGO}


def test_a_hard_error_beside_a_ready_one_is_reported_with_how_many_serve():
    pod = a_picker_pod(ready=False, **LOOP)
    verdict = verdict_of(REASON, *a_model(a_picker(replicas=2, ready=1), pod))
    assert only_trouble(verdict).cause.code == "Degraded.Crash"
    assert not only_trouble(verdict).is_out
    assert rendered_message(verdict).startswith(
        "endpoint picker Deployment team-a/qwen-inferencepool-epp is degraded: 1/2 replicas ready;"
    )


def test_a_follower_that_waits_beside_the_leader_is_none():
    pod = a_picker_pod(ready=False)
    assert isinstance(verdict_of(REASON, *a_model(a_picker(replicas=2, ready=1), pod)), Clear)


def test_a_deployment_with_the_label_hides_no_deleted_picker():
    other = a_picker("qwen-helper")
    objects = a_model(other, without=[Pod])
    objects = [o for o in objects if o.metadata.name != EPP]
    verdict = verdict_of(REASON, *objects, deleted=[a_picker()])
    assert only_trouble(verdict).cause.code == "Deleted"


def test_an_endpoint_picker_that_only_its_label_tells_is_missed_once_it_is_deleted():
    own = a_picker("own-picker")
    objects = a_model(a_pool(picker="own-service"), **WITHOUT)
    found = only_trouble(verdict_of(REASON, *objects, deleted=[own]))
    assert (found.cause.object.name, found.cause.code) == ("own-picker", "Deleted")
