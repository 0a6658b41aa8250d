"""The parts of a message that are shortened until it fits."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.model.sanitize import MAX_EVENT_MESSAGE_BYTES
from reporter.resources.deployments import (
    evaluate_deployment,
    missing_deployment_trouble,
)
from tests.support.builders import a_deployment, a_pod, a_trouble, an_entry
from tests.unit.announcing.message_builders import BBR, OTHERS, REMEDY, SUPPRESSED, render


@pytest.mark.parametrize("character", ["x", "é", "中", "😀"])
def test_foreign_text_is_shortened_first(character):
    troubles = [a_trouble(f"thing-{i}", foreign_text=character * 5000) for i in range(2)]
    text = render(*troubles, entry=an_entry("clusterThing"), other_reasons=OTHERS)
    assert MAX_EVENT_MESSAGE_BYTES - 8 <= len(text.encode()) <= MAX_EVENT_MESSAGE_BYTES
    assert "Thing thing-0" in text
    assert "Thing thing-1" in text
    assert text.count("…") == 2
    assert text.endswith(f" Platform: {REMEDY} (also: {', '.join(OTHERS)})")


def test_a_cause_of_5000_bytes_with_urls_and_a_token_arrives_clean():
    nasty = "квота https://x.example/?sig=abc123 Bearer abc.DEF.123 " * 60
    assert len(nasty.encode()) > 3000
    text = render(a_trouble(foreign_text=nasty), entry=an_entry("clusterThing"))
    assert len(text.encode()) <= MAX_EVENT_MESSAGE_BYTES
    assert "квота" in text
    assert not re.search(r"://|abc123|abc\.DEF", text)


def test_then_lists_of_reasons_then_the_remedy_are_cut_and_names_never():
    long = [a_trouble("n" * 60 + str(i), foreign_text="why " * 300) for i in range(3)]
    entry = an_entry("clusterThing", remedies={"default": "do " + "this " * 40})
    text = render(
        *long,
        entry=entry,
        other_reasons=OTHERS,
        suppressed_reasons=SUPPRESSED,
        suppressed_namespaces=7,
    )
    assert len(text.encode()) <= MAX_EVENT_MESSAGE_BYTES
    assert all(t.message_fields["object"] in text for t in long)
    assert f"{OTHERS[2]} and {len(OTHERS) - 3} more" in text
    assert text.endswith(" in 7 namespace(s))")
    assert "do this" in text


def test_some_of_very_many_troubles_are_only_counted():
    troubles = [a_trouble(f"thing-{i:03}") for i in range(100)]
    text = render(*troubles, entry=an_entry("clusterThing"))
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
    others=st.lists(REASON, max_size=24),
    suppressed=st.lists(REASON, max_size=24),
    remedy=st.text(st.characters(exclude_characters="{}"), max_size=200),
)
def test_every_message_fits_and_names_the_worst_trouble_uncut(found, others, suppressed, remedy):
    entry = an_entry(
        "clusterThing", message_template=BBR.message_template, remedies={"default": remedy}
    )
    reasons = {
        "other_reasons": tuple(others),
        "suppressed_reasons": tuple(suppressed),
        "suppressed_namespaces": 3,
    }
    text = render(*found, entry=entry, **reasons)
    assert len(text.encode()) <= MAX_EVENT_MESSAGE_BYTES
    first = min(found, key=lambda t: (not t.is_out, t.cause))
    assert text.startswith(first.message_fields["object"] + " " + first.message_fields["state"])
    assert "://" not in text.replace(remedy, "")
