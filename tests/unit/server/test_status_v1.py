"""The parts of ``/status/v1``, and its tag."""

import msgspec

from reporter.model.status_document import StatusDocument
from reporter.server.status_v1 import StatusRequest, render, revision_of
from tests.support.rollups import BAD_IMAGE, model_outage, stack_after, view_of


def test_many_inference_sets_are_rendered_in_parts_that_make_one_document():
    many = {f"InferenceSet team-m/phi-{n:03}": {"spec": {"replicas": 0}} for n in range(250)}
    view = view_of(stack_after(many))
    parts = list(render(view, StatusRequest()))
    assert max(map(len, parts)) < 40_000
    document = msgspec.json.decode(b"".join(parts), type=StatusDocument)
    assert document == view.document(*view.namespaces(), cluster=view.cluster())
    assert len(document.namespaces[1].inference_sets) == 251


def test_a_stack_without_namespaces_is_a_document():
    view = view_of(stack_after({"Namespace team-a": None, "Namespace team-m": None}))
    document = msgspec.json.decode(b"".join(render(view, StatusRequest())), type=StatusDocument)
    assert document.namespaces == ()
    assert document.cluster.state == "Current"


def test_a_pass_without_a_change_keeps_the_revision():
    replay = stack_after(BAD_IMAGE)
    before = replay.rollup
    replay.advance(1)
    assert replay.rollup.revision == before.revision
    assert replay.rollup.namespaces["team-m"] is before.namespaces["team-m"]


def test_a_change_elsewhere_keeps_the_revision_of_a_namespace():
    replay = stack_after()
    request = StatusRequest("team-a")
    before = view_of(replay)
    replay._change(BAD_IMAGE, now=replay.now)
    replay.run_pass()
    after = view_of(replay)
    assert revision_of(before, request) == revision_of(after, request)
    assert revision_of(before, StatusRequest()) < revision_of(after, StatusRequest())


def test_a_healthy_inference_set_is_short():
    view = view_of(model_outage())
    assert len(msgspec.json.encode(view.inference_set("team-m", "qwen"))) < 1200
