"""The presence of a CRD after discoveries that may be partial or flap."""

import pytest

from reporter.model.observations import CRDPresence, DiscoveryResult
from reporter.store.watch_states import mark_discovery_failed, update_presence
from tests.support.builders import NOON, SECOND


CRD = "httproutes.gateway.networking.k8s.io"
SERVED = DiscoveryResult({CRD: ("v1", "v1beta1")})
MISSING = DiscoveryResult({})
FAILED = DiscoveryResult({}, failed_groups=frozenset({"gateway.networking.k8s.io"}))
OTHER_FAILED = DiscoveryResult({}, failed_groups=frozenset({"external.metrics.k8s.io"}))


def after(*results, spacing=30 * SECOND, before=None) -> CRDPresence:
    presence, now = before or CRDPresence(), NOON
    for result in results:
        presence = update_presence(presence, result, CRD, now=now)
        now += spacing
    return presence


def test_presence_is_unknown_before_the_first_discovery():
    assert not CRDPresence().is_known


def test_a_served_crd_counts_at_once():
    found = after(SERVED)
    assert (found.is_known, found.versions, found.ever_served) == (
        True,
        ("v1", "v1beta1"),
        {"v1", "v1beta1"},
    )
    assert found.since == NOON


def test_a_crd_that_was_never_served_is_missing_after_two_discoveries():
    assert not after(MISSING).is_known
    found = after(MISSING, MISSING)
    assert (found.is_known, found.versions, found.ever_served) == (True, (), frozenset())


def test_a_loss_counts_from_the_first_discovery_once_a_second_confirms_it():
    assert not after(SERVED, MISSING).is_known
    found = after(SERVED, MISSING, MISSING)
    assert (found.is_known, found.versions, found.ever_served) == (True, (), {"v1", "v1beta1"})
    assert found.since == NOON + 30 * SECOND


def test_discoveries_less_than_ten_seconds_apart_confirm_nothing():
    assert not after(SERVED, MISSING, MISSING, spacing=9 * SECOND).is_known
    assert after(SERVED, MISSING, MISSING, spacing=10 * SECOND).is_known


def test_flapping_discoveries_confirm_nothing():
    flapping = after(SERVED, *(MISSING, SERVED) * 5)
    assert (flapping.is_known, flapping.versions) == (True, ("v1", "v1beta1"))
    assert not after(SERVED, *(MISSING, SERVED) * 5, MISSING).is_known


def test_the_loss_of_one_version_needs_two_discoveries_as_well():
    beta = DiscoveryResult({CRD: ("v1beta1",)})
    assert not after(SERVED, beta).is_known
    assert after(SERVED, beta, beta).versions == ("v1beta1",)


def test_an_added_version_counts_at_once():
    assert after(DiscoveryResult({CRD: ("v1",)}), SERVED).versions == ("v1", "v1beta1")


def test_another_order_of_the_same_versions_is_no_loss():
    found = after(SERVED, DiscoveryResult({CRD: ("v1beta1", "v1")}))
    assert (found.is_known, found.versions) == (True, ("v1beta1", "v1"))


def test_the_scope_is_that_of_the_last_answer_and_unknown_without_one():
    scopes = [
        DiscoveryResult(SERVED.served_versions, namespaced={CRD: on}) for on in (True, False)
    ]
    assert after(SERVED).namespaced is None
    assert [after(each).namespaced for each in scopes] == [True, False]
    assert after(*scopes).namespaced is False
    assert after(scopes[0], MISSING).namespaced is True, "the loss is not confirmed"
    assert after(scopes[0], MISSING, MISSING).namespaced is None
    assert after(scopes[0], FAILED).namespaced is True


def test_a_crd_that_is_served_again_counts_at_once():
    assert after(SERVED, MISSING, MISSING, SERVED).versions == ("v1", "v1beta1")


@pytest.mark.parametrize("before", [None, after(SERVED), after(MISSING, MISSING)])
def test_a_failed_discovery_of_its_group_makes_presence_unknown_and_keeps_the_versions(before):
    found = after(FAILED, FAILED, before=before)
    assert not found.is_known
    assert found.versions == (before.versions if before else None)
    assert found.why_unknown == "discovery of its API group failed"


def test_a_failed_discovery_of_another_group_does_not_matter():
    assert after(OTHER_FAILED, OTHER_FAILED).is_known


def test_a_failure_between_two_discoveries_does_not_restart_the_confirmation():
    assert after(SERVED, MISSING, FAILED, MISSING).versions == ()


def test_a_failed_discovery_keeps_the_versions_but_makes_presence_unknown():
    found = mark_discovery_failed(after(SERVED), "timeout")
    assert (found.is_known, found.versions, found.why_unknown) == (
        False,
        ("v1", "v1beta1"),
        "timeout",
    )
    assert after(SERVED, before=found).is_known
