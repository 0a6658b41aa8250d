"""The answer to each question about a stack, by the whole evaluation."""

import pytest
from msgspec.structs import replace

from reporter.model.status_document import Package
from reporter.rollup.answers import ObjectAnswer, find_answer
from tests.support.rollups import BAD_IMAGE, FULLY_REPORTED, LOST, stack_after, view_of
from tests.support.status_objects import a_status_object, stack_without_pages


RELEASE = "kaito-system"
KAITO_OUT = {"Deployment kaito-system/kaito-workspace": {"replicas": 0}}
DELETED = {"metadata": {"deletionTimestamp": "now"}}


def ask(replay, namespace: str = "team-m", **spec) -> ObjectAnswer:
    return find_answer(a_status_object(namespace, **spec), view_of(replay), RELEASE)


def blocked_by(answer: ObjectAnswer) -> str:
    return answer.blocking.reason if answer.blocking is not None else ""


TABLE = [
    # change, spec, state, available, blocked by
    ({}, {}, "Current", True, ""),
    ({}, {"inferenceSets": ["qwen"]}, "Current", True, ""),
    (BAD_IMAGE, {}, "Failed", False, "inferencesetModelPodsNotReady"),
    (BAD_IMAGE, {"inferenceSets": ["qwen"]}, "Failed", False, "inferencesetModelPodsNotReady"),
    ({**BAD_IMAGE, **KAITO_OUT}, {}, "Failed", False, "inferencesetModelPodsNotReady"),
    # The cause, and not what follows from it.
    ({**LOST, **KAITO_OUT}, {}, "Failed", False, "clusterKaitoControllerNotReady"),
    (
        {**LOST, **KAITO_OUT},
        {"inferenceSets": ["qwen"]},
        "Failed",
        False,
        "clusterKaitoControllerNotReady",
    ),
    # What is named and is not there, or goes.
    ({}, {"inferenceSets": ["phi"]}, "NotFound", False, "NotFound"),
    ({}, {"inferenceSets": ["phi", "qwen"]}, "NotFound", True, "NotFound"),
    (BAD_IMAGE, {"inferenceSets": ["phi", "qwen"]}, "NotFound", False, "NotFound"),
    ({"InferenceSet team-m/qwen": DELETED}, {}, "Current", True, ""),
    ({"InferenceSet team-m/qwen": DELETED}, {"inferenceSets": ["qwen"]}, "Terminating", True, ""),
    ({"Namespace team-m": DELETED}, {}, "Terminating", True, ""),
    ({"Namespace team-m": DELETED}, {"inferenceSets": ["qwen"]}, "Terminating", True, ""),
    # The cluster is its control plane: a failing model is none of it.
    (BAD_IMAGE, {"scope": "Cluster"}, "Failed", False, "InvalidScope"),
]


@pytest.mark.parametrize(("change", "spec", "state", "available", "reason"), TABLE)
def test_answer(change, spec, state, available, reason):
    answer = ask(stack_without_pages(change), **spec)
    assert (answer.state, answer.available, blocked_by(answer)) == (state, available, reason)


@pytest.mark.parametrize(
    ("change", "state", "available", "reason"),
    [
        (BAD_IMAGE, "Current", True, ""),
        (KAITO_OUT, "Failed", False, "clusterKaitoControllerNotReady"),
    ],
)
def test_answer_about_the_cluster_in_the_namespace_of_the_release(
    change, state, available, reason
):
    answer = ask(stack_without_pages(change), RELEASE, scope="Cluster")
    assert (answer.state, answer.available, blocked_by(answer)) == (state, available, reason)
    assert answer.replicas is None


BBR = "Deployment kaito-system/body-based-router"


@pytest.mark.parametrize(
    ("change", "until", "state", "available"),
    [
        # Nothing serves although it is held, of a reason that suppresses nothing.
        ({BBR: {"ready": 0}}, "20s", "InProgress", False),
        ({BBR: None}, "20s", "InProgress", False),
        ({BBR: {"ready": 1}}, "20s", "InProgress", True),
        ({BBR: {"ready": 1}}, "2m", "Failed", True),
        ({BBR: {"ready": 0}}, "2m", "Failed", False),
        ({BBR: {"updated": 1, "rollout": "ReplicaSetUpdated"}}, "2m", "InProgress", True),
        # Whether another component serves is not known.
        (
            {BBR: {"ready": 1}, "Deployment kaito-system/kaito-workspace": {"stale": True}},
            "2m",
            "Failed",
            None,
        ),
    ],
)
def test_the_control_plane_is_available_if_every_component_is_known_to_serve(
    change, until, state, available
):
    answer = ask(stack_without_pages(change, until=until), RELEASE, scope="Cluster")
    assert (answer.state, answer.available) == (state, available)


def test_a_namespace_without_the_label_is_not_found_with_what_to_do():
    answer = ask(stack_without_pages(), "default")
    assert (answer.state, answer.problem) == ("NotFound", "NotFound")
    assert "productionstack.kaito.sh/managed-by=modelharness" in answer.blocking.message


@pytest.mark.parametrize("spec", [{}, {"inferenceSets": ["qwen"]}, {"inferenceSets": ["phi"]}])
def test_what_cannot_be_listed_is_unknown_and_not_missing(spec):
    lost = {"namespaces": "lost", "inferencesets": "lost"}
    answer = ask(stack_without_pages(watch=lost, until="2m"), **spec)
    assert answer.state == "Unknown"
    assert answer.available is None
    assert answer.problem == ""
    assert answer.blocking is not None


@pytest.mark.parametrize(
    ("namespace", "spec"),
    [("team-m", {}), (RELEASE, {"scope": "Cluster"})],
    ids=["team", "cluster"],
)
def test_numbers_of_inference_sets_that_cannot_be_listed_are_absent(namespace, spec):
    assert ask(stack_without_pages(), namespace, **spec).inference_sets.total == 1
    replay = stack_without_pages(watch={"inferencesets": "lost"}, until="2m")
    assert ask(replay, namespace, **spec).inference_sets is None


def test_many_missing_sets_are_named_shortly():
    names = [f"set-{number:03}" for number in range(256)]
    answer = ask(stack_without_pages(), inferenceSets=names)
    assert answer.blocking.message == (
        "no InferenceSet set-000, set-001, set-002 and others in namespace team-m"
    )
    assert (answer.inference_sets.total, answer.inference_sets.not_found) == (256, 256)


def test_counts_and_replicas_are_of_the_named_sets():
    replay = stack_without_pages(given=FULLY_REPORTED)
    whole, named = ask(replay), ask(replay, inferenceSets=["qwen"])
    assert (named.inference_sets.total, named.inference_sets.current) == (1, 1)
    assert (named.replicas.desired, named.replicas.ready, named.replicas.updated) == (1, 1, 1)
    assert whole.replicas == named.replicas


@pytest.mark.parametrize("spec", [{}, {"inferenceSets": ["qwen"]}])
def test_what_no_page_tells_is_marked_and_changes_no_state(spec):
    read, unread = ask(stack_without_pages(), **spec), ask(stack_after(), **spec)
    assert (read.state, read.not_judged) == ("Current", ())
    assert (unread.state, unread.not_judged) == ("Current", ("inferencesetEngineStalled",))


@pytest.mark.parametrize(
    ("spec", "package"),
    [
        ({}, Package(name="modelharness", revision="0.2.2")),
        (
            {"package": {"name": "shop", "revision": "v3"}},
            Package(name="shop", revision="v3"),
        ),
        ({"package": {}}, Package(name="modelharness", revision="0.2.2")),
    ],
)
def test_the_package_is_that_of_the_object_or_of_the_namespace(spec, package):
    assert ask(stack_without_pages(given=FULLY_REPORTED), **spec).package == package


@pytest.mark.parametrize(
    ("watch", "spec", "unobserved"),
    [
        ({}, {}, ""),
        ({}, {"scope": "Cluster"}, ""),
        ({"pods": "lost"}, {}, "Unknown below: 1 InferenceSet"),
        ({"pods": "lost"}, {"inferenceSets": ["qwen"]}, "Unknown below: 1 InferenceSet"),
        ({"inferencesets": "lost"}, {"scope": "Cluster"}, "not all can be listed"),
    ],
)
def test_what_is_unknown_is_said_beside_the_state(watch, spec, unobserved):
    replay = stack_after(watch=watch, until="5m")
    namespace = RELEASE if spec.get("scope") == "Cluster" else "team-m"
    assert unobserved in ask(replay, namespace, **spec).unobserved
    assert bool(unobserved) == bool(ask(replay, namespace, **spec).unobserved)


def test_a_control_plane_that_is_current_names_what_is_unknown_below_it_and_which_right_is_missing():
    replay = stack_after(watch={"inferencesets": "lost"}, until="5m")
    replay.rollup = replace(replay.rollup, missing_rights=("list pods",))
    answer = ask(replay, RELEASE, scope="Cluster")
    assert answer.state == "Current"
    assert answer.unobserved.startswith("Unknown below: ")
    assert "not all can be listed" in answer.unobserved
    assert answer.unobserved.endswith("missing permissions: list pods")
    settled = stack_after()
    settled.rollup = replace(settled.rollup, missing_rights=("list pods",))
    assert ask(settled).unobserved == "", "all of the namespace is known"
