"""
Whether a resource is served, from answers of discovery that may be partial or flap.
"""

import pytest

from reporter.model.observations import Discovery, Presence
from reporter.stages.presence import observe, unanswered
from tests.builders import NOON, SECOND


CRD = "httproutes.gateway.networking.k8s.io"
SERVED = Discovery({CRD: ("v1", "v1beta1")})
MISSING = Discovery({})
STALE = Discovery({}, stale=frozenset({"gateway.networking.k8s.io"}))
OTHER_STALE = Discovery({}, stale=frozenset({"external.metrics.k8s.io"}))


def after(*answers, spacing=30 * SECOND, before=None) -> Presence:
    presence, now = before or Presence(), NOON
    for answer in answers:
        presence = observe(presence, answer, CRD, now=now)
        now += spacing
    return presence


def test_before_the_first_answer_nothing_is_known():
    assert not Presence().known


def test_what_is_served_counts_at_once():
    found = after(SERVED)
    assert (found.known, found.versions, found.ever) == (
        True,
        ("v1", "v1beta1"),
        {"v1", "v1beta1"},
    )
    assert found.since == NOON


def test_what_was_never_there_is_missing_after_two_answers():
    assert not after(MISSING).known
    found = after(MISSING, MISSING)
    assert (found.known, found.versions, found.ever) == (True, (), frozenset())


def test_a_loss_counts_from_its_first_answer_once_a_second_confirms_it():
    assert not after(SERVED, MISSING).known
    found = after(SERVED, MISSING, MISSING)
    assert (found.known, found.versions, found.ever) == (True, (), {"v1", "v1beta1"})
    assert found.since == NOON + 30 * SECOND


def test_answers_less_than_ten_seconds_apart_confirm_nothing():
    assert not after(SERVED, MISSING, MISSING, spacing=9 * SECOND).known
    assert after(SERVED, MISSING, MISSING, spacing=10 * SECOND).known


def test_answers_that_flap_prove_nothing():
    flapping = after(SERVED, *(MISSING, SERVED) * 5)
    assert (flapping.known, flapping.versions) == (True, ("v1", "v1beta1"))
    assert not after(SERVED, *(MISSING, SERVED) * 5, MISSING).known


def test_a_version_that_is_lost_needs_two_answers_as_well():
    beta = Discovery({CRD: ("v1beta1",)})
    assert not after(SERVED, beta).known
    assert after(SERVED, beta, beta).versions == ("v1beta1",)


def test_a_version_that_is_added_counts_at_once():
    assert after(Discovery({CRD: ("v1",)}), SERVED).versions == ("v1", "v1beta1")


def test_another_order_of_the_same_versions_is_no_loss():
    found = after(SERVED, Discovery({CRD: ("v1beta1", "v1")}))
    assert (found.known, found.versions) == (True, ("v1beta1", "v1"))


def test_what_comes_back_counts_at_once():
    assert after(SERVED, MISSING, MISSING, SERVED).versions == ("v1", "v1beta1")


@pytest.mark.parametrize("before", [None, after(SERVED), after(MISSING, MISSING)])
def test_discovery_that_fails_for_its_group_says_nothing_and_takes_nothing_back(before):
    found = after(STALE, STALE, before=before)
    assert not found.known
    assert found.versions == (before.versions if before else None)
    assert found.blind == "discovery of its API group failed"


def test_discovery_that_fails_for_another_group_is_an_answer():
    assert after(OTHER_STALE, OTHER_STALE).known


def test_a_failure_between_two_answers_does_not_make_them_three():
    assert after(SERVED, MISSING, STALE, MISSING).versions == ()


def test_no_answer_at_all_keeps_what_was_known_but_does_not_count():
    found = unanswered(after(SERVED), "timeout")
    assert (found.known, found.versions, found.blind) == (False, ("v1", "v1beta1"), "timeout")
    assert after(SERVED, before=found).known
