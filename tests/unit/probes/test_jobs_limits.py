"""The limits of check names: in a namespace and in the cluster."""

from msgspec.structs import replace

from reporter.evaluation.registry import PROBES
from reporter.kinds.batch import JOBS
from reporter.model.enums import Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.probes.jobs import (
    MAX_NAMES,
    MAX_NAMES_OF_NAMESPACE,
    names_by_namespace,
)
from tests.support.builders import HOUR, NOON, a_condition
from tests.support.catalogue_fixture import a_probe_request
from tests.support.model_builders import TEAM
from tests.support.source_builders import a_check_job, a_store


FAILED = a_condition("Available", "False", "NoAnswer", since=NOON - HOUR)


def a_check(number, namespace=TEAM, **changes):
    name = f"c{number:04}"
    return a_check_job(f"{name}-1", FAILED, check=name, namespace=namespace, **changes)


def verdicts(store, namespace):
    request = replace(
        a_probe_request("modelharnessCheckFailed"),
        subject=Subject(Layer.MODELHARNESS, namespace),
        at=NOON,
    )
    found = PROBES["check-jobs"].evaluate(store.snapshot(), request)
    return {each.key.item: each for each in found if each.key.item}


def test_the_first_names_of_a_namespace_are_evaluated_and_the_others_are_unknown():
    store = a_store(*map(a_check, range(MAX_NAMES_OF_NAMESPACE + 3)))
    found = verdicts(store, TEAM)
    kinds = [type(found[name]) for name in sorted(found)]
    assert kinds == [Active] * MAX_NAMES_OF_NAMESPACE + [Unknown] * 3
    assert found["c0020"].why == (
        "check c0020 is beyond the limit of 20 names of checks in a namespace and 200 in the"
        " cluster, of which the first in their order are evaluated; use fewer names, or one name"
        " for several InferenceSets"
    )


def test_at_the_limit_of_a_namespace_all_are_evaluated():
    found = verdicts(a_store(*map(a_check, range(MAX_NAMES_OF_NAMESPACE))), TEAM)
    assert {type(each) for each in found.values()} == {Active}


def test_another_run_and_another_set_are_no_other_name():
    jobs = [
        a_check_job(f"smoke-{number}", FAILED, of=f"set-{number}") for number in range(100)
    ] + [a_check_job(f"run-{number}", FAILED) for number in range(100)]
    assert isinstance(verdicts(a_store(*jobs), TEAM)["smoke"], Active)


def a_full_cluster(*more):
    """Return a store with as many names as the cluster may have, and more."""
    jobs = [
        a_check(number, f"team-{number // MAX_NAMES_OF_NAMESPACE}") for number in range(MAX_NAMES)
    ]
    return a_store(*jobs, *more)


def test_at_the_limit_of_the_cluster_all_are_evaluated():
    store = a_full_cluster()
    for number in range(MAX_NAMES // MAX_NAMES_OF_NAMESPACE):
        found = verdicts(store, f"team-{number}")
        assert len(found) == MAX_NAMES_OF_NAMESPACE
        assert {type(each) for each in found.values()} == {Active}


def test_one_name_more_in_the_cluster_is_unknown():
    store = a_full_cluster(a_check(9000, "one-more"))
    assert isinstance(verdicts(store, "one-more")["c9000"], Unknown)
    assert {type(each) for each in verdicts(store, "team-9").values()} == {Active}


def test_a_name_that_another_namespace_has_already_is_evaluated():
    store = a_full_cluster(a_check(7, "one-more"))
    assert isinstance(verdicts(store, "one-more")["c0007"], Active)


def test_names_beyond_the_limit_of_their_namespace_use_up_none_of_the_cluster():
    greedy = [a_check(number, "a-greedy") for number in range(MAX_NAMES * 2)]
    store = a_store(*greedy, a_check(9000))
    assert isinstance(verdicts(store, TEAM)["c9000"], Active)
    found = verdicts(store, "a-greedy")
    assert sum(isinstance(each, Active) for each in found.values()) == MAX_NAMES_OF_NAMESPACE
    assert len(found) == MAX_NAMES * 2, "what is not evaluated is shown"


def test_a_check_that_has_room_again_is_evaluated():
    store = a_store(*map(a_check, range(MAX_NAMES_OF_NAMESPACE + 1)))
    assert isinstance(verdicts(store, TEAM)["c0020"], Unknown)
    store.delete(JOBS, TEAM, "c0000-1")
    assert isinstance(verdicts(store, TEAM)["c0020"], Active)
    assert "c0000" not in verdicts(store, TEAM)


def test_the_names_are_collected_once_until_a_job_changes():
    store = a_store(*map(a_check, range(3)))
    before = names_by_namespace(store.snapshot())
    assert before == {TEAM: {"c0000", "c0001", "c0002"}}
    assert names_by_namespace(store.snapshot()) is before
    store.upsert(JOBS, a_check(3))
    assert names_by_namespace(store.snapshot()) == {TEAM: {f"c000{n}" for n in range(4)}}


def test_without_any_job_there_are_none():
    store = a_store()
    assert names_by_namespace(store.snapshot()) == {}
    assert verdicts(store, TEAM) == {}


def test_a_success_beyond_the_limit_is_no_health():
    passed = a_condition("Available", "True", since=NOON - HOUR)
    over = a_check_job("z-1", passed, check="z")
    store = a_store(*map(a_check, range(MAX_NAMES_OF_NAMESPACE)), over)
    assert not isinstance(verdicts(store, TEAM)["z"], Clear)
