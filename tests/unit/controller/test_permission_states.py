"""The results that reviews of permissions leave behind."""

from datetime import UTC, datetime, timedelta

from reporter.controller.permissions import PermissionStates
from reporter.kube.access_review import Permission, PermissionStatus


NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=30)
CREATE = Permission("create", "", "events", "kube-system")
LIST, WATCH = (Permission(verb, "apps", "deployments") for verb in ("list", "watch"))
SCALE = Permission("patch", "kaito.sh", "inferencesets/scale")
NEEDED = {
    CREATE: {"every reason"},
    LIST: {"clusterKedaNotReady", "clusterBBRNotReady"},
    WATCH: {"clusterBBRNotReady"},
    SCALE: {"none"},
}
GRANTED, MISSING, UNKNOWN = PermissionStatus
START = PermissionStates.before_reviews(NEEDED)


def reviewed(before: PermissionStates, *statuses: PermissionStatus, now: datetime = NOON):
    return before.with_review(zip(NEEDED, statuses, strict=False), now=now)


def test_all_are_unknown_before_the_first_review():
    assert START.pending == tuple(NEEDED)
    assert START.as_json() == {
        "reviewedAt": None,
        "missing": {},
        "unknown": [str(each) for each in NEEDED],
    }
    assert set(START.missing_by_resource().values()) == {False}


def test_what_is_missing_names_what_needs_it_in_the_order_of_importance():
    found = reviewed(START, MISSING, MISSING, GRANTED, UNKNOWN)
    assert found.as_json() == {
        "reviewedAt": "2026-03-04T12:00:00+00:00",
        "missing": {
            "create events in kube-system": ["every reason"],
            "list deployments.apps": ["clusterBBRNotReady", "clusterKedaNotReady"],
        },
        "unknown": ["patch inferencesets.kaito.sh/scale"],
    }
    assert list(found.as_json()["missing"]) == [str(CREATE), str(LIST)]
    assert found.pending == (CREATE, LIST, SCALE)
    assert found.statuses == (
        (CREATE, MISSING),
        (LIST, MISSING),
        (WATCH, GRANTED),
        (SCALE, UNKNOWN),
    )


def test_a_review_without_an_answer_clears_nothing_and_grants_nothing():
    before = reviewed(START, MISSING, GRANTED, GRANTED, GRANTED)
    after = reviewed(before, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, now=LATER)
    assert after.missing == {CREATE}
    assert after.unknown == set(NEEDED)
    assert after.reviewed_at == NOON, "nobody has answered since"
    assert after.missing_by_resource()["create", "events"]


def test_a_permission_that_is_granted_again_is_no_longer_missing():
    before = reviewed(START, MISSING, MISSING, GRANTED, UNKNOWN)
    after = before.with_review([(CREATE, GRANTED), (SCALE, GRANTED)], now=LATER)
    assert after.missing == {LIST}
    assert after.unknown == frozenset()
    assert after.pending == (LIST,)
    assert after.reviewed_at == LATER


def test_a_resource_is_missing_if_it_is_in_one_of_several_places():
    elsewhere = Permission("create", "", "events", "default")
    states = PermissionStates.before_reviews({CREATE: {"a"}, elsewhere: {"b"}})
    after = states.with_review([(CREATE, MISSING), (elsewhere, GRANTED)], now=NOON)
    assert after.missing_by_resource() == {("create", "events"): True}


def test_what_is_needed_in_all_namespaces_beside_one_is_another_permission():
    """
    Without the right to mirror Events they are announced all the same, which is no critical alert.
    """
    everywhere = Permission("create", "", "events")
    states = PermissionStates.before_reviews({CREATE: {"a"}, everywhere: {"b"}, LIST: {"c"}})
    after = states.with_review([(CREATE, GRANTED), (everywhere, MISSING)], now=NOON)
    assert after.missing_by_resource() == {
        ("create", "events"): False,
        ("create", "events in all namespaces"): True,
        ("list", "deployments.apps"): False,
    }


def test_a_permission_is_named_as_a_refused_request_names_it():
    assert SCALE.request_text == "patch inferencesets.kaito.sh/scale"
    assert CREATE.request_text == "create events"


def test_what_is_known_of_permissions_that_stay_needed_is_kept():
    before = reviewed(START, MISSING, MISSING, GRANTED, UNKNOWN)
    new = Permission("list", "", "nodes")
    after = before.with_needed({CREATE: {"a"}, new: {"b"}})
    assert after.missing == {CREATE}
    assert after.unknown == {new}
    assert set(after.needed) == {CREATE, new}


def test_a_review_that_began_before_another_catalogue_leaves_nothing_of_what_is_needed_no_more():
    after = START.with_needed({CREATE: {"a"}})
    after = reviewed(after, GRANTED, MISSING, UNKNOWN, MISSING)
    assert (after.missing, after.unknown) == (frozenset(), frozenset())
