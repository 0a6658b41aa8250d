"""Suppressed findings in the roll-up: their own text, beside the cause that they follow from."""

from reporter.status.detail_table import render_set
from tests.support.rollups import BAD_IMAGE, LOST, stack_after, view_of


KAITO_OUT = {"Deployment kaito-system/kaito-workspace": {"replicas": 0}}
ISTIO_OUT = {"Deployment istio-system/istiod": {"replicas": 0}}
TEXT = "InferenceSet team-m/qwen: model pod qwen-7rk2p-0 is not ready."


def set_after(change, until="50s"):
    return view_of(stack_after(change, until=until)).inference_set("team-m", "qwen")


def test_a_suppressed_finding_keeps_its_text_beside_the_cause():
    found = set_after({**LOST, **KAITO_OUT})
    (suppressed,) = found.suppressed
    assert found.blocking.reason == "clusterKaitoControllerNotReady"
    assert (suppressed.reason, suppressed.code, suppressed.held) == (
        "inferencesetModelPodsNotReady",
        "Lost",
        False,
    )
    assert suppressed.by == ("clusterKaitoControllerNotReady",)
    assert suppressed.message == TEXT


def test_one_that_is_still_held_is_shown_as_such():
    (suppressed,) = set_after({**LOST, **KAITO_OUT}, until="10s").suppressed
    assert suppressed.held


def test_what_explains_itself_is_not_suppressed():
    assert set_after({**BAD_IMAGE, **KAITO_OUT}).suppressed == ()


def test_a_harness_shows_its_own():
    gateway = {
        "Gateway team-m/team-m-gw": {
            "status": {
                "conditions": [
                    {"type": "Accepted", "status": "True", "observedGeneration": 1},
                    {"type": "Programmed", "status": "False", "reason": "Invalid"},
                ]
            }
        }
    }
    view = view_of(stack_after({**gateway, **ISTIO_OUT}, until="5m"))
    (suppressed,) = view.namespace("team-m").harness.suppressed
    assert suppressed.reason == "modelharnessGatewayProgrammingFailed"
    assert suppressed.by == ("clusterIstioControlPlaneNotReady",)


def test_the_lines_about_a_set_have_it():
    lines = list(render_set("team-m", set_after({**LOST, **KAITO_OUT}), colour=False))
    assert lines[-2:] == [
        "Suppressed:    inferencesetModelPodsNotReady (Lost), by clusterKaitoControllerNotReady",
        f"Message:       {TEXT}",
    ]
