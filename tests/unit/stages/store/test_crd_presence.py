"""
Whether a resource is served, from answers of discovery that may be partial or flap.
"""

import pytest

from reporter.model.observations import CRDPresence, DiscoveryResult
from reporter.stages.store.crd_presence import mark_discovery_failed, update_presence
from tests.support.builders import NOON, SECOND


CRD = "httproutes.gateway.networking.k8s.io"
SERVED = DiscoveryResult({CRD: ("v1", "v1beta1")})
MISSING = DiscoveryResult({})
STALE = DiscoveryResult({}, failed_groups=frozenset({"gateway.networking.k8s.io"}))
OTHER_STALE = DiscoveryResult({}, failed_groups=frozenset({"external.metrics.k8s.io"}))


def after(*answers, spacing=30 * SECOND, before=None) -> CRDPresence:
    presence, now = before or CRDPresence(), NOON
    for answer in answers:
        presence = update_presence(presence, answer, CRD, now=now)
        now += spacing
    return presence


def test_before_the_first_answer_nothing_is_known():
    assert not CRDPresence().is_known


def test_what_is_served_counts_at_once():
    found = after(SERVED)
    assert (found.is_known, found.versions, found.ever_served) == (
        True,
        ("v1", "v1beta1"),
        {"v1", "v1beta1"},
    )
    assert found.since == NOON


def test_what_was_never_there_is_missing_after_two_answers():
    assert not after(MISSING).is_known
    found = after(MISSING, MISSING)
    assert (found.is_known, found.versions, found.ever_served) == (True, (), frozenset())


def test_a_loss_counts_from_its_first_answer_once_a_second_confirms_it():
    assert not after(SERVED, MISSING).is_known
    found = after(SERVED, MISSING, MISSING)
    assert (found.is_known, found.versions, found.ever_served) == (True, (), {"v1", "v1beta1"})
    assert found.since == NOON + 30 * SECOND


def test_answers_less_than_ten_seconds_apart_confirm_nothing():
    assert not after(SERVED, MISSING, MISSING, spacing=9 * SECOND).is_known
    assert after(SERVED, MISSING, MISSING, spacing=10 * SECOND).is_known


def test_answers_that_flap_prove_nothing():
    flapping = after(SERVED, *(MISSING, SERVED) * 5)
    assert (flapping.is_known, flapping.versions) == (True, ("v1", "v1beta1"))
    assert not after(SERVED, *(MISSING, SERVED) * 5, MISSING).is_known


def test_a_version_that_is_lost_needs_two_answers_as_well():
    beta = DiscoveryResult({CRD: ("v1beta1",)})
    assert not after(SERVED, beta).is_known
    assert after(SERVED, beta, beta).versions == ("v1beta1",)


def test_a_version_that_is_added_counts_at_once():
    assert after(DiscoveryResult({CRD: ("v1",)}), SERVED).versions == ("v1", "v1beta1")


def test_another_order_of_the_same_versions_is_no_loss():
    found = after(SERVED, DiscoveryResult({CRD: ("v1beta1", "v1")}))
    assert (found.is_known, found.versions) == (True, ("v1beta1", "v1"))


def test_what_comes_back_counts_at_once():
    assert after(SERVED, MISSING, MISSING, SERVED).versions == ("v1", "v1beta1")


@pytest.mark.parametrize("before", [None, after(SERVED), after(MISSING, MISSING)])
def test_discovery_that_fails_for_its_group_says_nothing_and_takes_nothing_back(before):
    found = after(STALE, STALE, before=before)
    assert not found.is_known
    assert found.versions == (before.versions if before else None)
    assert found.why_unknown == "discovery of its API group failed"


def test_discovery_that_fails_for_another_group_is_an_answer():
    assert after(OTHER_STALE, OTHER_STALE).is_known


def test_a_failure_between_two_answers_does_not_make_them_three():
    assert after(SERVED, MISSING, STALE, MISSING).versions == ()


def test_no_answer_at_all_keeps_what_was_known_but_does_not_count():
    found = mark_discovery_failed(after(SERVED), "timeout")
    assert (found.is_known, found.versions, found.why_unknown) == (
        False,
        ("v1", "v1beta1"),
        "timeout",
    )
    assert after(SERVED, before=found).is_known
