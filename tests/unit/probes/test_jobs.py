"""The Jobs that belong to each subject, and the verdicts about each check."""

import pytest
from msgspec.structs import replace

from reporter.evaluation.clocks import TrackedFindings
from reporter.evaluation.probe_run import prepare_probe_run
from reporter.evaluation.registry import PROBES
from reporter.kinds.batch import JOBS
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.kinds.default_kinds import DEFAULT_KINDS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.objects import Metadata
from reporter.model.enums import DetailSource, Layer, Reason, TroubleKind
from reporter.model.observations import NotServed, NotSynced, WatchLost
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.model.verdicts import Active, Clear, ObjectRef, Paused, Unknown
from tests.support import model_builders
from tests.support.builders import HOUR, MINUTE, NOON, a_condition
from tests.support.catalogue_fixture import (
    DEFAULT_CATALOGUE,
    DEFAULT_FLAGS,
    a_probe_request,
)
from tests.support.model_builders import MODEL, TEAM
from tests.support.source_builders import a_check_job, a_store


HARNESS = Subject(Layer.MODELHARNESS, TEAM)
SET = Subject(Layer.MODELDEPLOYMENT, TEAM, MODEL)
REASONS = {
    CLUSTER_SUBJECT: "clusterCheckFailed",
    HARNESS: "modelharnessCheckFailed",
    SET: "inferencesetCheckFailed",
}
RECENTLY = NOON - 5 * MINUTE
FAILED = a_condition("Available", "False", "NoAnswer", "no route", since=RECENTLY)
PASSED = a_condition("Available", "True", "Answered", since=RECENTLY)
SOURCE_ON = {"sources": DetailSource.JOBS.value}
WHERE = [{"namespace": "kube-system"}, {}, {"of": MODEL}]
"""Place of a Job that checks the cluster, the harness and the InferenceSet."""


def verdicts(*objects, subject=CLUSTER_SUBJECT, tracked=(), store=None, **flags):
    """
    Return the verdicts of the subject's reason, by the item of their key, as a pass has them.
    """
    store = store or a_store(*model_builders.a_model(), *objects)
    given = {**DEFAULT_FLAGS, **SOURCE_ON, **flags}
    findings = TrackedFindings(dict.fromkeys(tracked), {})
    run = prepare_probe_run(
        store.snapshot(), findings, DEFAULT_CATALOGUE, PROBES, flags=given, now=NOON
    )
    found = [each for each in run.run([subject]) if each.key.reason == REASONS[subject]]
    assert len({each.key for each in found}) == len(found), "one verdict for each key"
    return {each.key.item: each for each in found}


def key_of(subject, item):
    return FindingKey(subject, Reason(REASONS[subject]), item)


@pytest.mark.parametrize(("subject", "where"), [*zip(REASONS, WHERE, strict=True)], ids=str)
def test_a_failed_check_is_trouble_of_the_subject_that_it_checks(subject, where):
    job = a_check_job("smoke-1", FAILED, **where)
    found = verdicts(job, subject=subject)["smoke"]
    assert isinstance(found, Active)
    (trouble,) = found.troubles
    namespace = where.get("namespace", TEAM)
    assert trouble.cause.object == ObjectRef("checks", namespace, "smoke")
    assert (trouble.cause.code, trouble.kind) == ("CheckFailed", TroubleKind.FAILED)
    assert trouble.since == RECENTLY
    assert trouble.message_fields == {
        "check": "smoke",
        "job": "smoke-1",
        "jobnamespace": namespace,
        "reason": "NoAnswer",
    }
    assert trouble.foreign_text == "no route"
    assert (found.involved_object.kind, found.involved_object.name) == ("Namespace", namespace)
    for other in REASONS.keys() - {subject}:
        assert set(verdicts(job, subject=other)) == {""}, "it is about nothing else"


@pytest.mark.parametrize(("subject", "where"), [*zip(REASONS, WHERE, strict=True)], ids=str)
def test_a_check_that_succeeds_is_clear(subject, where):
    found = verdicts(a_check_job("smoke-1", PASSED, **where), subject=subject)
    assert {item: type(each) for item, each in found.items()} == {"smoke": Clear, "": Clear}


@pytest.mark.parametrize("subject", REASONS, ids=str)
def test_without_a_check_it_is_clear(subject):
    assert [type(each) for each in verdicts(subject=subject).values()] == [Clear]


def test_each_check_has_a_verdict_of_its_own():
    found = verdicts(
        a_check_job("a-1", FAILED, check="a"),
        a_check_job("b-1", PASSED, check="b"),
        a_check_job("c-1", a_condition("Failed", "True"), check="c"),
        subject=HARNESS,
    )
    kinds = {item: type(each) for item, each in found.items()}
    assert kinds == {"a": Active, "b": Clear, "c": Unknown, "": Clear}


def test_checks_of_the_cluster_may_be_in_a_workload_namespace():
    job = a_check_job("dns-1", FAILED, check="dns")
    assert set(verdicts(job, **{"release-namespace": TEAM})) == {"dns", ""}
    assert set(verdicts(job, subject=HARNESS, **{"release-namespace": TEAM})) == {""}
    of_set = a_check_job("smoke-1", FAILED, of=MODEL)
    assert set(verdicts(of_set, **{"release-namespace": TEAM})) == {""}
    found = verdicts(of_set, subject=SET, **{"release-namespace": TEAM})
    assert isinstance(found["smoke"], Active)


@pytest.mark.parametrize(
    "label", ["kaito.sh/inferenceset", "inferenceset.kaito.sh/created-by"], ids=str
)
def test_either_label_of_kaito_names_the_set(label):
    job = a_check_job("smoke-1", FAILED)
    labels = {**(job.metadata.labels or {}), label: MODEL}
    labelled = replace(job, metadata=replace(job.metadata, labels=labels))
    assert isinstance(verdicts(labelled, subject=SET)["smoke"], Active)


def test_a_job_that_is_being_deleted_counts_no_more():
    older = a_check_job("smoke-1", PASSED, created_at=NOON - HOUR)
    newer = a_check_job("smoke-2", FAILED, created_at=RECENTLY, deleted=NOON)
    found = verdicts(older, newer, subject=HARNESS)
    assert isinstance(found["smoke"], Clear)
    assert set(verdicts(newer, subject=HARNESS)) == {""}


def test_a_check_whose_last_job_is_gone_is_clear():
    found = verdicts(subject=HARNESS, tracked=[key_of(HARNESS, "smoke")])
    assert isinstance(found["smoke"], Clear)


def test_another_run_that_fails_is_the_same_cause():
    one, other = (
        verdicts(a_check_job(name, FAILED), subject=HARNESS)["smoke"].troubles[0]
        for name in ("smoke-29384", "smoke-29385")
    )
    assert one.cause == other.cause
    assert one.message_fields["job"] != other.message_fields["job"]


def test_a_label_without_a_name_is_unknown_and_other_checks_are_evaluated():
    found = verdicts(
        a_check_job("x", FAILED, check=""), a_check_job("smoke-1", FAILED), subject=HARNESS
    )
    assert found[""].why == (
        "label reporter.productionstack.kaito.sh/check of Job team-a/x is empty;"
        " set it to the name of the check"
    )
    assert isinstance(found["smoke"], Active)


# ---------------------------------------------------------------- what is not evaluated


def test_jobs_that_nobody_evaluates_are_named():
    store = a_store(
        *model_builders.a_model(),
        a_check_job("smoke-1", FAILED, namespace="elsewhere"),
        a_check_job("smoke-2", FAILED, namespace="kube-system", of=MODEL),
        a_check_job("smoke-3", FAILED, of="qwn"),
    )
    cluster, harness = verdicts(store=store)[""], verdicts(store=store, subject=HARNESS)[""]
    assert isinstance(cluster, Clear)
    assert cluster.notes == (
        (
            "check Jobs in elsewhere are not evaluated: these are neither workload namespaces nor "
            "that of --release-namespace"
        ),
        "check Jobs name InferenceSets (qwen), but kube-system is no workload namespace",
    )
    assert isinstance(harness, Clear)
    assert harness.notes == (
        (
            "check Jobs in team-a name InferenceSets that do not exist (qwn): correct their labels, "
            "or delete them"
        ),
    )


def test_nobody_is_named_while_it_is_not_known_what_exists():
    store = a_store(
        a_check_job("smoke-1", FAILED, namespace="elsewhere"),
        a_check_job("smoke-3", FAILED, of="qwn"),
        watch_states={NAMESPACES: NotSynced("x"), INFERENCE_SETS: NotSynced("x")},
    )
    assert verdicts(store=store)[""].notes == ()
    request = replace(a_probe_request(REASONS[HARNESS]), subject=HARNESS)
    found = PROBES["check-jobs"].evaluate(store.snapshot(), request)
    assert [each.notes for each in found] == [()]


@pytest.mark.parametrize("since", [NOON - HOUR, NOON])
def test_a_job_of_a_set_that_may_exist_by_now_is_not_named(since):
    store = a_store(
        *model_builders.a_model(),
        a_check_job("smoke-3", FAILED, of="qwn"),
        watch_states={INFERENCE_SETS: WatchLost(since, "it ended")},
    )
    request = replace(a_probe_request(REASONS[HARNESS]), subject=HARNESS)
    (found,) = PROBES["check-jobs"].evaluate(store.snapshot(), request)
    assert bool(found.notes) is (since == NOON)


def test_a_job_of_a_set_that_cannot_be_decoded_is_not_said_to_name_none():
    store = a_store(a_check_job("smoke-3", FAILED, of="qwn"))
    store.mark_undecodable(INFERENCE_SETS, TEAM, "qwn")
    request = replace(a_probe_request(REASONS[HARNESS]), subject=HARNESS)
    (found,) = PROBES["check-jobs"].evaluate(store.snapshot(), request)
    assert found.notes == ()


# ---------------------------------------------------------------- what cannot be read


NOT_READ = {
    "forbidden": (NotSynced("forbidden"), "jobs.batch not listed yet: forbidden"),
    "watch lost": (WatchLost(NOON - MINUTE, "gone"), "jobs.batch not watched: gone"),
    "not served": (
        NotServed(),
        "jobs.batch not listed yet: answered with 404 Not Found, though every API server has it",
    ),
}


@pytest.mark.parametrize(("state", "why"), NOT_READ.values(), ids=NOT_READ)
@pytest.mark.parametrize("subject", REASONS, ids=str)
def test_without_jobs_every_check_is_unknown(state, why, subject):
    store = a_store(*model_builders.a_model(), watch_states={JOBS: state})
    found = verdicts(subject=subject, store=store, tracked=[key_of(subject, "smoke")])
    assert {item: (type(each), each.why) for item, each in found.items()} == {
        "": (Unknown, why),
        "smoke": (Unknown, why),
    }


def test_a_job_that_cannot_be_decoded_leaves_the_checks_of_its_subject_unknown():
    store = a_store(*model_builders.a_model(), a_check_job("smoke-1", PASSED))
    store.mark_undecodable(JOBS, TEAM, "smoke-1")
    found = verdicts(subject=HARNESS, store=store)
    assert {each.why for each in found.values()} == {"Job team-a/smoke-1 could not be decoded"}


def test_without_the_source_no_job_is_read_and_nothing_is_unknown():
    store = a_store(*model_builders.a_model(), kinds=DEFAULT_KINDS)
    for subject in REASONS:
        found = verdicts(subject=subject, store=store, sources="keda")
        assert [type(each) for each in found.values()] == [Clear]


def test_at_zero_replicas_the_checks_of_a_set_do_not_apply():
    paused = model_builders.a_model(model_builders.a_set(0))
    store = a_store(*paused, a_check_job("smoke-1", FAILED, of=MODEL))
    found = verdicts(subject=SET, store=store)
    assert [type(each) for each in found.values()] == [Paused]


def test_a_namespace_that_is_labelled_later_is_evaluated_then():
    bare = Namespace(metadata=Metadata(name="elsewhere"))
    store = a_store(bare, a_check_job("smoke-1", FAILED, namespace="elsewhere"))
    store.take_dirty()
    label = {"productionstack.kaito.sh/managed-by": "modelharness"}
    store.upsert(NAMESPACES, replace(bare, metadata=replace(bare.metadata, labels=label)))
    assert CLUSTER_SUBJECT in store.take_dirty()
    assert verdicts(store=store)[""].notes == ()
