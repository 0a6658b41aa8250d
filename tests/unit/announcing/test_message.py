"""The parts of a message and their order."""

from datetime import timedelta

import pytest

from reporter.model.enums import Layer, Owner, TroubleKind
from reporter.model.subjects import Subject
from reporter.resources.deployments import evaluate_deployment
from tests.support.builders import NOON, a_deployment, a_pod, a_ready_entry, a_trouble, an_entry
from tests.unit.announcing.message_builders import REMEDY, ZERO, render


SCALE = "Scale it back up with kubectl scale, and find out who set it to zero so that it stays up."


def crashing():
    pod = a_pod(waiting="CrashLoopBackOff", last_exit=1, restarts=4, ready=False, since=NOON)
    return evaluate_deployment(a_deployment(ready=1), [pod])


def test_the_message_of_a_degraded_deployment():
    assert render(crashing()).startswith(
        "Deployment kaito-system/body-based-router is degraded: 1/2 replicas ready;"
        " pod body-based-router-6c9f-x2 CrashLoopBackOff (exit code 1, 4 restarts)."
        " Platform: Read the end of kubectl logs --previous of that pod;"
    )


def test_the_message_of_a_deployment_scaled_to_zero():
    assert render(evaluate_deployment(a_deployment(replicas=0), [])) == (
        "Deployment kaito-system/body-based-router is scaled to zero replicas. Platform: " + SCALE
    )


def test_the_message_of_a_refused_pod():
    refused = ("ReplicaFailure", "True", "FailedCreate", 'pods "x" is forbidden: exceeded quota')
    found = evaluate_deployment(a_deployment(ready=0, total=0, conditions=[refused]), [])
    assert render(found).startswith(
        "Deployment kaito-system/body-based-router is unavailable: 0/2 replicas ready:"
        ' pods "x" is forbidden: exceeded quota. Platform: Remove what refuses the pods'
    )


def test_the_order_of_the_parts():
    text = render(
        crashing(),
        other_reasons=("clusterA", "clusterB"),
        suppressed_reasons=("x", "y"),
        suppressed_namespaces=2,
    )
    parts = [
        "Deployment kaito-system/body-based-router",
        "; pod body-based-router-6c9f-x2",
        " Platform: ",
        " (also: clusterA, clusterB)",
        " (suppressing downstream reasons: x, y in 2 namespace(s))",
    ]
    places = [text.index(part) for part in parts]
    assert places == sorted(places)
    assert text.endswith(parts[-1])


def test_every_failing_deployment_is_named_what_is_out_first():
    degraded, out = a_trouble("a"), a_trouble("b", is_out=True)
    text = render(degraded, out, entry=an_entry("clusterThing"))
    assert text == f"Thing b is broken. Thing a is broken. Platform: {REMEDY}"


def test_a_start_says_how_long_it_made_no_progress():
    young = a_trouble(kind=TroubleKind.STARTING)
    entry = an_entry("clusterThing")
    assert render(young, entry=entry, lasted=timedelta(minutes=3)).startswith(
        "Thing thing is broken (no progress for 3m). "
    )
    assert "progress" not in render(young, entry=entry, lasted=ZERO)
    assert "progress" not in render(a_trouble(), entry=entry, lasted=timedelta(minutes=3))


def test_foreign_text_follows_or_stands_where_the_template_has_it():
    foreign = a_trouble(foreign_text="quota exceeded, see https://aka.ms/q")
    entry = an_entry("clusterThing", remedies={})
    assert render(foreign, entry=entry) == "Thing thing is broken: quota exceeded, see."
    placed = an_entry("clusterThing", message_template="({foreign}) {object}.", remedies={})
    assert render(foreign, entry=placed) == "(quota exceeded, see) Thing thing."


def test_foreign_text_is_never_taken_for_a_template():
    foreign = a_trouble(foreign_text="{object} {0} {} %s {foreign}")
    text = render(foreign, entry=an_entry("clusterThing", remedies={}))
    assert text == "Thing thing is broken: {object} {0} {} %s {foreign}."


@pytest.mark.parametrize(
    ("code", "remedy"),
    [
        ("Degraded.Crash", "both"),
        ("Degraded.Image", "second"),
        ("Unavailable.Other", "first"),
        ("Else", "default"),
    ],
)
def test_the_remedy_is_that_of_the_code_or_of_its_parts(code, remedy):
    remedies = {
        "Degraded.Crash": "both",
        "Image": "second",
        "Unavailable": "first",
        "default": "default",
    }
    entry = an_entry("clusterThing", remedies=remedies, owner=Owner.USER)
    assert render(a_trouble(code=code), entry=entry).endswith(f" User: {remedy}")


def test_no_owner_is_named_without_a_remedy():
    assert render(a_trouble(), entry=an_entry("clusterThing", remedies={})) == (
        "Thing thing is broken."
    )


def test_a_message_names_its_namespace_and_inference_set():
    template = "{namespace}/{inferenceset}: {state}."
    entry = an_entry("x", layer=Layer.MODELDEPLOYMENT, message_template=template, remedies={})
    subject = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
    assert render(a_trouble(), entry=entry, subject=subject) == "team-a/qwen: is broken."


def test_a_ready_message_says_nothing_else():
    assert render(entry=a_ready_entry()) == "All is well again."


def test_many_inference_sets_are_counted_and_three_are_named():
    names = tuple(f"model-{i:02}" for i in range(12))
    subject = Subject(Layer.MODELDEPLOYMENT, "team-a")
    text = render(entry=a_ready_entry(Layer.MODELDEPLOYMENT), subject=subject, grouped_names=names)
    assert text == (
        "Namespace team-a: 12 InferenceSets (model-00, model-01, model-02 and 9 more) are ready again."
    )


def test_a_group_of_one_and_a_group_with_unknown_members():
    entry, subject = a_ready_entry(Layer.MODELDEPLOYMENT), Subject(Layer.MODELDEPLOYMENT, "team-a")
    assert render(entry=entry, subject=subject, grouped_names=("qwen",)) == (
        "Namespace team-a: 1 InferenceSet (qwen) is ready again."
    )
    assert render(entry=entry, subject=subject) == (
        "Namespace team-a: all InferenceSets are ready again."
    )


def test_what_all_sentences_begin_with_is_written_once():
    entry = an_entry("x", message_template="Namespace {namespace}: {object} {state}.", remedies={})
    subject = Subject(Layer.MODELHARNESS, "team-a")
    troubles = (a_trouble("a"), a_trouble("b", foreign_text="quota"), a_trouble("c"))
    assert render(*troubles, entry=entry, subject=subject) == (
        "Namespace team-a: Thing a is broken. Thing b is broken: quota. Thing c is broken."
    )
