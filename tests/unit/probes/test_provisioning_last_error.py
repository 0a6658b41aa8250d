"""The last error of a Workspace, which stays reported while KAITO waits for its next try."""

import pytest

from reporter.kinds.kaito import WORKSPACES
from reporter.kinds.objects import NamespacedName
from reporter.model.enums import TroubleKind
from reporter.resources.machines import is_error_open
from reporter.store.store import Store
from tests.support.builders import NOON, a_condition
from tests.support.model_builders import QUOTA, a_model_store, a_workspace, delete_from_store
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble
from tests.support.provisioning import REASON, REFUSED, claims, starting


REFUSAL = a_condition("NodeClaimReady", "False", "SubscriptionQuotaReached", QUOTA)


def after(*reasons: str):
    """Return the verdict after a Workspace had these reasons one after the other."""
    store = a_model_store(*starting(REFUSED))
    for reason in reasons:
        store.upsert(WORKSPACES, a_workspace(changed_conditions=claims(reason)))
    return verdict_of(REASON, store=store)


@pytest.mark.parametrize("now", ["NodeClaimNotReady", "AwaitingReconciliation"])
def test_while_the_next_try_waits_the_last_error_is_reported(now):
    verdict = after("AwaitingReconciliation", now)
    assert (only_trouble(verdict).kind, only_trouble(verdict).cause.code) == (
        TroubleKind.FAILED,
        "Quota",
    )
    assert rendered_message(verdict) == (
        "GPU nodes are not provisioned: Workspace qwen-7rk2p NodeClaimReady=False"
        f" ({now}, before that SubscriptionQuotaReached): {QUOTA}."
    )


@pytest.mark.parametrize("now", ["NodeNotFound", "StartupTaintsExist"])
def test_once_a_machine_is_given_the_error_is_overcome(now):
    assert only_trouble(after("NodeClaimNotReady", now)).kind is TroubleKind.STARTING
    assert only_trouble(after(now, "NodeClaimNotReady")).kind is TroubleKind.STARTING


def test_a_newer_error_takes_the_place_of_the_last():
    assert only_trouble(after("AllocationFailure", "NodeClaimNotReady")).cause.code == "Capacity"


def test_what_was_refused_is_forgotten_with_the_workspace():
    store = a_model_store(*starting(REFUSED))
    delete_from_store(store, a_workspace())
    store.upsert(WORKSPACES, a_workspace(changed_conditions=claims("NodeClaimNotReady")))
    assert only_trouble(verdict_of(REASON, store=store)).kind is TroubleKind.STARTING


def waiting_after_an_error() -> Store:
    """Return a store that keeps the error of a Workspace, which waits for its next try."""
    store = a_model_store(*starting(REFUSED))
    store.upsert(WORKSPACES, a_workspace(changed_conditions=claims("NodeClaimNotReady")))
    assert keys_of_errors(store)
    return store


def test_a_new_workspace_does_not_inherit_the_error_of_a_deleted_one():
    store = waiting_after_an_error()
    delete_from_store(store, a_workspace())
    assert keys_of_errors(store) == []
    store.upsert(WORKSPACES, a_workspace(changed_conditions=claims("NodeClaimNotReady")))
    assert only_trouble(verdict_of(REASON, store=store)).kind is TroubleKind.STARTING


def test_a_younger_workspace_of_the_same_name_does_not_inherit_an_error_either():
    """Its predecessor was deleted while nobody watched."""
    store = waiting_after_an_error()
    younger = a_workspace(changed_conditions=claims("NodeClaimNotReady"), created_at=NOON)
    store.replace(WORKSPACES, [younger])
    assert keys_of_errors(store) == []
    assert only_trouble(verdict_of(REASON, store=store)).kind is TroubleKind.STARTING


def test_a_workspace_that_serves_again_remembers_nothing():
    assert not is_error_open(a_workspace(), REFUSAL)
    assert not is_error_open(a_workspace(changed_conditions={"NodeClaimReady": None}), REFUSAL)


def test_an_error_is_kept_only_while_the_workspace_does_not_state_it():
    store = a_model_store(*starting(REFUSED))
    kept = [keys_of_errors(store)]
    for reason in ("NodeClaimNotReady", "NodeClaimNotReady", "AllocationFailure"):
        store.upsert(WORKSPACES, a_workspace(changed_conditions=claims(reason)))
        kept.append(keys_of_errors(store))
    name = (a_workspace().metadata.namespace, a_workspace().metadata.name)
    assert kept == [[], [name], [name], []]


def test_a_list_replaces_a_workspace_that_stated_its_error_without_forgetting_it():
    store = a_model_store(*starting(REFUSED))
    waiting = a_workspace(changed_conditions=claims("NodeClaimNotReady"))
    store.replace(WORKSPACES, [waiting])
    store.replace(WORKSPACES, [waiting])
    assert only_trouble(verdict_of(REASON, store=store)).cause.code == "Quota"


def keys_of_errors(store: Store) -> list[NamespacedName]:
    return list(store.snapshot().provisioning_errors.keys())
