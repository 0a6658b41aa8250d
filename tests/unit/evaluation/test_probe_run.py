"""The verdicts that a probe run returns for each subject."""

import pytest

from reporter.evaluation.clocks import NOTHING_TRACKED
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.evaluation.registry import PROBES
from reporter.kinds.core import PODS
from reporter.kinds.gateway_api import INFERENCE_POOLS, InferencePool
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.model.enums import Layer
from reporter.model.observations import NotServed, NotSynced
from reporter.model.subjects import Subject
from reporter.model.verdicts import Active, Clear, Unknown
from reporter.snapshot.subjects import Subjects, refresh_subjects
from tests.support.builders import NOON
from tests.support.catalogue_fixture import (
    DEFAULT_CATALOGUE,
    DEFAULT_FLAGS,
    entries_called_by_default,
)
from tests.support.model_builders import a_model, a_model_store, a_team
from tests.support.model_verdicts import a_probe_run, needs_metrics_page


QWEN = Subject(Layer.MODELDEPLOYMENT, "team-a", "qwen")


def test_a_set_that_was_never_decoded_is_a_subject_and_all_of_it_is_unknown():
    store = a_model_store(a_team())
    before = refresh_subjects(store.snapshot(), Subjects(), now=NOON)
    store.mark_undecodable(INFERENCE_SETS, "team-a", "qwen")
    assert refresh_subjects(store.snapshot(), before, now=NOON).all - before.all == {QWEN}
    probe_run = a_probe_run(store)
    found = probe_run.run([QWEN])
    assert len(found) == len(DEFAULT_CATALOGUE.evaluated_entries(Layer.MODELDEPLOYMENT))
    called = {each.reason for each in entries_called_by_default(Layer.MODELDEPLOYMENT)}
    unknown = [each for each in found if each.key.reason in called]
    assert all(isinstance(each, Unknown) for each in unknown)
    assert {each.why for each in unknown} == {"InferenceSet team-a/qwen could not be decoded"}
    assert len(unknown) == len(called)


@pytest.mark.parametrize(("scope", "expected"), [("off", Clear), ("all", Unknown)])
def test_an_unchecked_reason_is_not_unknown_when_pods_cannot_be_read(scope, expected):
    store = a_model_store(*a_model())
    store.set_watch_state(PODS, NotSynced("forbidden"))
    assert isinstance(_verdict(store, "inferencesetEngineStalled", scrape=scope), expected)


REQUIRED = [
    (kind, entry)
    for entry in entries_called_by_default(Layer.MODELDEPLOYMENT)
    for kind in PROBES[entry.probe].spec.required_kinds
    if kind.group_resource in DEFAULT_CATALOGUE.required_crds(entry.reason)
    and not needs_metrics_page(entry.reason, *a_model())
]


@pytest.mark.parametrize(
    ("kind", "entry"), REQUIRED, ids=lambda each: getattr(each, "reason", None) or each.resource
)
def test_objects_from_before_their_crd_was_deleted_do_not_prove_that_all_is_well(kind, entry):
    store = a_model_store(*a_model())
    assert isinstance(_verdict(store, entry.reason), Clear)
    store.set_watch_state(kind, NotServed())
    assert _verdict(store, entry.reason).why == f"{kind.group_resource} are not served"


def test_objects_from_before_their_crd_was_deleted_may_still_prove_trouble():
    store = a_model_store(*a_model(without=[InferencePool]))
    before = _verdict(store, "inferencesetRouteNotReady")
    assert isinstance(before, Active)
    store.set_watch_state(INFERENCE_POOLS, NotServed())
    assert _verdict(store, "inferencesetRouteNotReady") == before


def _verdict(store, reason, **flags):
    flags = {**DEFAULT_FLAGS, **flags}
    probe_run = prepare_probe_run(
        store.snapshot(), NOTHING_TRACKED, DEFAULT_CATALOGUE, PROBES, flags=flags, now=NOON
    )
    (found,) = [each for each in probe_run.run([QWEN]) if each.key.reason == reason]
    return found


def test_an_undecodable_set_in_an_unlabelled_namespace_is_no_subject():
    store = a_model_store(a_team())
    store.mark_undecodable(INFERENCE_SETS, "elsewhere", "qwen")
    assert Subject(Layer.MODELDEPLOYMENT, "elsewhere", "qwen") not in (
        refresh_subjects(store.snapshot(), Subjects(), now=NOON).all
    )
