"""
What an Event says, in which order, and what gives way when there is no room.
"""

import re
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.model.enums import Layer, Owner, TroubleKind
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.stages.announcing.message import (
    MAX_MESSAGE_BYTES,
    MessageInput,
    ReportedTrouble,
    render_message,
)
from reporter.stages.resources.workloads.deployments import (
    evaluate_deployment,
    missing_deployment_trouble,
)
from reporter.stages.text.phrases import abbreviate_list, human_duration
from tests.support.builders import (
    NOON,
    a_deployment,
    a_pod,
    a_ready_entry,
    a_trouble,
    an_entry,
)
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE


ZERO = timedelta(0)
BBR = DEFAULT_CATALOGUE["clusterBBRNotReady"]
SCALE = "Scale it back up with kubectl scale, and find out who set it to zero so that it stays up."
REMEDY = "look at it."
ALSO = tuple(
    sorted(reason for reason in DEFAULT_CATALOGUE.entries if reason.startswith("cluster"))
)
SILENCED = tuple(sorted(r for r in DEFAULT_CATALOGUE.entries if not r.startswith("cluster")))


def said(*troubles, entry=BBR, lasted=ZERO, **changes) -> str:
    told = tuple(ReportedTrouble(each, lasted) for each in troubles)
    return render_message(
        MessageInput(entry, changes.pop("subject", CLUSTER_SUBJECT), told, **changes)
    )


def crashing():
    pod = a_pod(waiting="CrashLoopBackOff", last_exit=1, restarts=4, ready=False, since=NOON)
    return evaluate_deployment(a_deployment(ready=1), [pod])


def test_the_tone_of_a_degraded_deployment():
    assert said(crashing()).startswith(
        "Deployment kaito-system/body-based-router has 1/2 replicas ready;"
        " pod body-based-router-6c9f-x2 CrashLoopBackOff (exit code 1, 4 restarts)."
        " Platform: Read the end of kubectl logs --previous of that pod;"
    )


def test_the_tone_of_one_scaled_to_zero():
    assert said(evaluate_deployment(a_deployment(replicas=0), [])) == (
        "Deployment kaito-system/body-based-router is scaled to zero replicas. Platform: " + SCALE
    )


def test_the_tone_of_a_refusal():
    refused = ("ReplicaFailure", "True", "FailedCreate", 'pods "x" is forbidden: exceeded quota')
    found = evaluate_deployment(a_deployment(ready=0, total=0, conditions=[refused]), [])
    assert said(found).startswith(
        "Deployment kaito-system/body-based-router has 0/2 replicas ready:"
        ' pods "x" is forbidden: exceeded quota. Platform: Remove what refuses the pods'
    )


def test_the_order_of_the_parts():
    text = said(
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
    text = said(degraded, out, entry=an_entry("clusterThing"))
    assert text == f"Thing b is broken. Thing a is broken. Platform: {REMEDY}"


def test_what_starts_says_how_long_it_made_no_progress():
    young = a_trouble(kind=TroubleKind.STARTING)
    entry = an_entry("clusterThing")
    assert said(young, entry=entry, lasted=timedelta(minutes=3)).startswith(
        "Thing thing is broken (no progress for 3m). "
    )
    assert "progress" not in said(young, entry=entry, lasted=ZERO)
    assert "progress" not in said(a_trouble(), entry=entry, lasted=timedelta(minutes=3))


def test_text_of_others_follows_or_stands_where_the_entry_says():
    foreign = a_trouble(foreign_text="quota exceeded, see https://aka.ms/q")
    entry = an_entry("clusterThing", remedies={})
    assert said(foreign, entry=entry) == "Thing thing is broken: quota exceeded, see."
    placed = an_entry("clusterThing", message_template="({foreign}) {object}.", remedies={})
    assert said(foreign, entry=placed) == "(quota exceeded, see) Thing thing."


def test_text_of_others_is_never_taken_for_a_template():
    foreign = a_trouble(foreign_text="{object} {0} {} %s {foreign}")
    text = said(foreign, entry=an_entry("clusterThing", remedies={}))
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
    assert said(a_trouble(code=code), entry=entry).endswith(f" User: {remedy}")


def test_nobody_is_named_where_there_is_no_remedy():
    assert said(a_trouble(), entry=an_entry("clusterThing", remedies={})) == (
        "Thing thing is broken."
    )


def test_a_message_names_its_namespace_and_inference_set():
    entry = an_entry("x", message_template="{namespace}/{inferenceset}: {state}.", remedies={})
    subject = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")
    assert said(a_trouble(), entry=entry, subject=subject) == "team-a/qwen: is broken."


def test_a_ready_says_so_and_nothing_else():
    assert said(entry=a_ready_entry()) == "All is well again."


def test_many_inference_sets_are_counted_and_three_are_named():
    names = tuple(f"model-{i:02}" for i in range(12))
    subject = Subject(Layer.MODELDEPLOYMENT, "team-a")
    text = said(entry=a_ready_entry(Layer.MODELDEPLOYMENT), subject=subject, grouped_names=names)
    assert text == (
        "Namespace team-a: 12 InferenceSets (model-00, model-01, model-02 and 9 more) are ready again."
    )


def test_a_group_of_one_and_one_that_is_not_known_any_more_are_told_as_such():
    entry, subject = a_ready_entry(Layer.MODELDEPLOYMENT), Subject(Layer.MODELDEPLOYMENT, "team-a")
    assert said(entry=entry, subject=subject, grouped_names=("qwen",)) == (
        "Namespace team-a: 1 InferenceSet (qwen) is ready again."
    )
    assert said(entry=entry, subject=subject) == (
        "Namespace team-a: all InferenceSets are ready again."
    )


def test_lists_are_sorted_and_cut():
    assert abbreviate_list(["b", "a"]) == "a, b"
    assert abbreviate_list(["d", "c", "b", "a"]) == "a, b, c and 1 more"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0s"), (119, "119s"), (120, "2m"), (7199, "119m"), (7200, "2h"), (172_800, "2d")],
)
def test_a_duration_is_told_to_one_unit(seconds, text):
    assert human_duration(timedelta(seconds=seconds)) == text


# ------------------------------------------------------------------ what gives way


@pytest.mark.parametrize("character", ["x", "é", "中", "😀"])
def test_text_of_others_gives_way_first(character):
    troubles = [a_trouble(f"thing-{i}", foreign_text=character * 5000) for i in range(2)]
    text = said(*troubles, entry=an_entry("clusterThing"), other_reasons=ALSO)
    assert MAX_MESSAGE_BYTES - 8 <= len(text.encode()) <= MAX_MESSAGE_BYTES
    assert "Thing thing-0" in text
    assert "Thing thing-1" in text
    assert text.count("…") == 2
    assert text.endswith(f" Platform: {REMEDY} (also: {', '.join(ALSO)})")


def test_a_cause_of_5000_bytes_with_urls_and_a_token_arrives_clean():
    nasty = "квота https://x.example/?sig=abc123 Bearer abc.DEF.123 " * 60
    assert len(nasty.encode()) > 3000
    text = said(a_trouble(foreign_text=nasty), entry=an_entry("clusterThing"))
    assert len(text.encode()) <= MAX_MESSAGE_BYTES
    assert "квота" in text
    assert not re.search(r"://|abc123|abc\.DEF", text)


def test_then_lists_of_reasons_then_the_remedy_and_names_never():
    long = [a_trouble("n" * 60 + str(i), foreign_text="why " * 300) for i in range(3)]
    entry = an_entry("clusterThing", remedies={"default": "do " + "this " * 40})
    text = said(
        *long,
        entry=entry,
        other_reasons=ALSO,
        suppressed_reasons=SILENCED,
        suppressed_namespaces=7,
    )
    assert len(text.encode()) <= MAX_MESSAGE_BYTES
    assert all(t.message_fields["object"] in text for t in long)
    assert "clusterGatewayAuthNotReady and 6 more" in text
    assert text.endswith(" in 7 namespace(s))")
    assert "do this" in text


def test_of_very_many_troubles_some_are_counted():
    troubles = [a_trouble(f"thing-{i:03}") for i in range(100)]
    text = said(*troubles, entry=an_entry("clusterThing"))
    assert text.startswith("Thing thing-000 is broken. Thing thing-001 is broken. Thing thing-002")
    assert f" And 97 more like it. Platform: {REMEDY}" in text


NAME = st.text("abcdefghijklmnopqrstuvwxyz-0123456789", min_size=1, max_size=253)
REASON = st.text("abcdefghijklmnop", min_size=20, max_size=60)


@st.composite
def troubles(draw):
    namespace, name = draw(NAME)[:63], draw(NAME)
    if draw(st.booleans()):
        return missing_deployment_trouble(namespace, name, was_deleted=draw(st.booleans()))
    pod = a_pod(
        f"{draw(NAME)[:240]}-x",
        ready=False,
        waiting=draw(st.sampled_from(["CrashLoopBackOff", "ErrImagePull"]) | st.text()),
        last_exit=1,
        message=draw(st.text(st.characters(), max_size=200)) * draw(st.integers(1, 30)),
    )
    deployment = a_deployment(name, namespace, replicas=3, ready=draw(st.integers(0, 2)))
    return evaluate_deployment(deployment, [pod])


@given(
    found=st.lists(troubles(), min_size=1, max_size=5),
    also=st.lists(REASON, max_size=24),
    silenced=st.lists(REASON, max_size=24),
    remedy=st.text(max_size=200),
)
def test_whatever_is_told_fits_and_names_the_worst_whole(found, also, silenced, remedy):
    entry = an_entry(
        "clusterThing", message_template=BBR.message_template, remedies={"default": remedy}
    )
    reasons = {
        "other_reasons": tuple(also),
        "suppressed_reasons": tuple(silenced),
        "suppressed_namespaces": 3,
    }
    text = said(*found, entry=entry, **reasons)
    assert len(text.encode()) <= MAX_MESSAGE_BYTES
    first = min(found, key=lambda t: (not t.is_out, t.cause))
    assert text.startswith(first.message_fields["object"] + " " + first.message_fields["state"])
    assert "://" not in text.replace(remedy, "")


# ------------------------------------------------------------------ what a rewrite is judged by


def digest(*found, **changes) -> str:
    told = tuple(ReportedTrouble(each, ZERO) for each in found)
    return MessageInput(
        BBR, changes.pop("subject", CLUSTER_SUBJECT), told, **changes
    ).content_digest


def test_counts_pods_and_texts_of_others_make_no_rewrite():
    one = a_trouble(message_fields={"state": "1/3"}, foreign_text="a")
    two = a_trouble(message_fields={"state": "2/3"}, foreign_text="b")
    assert digest(one) == digest(two)


def test_causes_and_suffixes_do():
    base = digest(a_trouble())
    assert base != digest(a_trouble(code="Other"))
    assert base != digest(a_trouble("other"))
    assert base != digest(a_trouble(), a_trouble("other"))
    assert base != digest(a_trouble(), other_reasons=("clusterX",))
    assert base != digest(a_trouble(), suppressed_reasons=("clusterX",), suppressed_namespaces=1)
    assert digest(a_trouble(), other_reasons=("x",)) != digest(
        a_trouble(), suppressed_reasons=("x",)
    )


def test_which_member_of_a_group_is_the_example_makes_no_rewrite():
    assert digest(a_trouble("a"), grouped_names=("a", "b")) == digest(
        a_trouble("b"), grouped_names=("a", "b")
    )
