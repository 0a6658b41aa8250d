"""The verdicts about scaling annotations."""

import pytest

from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Clear, Unknown
from reporter.resources.scaling_annotations import find_metric_problems
from tests.support.model_builders import a_model, a_model_store, a_set, a_workspace
from tests.support.model_verdicts import rendered_message, verdict_of
from tests.support.probe_verdicts import only_trouble


REASON = "inferencesetScalingMisconfigured"
METRICS = """
- name: vllm:num_requests_waiting
  type: gauge
  upthreshold: 10
  downthreshold: 1
"""
VALID = {"auto-provision": "true", "max-replicas": "4", "metrics": METRICS}


def a_metric(**fields) -> str:
    known = {"name": "queue", "type": "gauge", "upthreshold": "10", "downthreshold": "1"}
    lines = [f"{k}: {v}" for k, v in {**known, **fields}.items() if v is not None]
    return "- " + "\n  ".join(lines)


SILENT = {
    "valid": {},
    "scaling not requested": {"auto-provision": "false", "max-replicas": "0"},
    "requested with a capital, which the scaler does not take": {"auto-provision": "True"},
    "a minimum below one counts as one": {"min-replicas": "-3"},
    "a minimum that is no number counts as one": {"min-replicas": "few"},
    "as many as the least": {"min-replicas": "4"},
    "a sign": {"max-replicas": "+4"},
    "cooldowns": {"scaleupcooldown": "0", "scaledowncooldown": "600", "evaluationwindow": ""},
    "policy": {"combinepolicy": "and"},
    "JSON, keys in other case": {
        "metrics": '[{"Name": "queue", "type": "gauge", "upThreshold": 1e3, "downThreshold": .5}]'
    },
    "JSON with tabs": {
        "metrics": '[\t{"name":\t"q",\t"type":\t"gauge",\n\t"upthreshold": 2, "downthreshold": 1}]'
    },
    "a histogram with a window": {"metrics": a_metric(type="histogram", metriccachewindow="300")},
    "a window of null": {"metrics": a_metric(metriccachewindow="null")},
    "equal thresholds": {"metrics": a_metric(upthreshold="2.5", downthreshold="2.5")},
    "an exponent": {"metrics": a_metric(upthreshold="1e+06")},
    "keys that nobody knows": {"metrics": a_metric(colour="blue")},
    "a name that is a number": {"metrics": a_metric(name="5")},
    "a merged key, which is read otherwise": {
        "metrics": "- &a\n  name: a\n  type: gauge\n  upthreshold: 2\n  downthreshold: 1\n"
        "- <<: *a\n  name: b\n"
    },
}


@pytest.mark.parametrize("given", SILENT.values(), ids=SILENT.keys())
def test_what_the_scaler_takes_is_clear(given):
    verdict = verdict_of(REASON, *a_model(a_set(scaling={**VALID, **given})))
    assert isinstance(verdict, Clear), rendered_message(verdict)


def test_a_set_without_any_annotation_is_clear():
    assert isinstance(verdict_of(REASON, *a_model()), Clear)


def test_replicas_set_by_the_autoscaler_are_not_compared_with_anything():
    for replicas in (0, 1, 9):
        scaled = a_set(replicas, scaling={**VALID, "min-replicas": "2"})
        assert isinstance(verdict_of(REASON, *a_model(scaled)), Clear)


PREFIX = "scaling misconfigured: scaledobject.kaito.sh/"
TOLD = {
    "zero": ({"max-replicas": "0"}, "Replicas", 'max-replicas="0" must be greater than 1'),
    "one": ({"max-replicas": "1"}, "Replicas", 'max-replicas="1" must be greater than 1'),
    "not a number": (
        {"max-replicas": "four"},
        "Replicas",
        'max-replicas="four" must be a whole number greater than 1',
    ),
    "empty": (
        {"max-replicas": ""},
        "Replicas",
        'max-replicas="" must be a whole number greater than 1',
    ),
    "what only Python takes for a number": (
        {"max-replicas": " 1_0"},
        "Replicas",
        'max-replicas="1_0" must be a whole number greater than 1',
    ),
    "missing": (
        {"max-replicas": None},
        "Replicas",
        "max-replicas is missing, and spec.nodeCountLimit is not set",
    ),
    "less than the least": (
        {"max-replicas": "2", "min-replicas": "3"},
        "Replicas",
        'max-replicas="2" must not be less than min-replicas="3"',
    ),
    "no metrics": ({"metrics": None}, "Metrics", "metrics is missing; it lists what to scale by"),
    "blank metrics": (
        {"metrics": " \n"},
        "Metrics",
        "metrics is missing; it lists what to scale by",
    ),
    "no list": ({"metrics": "name: queue"}, "Metrics", "metrics: must be a list of metrics"),
    "an empty list": ({"metrics": "[]"}, "Metrics", "metrics: lists no metric"),
    "a comment": ({"metrics": "# none"}, "Metrics", "metrics: lists no metric"),
    "no YAML": ({"metrics": "- a: 1\n  - b"}, "Metrics", "metrics: is no YAML, see its line 2"),
    "a plain entry": (
        {"metrics": "- queue"},
        "Metrics",
        "metrics: entry 1 must have a name, a type and thresholds",
    ),
    "no name": ({"metrics": a_metric(name=None)}, "Metrics", "metrics: entry 1 has no name"),
    "type": (
        {"metrics": a_metric(type="counter")},
        "Metrics",
        "metrics: type=counter of queue must be gauge or histogram",
    ),
    "source": (
        {"metrics": a_metric(source="prometheus")},
        "Metrics",
        "metrics: source=prometheus of queue must be modelpod",
    ),
    "one threshold": (
        {"metrics": a_metric(downthreshold=None)},
        "Metrics",
        "metrics: downthreshold of queue is missing",
    ),
    "infinite": (
        {"metrics": a_metric(upthreshold="-.inf")},
        "Metrics",
        "metrics: upthreshold=-.inf of queue must be a finite number",
    ),
    "too large to be finite": (
        {"metrics": a_metric(upthreshold="1e999")},
        "Metrics",
        "metrics: upthreshold=1e999 of queue must be a finite number",
    ),
    "in quotes": (
        {"metrics": a_metric(upthreshold='"10"')},
        "Metrics",
        "metrics: upthreshold=10 of queue must be a finite number",
    ),
    "zero threshold": (
        {"metrics": a_metric(downthreshold="0")},
        "Metrics",
        "metrics: downthreshold=0 of queue must be greater than 0",
    ),
    "down over up": (
        {"metrics": a_metric(upthreshold="1", downthreshold="2")},
        "Metrics",
        "metrics: downthreshold=2 of queue must not be greater than upthreshold=1",
    ),
    "a gauge with a window": (
        {"metrics": a_metric(metriccachewindow="300")},
        "Metrics",
        "metrics: metriccachewindow of queue is for histograms only",
    ),
    "an empty window": (
        {"metrics": a_metric(type="histogram", metriccachewindow="0")},
        "Metrics",
        "metrics: metriccachewindow=0 of queue must be a whole number of seconds greater than 0",
    ),
    "two names that are one to the formula": (
        {"metrics": a_metric(name="a:b") + "\n" + a_metric(name="a_b")},
        "Metrics",
        "metrics: a_b and a:b are one and the same to KEDA's formula",
    ),
    "policy": ({"combinepolicy": "OR"}, "Metrics", 'combinepolicy="OR" must be AND'),
    "cooldown": (
        {"scaleupcooldown": "-5"},
        "Cooldown",
        'scaleupcooldown="-5" must be a whole number of seconds, 0 or more',
    ),
    "window with a unit": (
        {"evaluationwindow": "60s"},
        "Cooldown",
        'evaluationwindow="60s" must be a whole number of seconds, 0 or more',
    ),
    "more than Go holds": (
        {"scaledowncooldown": "99999999999"},
        "Cooldown",
        'scaledowncooldown="99999999999" must be a whole number of seconds, 0 or more',
    ),
}


@pytest.mark.parametrize(("given", "code", "text"), TOLD.values(), ids=TOLD.keys())
def test_which_annotation_is_wrong_and_why(given, code, text):
    scaling = {k: v for k, v in {**VALID, **given}.items() if v is not None}
    verdict = verdict_of(REASON, *a_model(a_set(scaling=scaling)))
    assert rendered_message(verdict) == f"{PREFIX}{text}."
    found = only_trouble(verdict)
    assert (found.cause.code, found.kind) == (code, TroubleKind.DECLARED)


def test_a_limit_of_nodes_takes_the_place_of_the_maximum():
    scaling = {**VALID, "min-replicas": "3"}
    del scaling["max-replicas"]
    enough, short = a_set(scaling=scaling, limit=6), a_set(scaling=scaling, limit=5)
    two_nodes = a_workspace(nodes=2)
    assert isinstance(verdict_of(REASON, *a_model(enough, two_nodes)), Clear)
    assert isinstance(verdict_of(REASON, *a_model(short, without=[type(two_nodes)])), Clear)
    verdict = verdict_of(REASON, *a_model(short, two_nodes))
    assert rendered_message(verdict) == (
        f'{PREFIX}min-replicas="3" must not be greater than the 2 that spec.nodeCountLimit=5 allows.'
    )


def test_several_mistakes_are_reported_together_and_bounded():
    entry = a_metric(type=None, upthreshold="-1", downthreshold=None)
    wrong = {**VALID, "max-replicas": "x", "metrics": entry, "scaleupcooldown": "y"}
    text = rendered_message(verdict_of(REASON, *a_model(a_set(scaling=wrong))))
    assert text.startswith(f'{PREFIX}max-replicas="x" must')
    assert text.endswith("; and 2 more.")


def test_what_was_typed_is_cleaned_and_shortened():
    value = "https://example.test/\x1b[31m" + "9" * 400
    text = rendered_message(
        verdict_of(REASON, *a_model(a_set(scaling={**VALID, "max-replicas": value})))
    )
    assert "://" not in text
    assert "\x1b" not in text
    assert len(text) < 200


@pytest.mark.parametrize(
    "text",
    [
        "[" * 3000,
        "- " * 3000,
        "!!int foo",
        "- !!timestamp x",
        "- ? [a]\n  : b",
        "\0",
        "*a",
        "&a [*a]",
    ],
)
def test_no_text_breaks_it(text):
    assert all(isinstance(why, str) for why in find_metric_problems(text))


def test_a_list_of_absurd_length_is_let_pass():
    assert find_metric_problems("- x\n" * 10_000) == ()


def test_a_set_that_cannot_be_decoded_is_unknown():
    store = a_model_store(*a_model(a_set(scaling={**VALID, "max-replicas": "0"})))
    store.mark_undecodable(INFERENCE_SETS, "team-a", "qwen")
    assert isinstance(verdict_of(REASON, store=store), Unknown)
