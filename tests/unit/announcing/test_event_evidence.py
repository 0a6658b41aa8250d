"""An Event keeps what no object states any more: errors of nodes, and that objects existed."""

import pytest

from reporter.announcing.event_evidence import MAX_EXISTED, find_errors, find_existed
from reporter.kinds.gateway_api import GATEWAYS, HTTP_ROUTES, INFERENCE_POOLS
from reporter.kinds.kaito import WORKSPACES
from reporter.kube.announced import (
    Announced,
    AnnouncedFinding,
    decode_announced,
    encode_announced,
)
from reporter.model.enums import Layer, TroubleKind
from reporter.model.subjects import Subject
from reporter.model.verdicts import Cause, ObjectRef, Trouble
from reporter.resources.routes import find_deleted_parts
from reporter.snapshot.seen_before import SeenBefore
from tests.support.builders import NOON, a_condition
from tests.support.model_builders import (
    QUOTA,
    SUBJECT,
    TEAM,
    WORKSPACE,
    a_model_store,
    a_picker,
    a_pool,
    a_route,
    a_set,
    a_workspace,
)
from tests.support.provisioning import REFUSED, claims, starting


WORKSPACE_REF = ObjectRef(WORKSPACES.group_resource, TEAM, WORKSPACE)
GATEWAY = ObjectRef(GATEWAYS.group_resource, TEAM, "gw")


def a_trouble(ref: ObjectRef, missing: ObjectRef | None = None) -> Trouble:
    return Trouble(Cause(ref, "X"), TroubleKind.LOST, missing=missing)


def waiting_store():
    store = a_model_store(*starting(REFUSED))
    store.upsert(WORKSPACES, a_workspace(changed_conditions=claims("NodeClaimNotReady")))
    return store


@pytest.mark.parametrize("store", [waiting_store(), a_model_store(*starting(REFUSED))])
def test_an_error_is_kept_whether_its_workspace_states_it_or_not(store):
    (error,) = find_errors(store.snapshot(), [a_trouble(WORKSPACE_REF), a_trouble(GATEWAY)])
    assert error.workspaces == ((TEAM, WORKSPACE),)
    assert (error.reason, error.message) == ("SubscriptionQuotaReached", QUOTA)
    announced = Announced(AnnouncedFinding(), errors=(error,))
    assert decode_announced({"a": encode_announced(announced)}, "a") == announced


def test_what_exists_or_was_deleted_is_kept_and_nothing_else():
    store = a_model_store(a_set(), a_route(), deleted=[a_pool(), a_picker()])
    unseen = ObjectRef(GATEWAYS.group_resource, TEAM, "typo")
    found = find_existed(store.snapshot(), SUBJECT, [a_trouble(WORKSPACE_REF, unseen)])
    assert [name for _, _, name in found] == [
        "qwen-inferencepool-epp",
        "qwen-route",
        "qwen-inferencepool",
    ]


def test_an_event_keeps_few_objects():
    routes = [a_route(f"r{number:03}") for number in range(MAX_EXISTED + 10)]
    store = a_model_store(*routes)
    refs = [ObjectRef(HTTP_ROUTES.group_resource, TEAM, r.metadata.name) for r in routes]
    found = find_existed(store.snapshot(), Subject(Layer.CLUSTER), [*map(a_trouble, refs)])
    assert len(found) == MAX_EXISTED


def test_a_new_process_keeps_the_error_only_while_its_outcome_is_open():
    condition = a_condition("NodeClaimReady", "False", "SubscriptionQuotaReached", QUOTA, NOON)
    seen = SeenBefore(errors={(TEAM, WORKSPACE): condition, (TEAM, "gone"): condition})
    for reason, is_kept in (("AwaitingReconciliation", True), ("NodeNotFound", False)):
        store = a_model_store(*starting(claims(reason)))
        store.take_dirty()
        store.record_seen_before(seen)
        kept = store.snapshot().provisioning_errors
        assert (kept.get((TEAM, WORKSPACE)) is not None) is is_kept
        assert SUBJECT in store.take_dirty()
        assert kept.get((TEAM, "gone")) is None


def test_a_new_process_misses_what_existed_and_is_not_there():
    store = a_model_store(a_set(), a_route())
    refs = [
        ObjectRef(HTTP_ROUTES.group_resource, TEAM, "qwen-route"),
        ObjectRef(INFERENCE_POOLS.group_resource, TEAM, "qwen-inferencepool"),
        GATEWAY,
    ]
    store.record_seen_before(SeenBefore(frozenset(refs), {SUBJECT: frozenset(refs)}))
    snapshot = store.snapshot()
    assert [snapshot.was_deleted(ref) for ref in refs] == [False, True, True]
    assert find_deleted_parts(snapshot, SUBJECT, HTTP_ROUTES, INFERENCE_POOLS) == (refs[1],)
