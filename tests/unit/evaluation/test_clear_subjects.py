"""A full pass skips the probes whose answer is known, and no other."""

from collections.abc import Callable, Generator, Iterable
from datetime import timedelta
from typing import TypeVar

import pytest
from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.evaluation import clear_subjects, pipeline, probe_run
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.kinds.apps import DEPLOYMENTS, Deployment
from reporter.kinds.core import PODS, Pod
from reporter.kinds.kaito import INFERENCE_SETS, InferenceSet, InferenceSetSpec
from reporter.kinds.objects import Metadata
from reporter.model.enums import Layer
from reporter.model.observations import WatchLost
from reporter.model.subjects import CLUSTER_SUBJECT, Subject
from reporter.model.verdicts import Clear, Verdict
from reporter.probes.probe import Probe, ProbeRequest
from reporter.scrape.samples import FailedScrape, ScrapedMetrics, ScrapeHistory, ScrapeResult
from reporter.scrape.scrapes import PodSelector, Scrape
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.samples import SampleStore
from reporter.store.store import Store
from tests.support.builders import NOON, a_catalogue, a_trouble, an_active_verdict, an_entry
from tests.support.subject_store import a_subject_store, change_subjects


MODELS = tuple(Subject(Layer.MODELDEPLOYMENT, "team-a", f"model-{i}") for i in range(3))
ONE, OTHER, _ = MODELS
CATALOGUE = a_catalogue(an_entry("inferencesetPods", 10, layer=Layer.MODELDEPLOYMENT))
T = TypeVar("T")
Evaluate = Callable[[Snapshot, ProbeRequest], Iterable[Verdict]]


@pytest.fixture(autouse=True)
def no_few_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 0)


class Run:
    """Full passes over three models with one probe. *asked*: the subjects of its calls, by pass."""

    def __init__(self, evaluate: Evaluate) -> None:
        self.asked: list[list[str]] = []
        self.store: Store = a_subject_store({CLUSTER_SUBJECT, *MODELS})
        self._evaluate, self.evaluation, self.now = evaluate, Evaluation(), NOON
        probe = Probe(ProbeSpec("none", object), self._note)
        self.evaluator = Evaluator(CATALOGUE, {"none": probe}, {}, EvaluationSettings())
        self.full_pass()  # the first one notes nothing

    def _note(self, snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
        self.asked[-1].append(request.subject.name)
        return self._evaluate(snapshot, request)

    def full_pass(self, dirty: frozenset[Subject] = ALL_LAYERS) -> list[str]:
        """Return the subjects that the probe was asked about."""
        self.asked.append([])
        self.evaluation = self.evaluator.evaluate(
            self.evaluation, self.store.snapshot(), dirty, now=self.now
        )
        return self.asked[-1]


ALL = [each.name for each in MODELS]


def pod_of(subject: Subject, **changes: int) -> Pod:
    return Pod(metadata=Metadata(name=subject.name, namespace=subject.namespace, **changes))


def by_pod(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """Trouble for who has a pod of its name."""
    subject = request.subject
    found = snapshot.get(PODS, Pod, subject.namespace, subject.name)
    return [an_active_verdict(request.key(), a_trouble()) if found else Clear(request.key())]


def test_it_asks_again_about_those_whose_reads_would_find_something_else() -> None:
    run = Run(by_pod)
    assert [run.full_pass(), run.full_pass()] == [ALL, []]
    run.store.upsert(PODS, pod_of(ONE))
    assert ONE.name in run.full_pass()
    assert run.evaluation.tracked.finding_states.keys() == {
        key for key in run.evaluation.tracked.finding_states if key.subject == ONE
    }
    assert len(run.evaluation.tracked.finding_states) == 1


def test_what_is_in_trouble_is_asked_about_each_time() -> None:
    run = Run(by_pod)
    run.store.upsert(PODS, pod_of(ONE))
    assert [run.full_pass(), run.full_pass()] == [ALL, [ONE.name]]
    run.store.delete(PODS, ONE.namespace, ONE.name)
    assert ONE.name in run.full_pass()


def by_generation(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """Trouble for who has a pod of its name in another generation than the first."""
    subject = request.subject
    found = snapshot.get(PODS, Pod, subject.namespace, subject.name)
    changed = found is not None and found.metadata.generation > 1
    return [an_active_verdict(request.key(), a_trouble()) if changed else Clear(request.key())]


def test_an_object_that_is_another_one_is_read_again() -> None:
    run = Run(by_generation)
    run.store.upsert(PODS, pod_of(ONE, generation=1))
    assert [run.full_pass(), run.full_pass()] == [ALL, []]
    run.store.upsert(PODS, pod_of(ONE, generation=2))
    assert run.full_pass() == [ONE.name]
    assert {key.subject for key in run.evaluation.tracked.finding_states} == {ONE}


def test_a_finding_that_is_remembered_is_asked_about_although_all_is_as_before() -> None:
    run, other = Run(by_pod), Run(by_pod)
    run.full_pass()
    other.store.upsert(PODS, pod_of(ONE))
    other.full_pass()
    run.evaluation = replace(run.evaluation, tracked=other.evaluation.tracked)
    assert run.full_pass() == [ONE.name]


def by_time(_: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    late = request.now > NOON
    return [an_active_verdict(request.key(), a_trouble()) if late else Clear(request.key())]


def test_a_probe_that_reads_the_time_runs_each_time() -> None:
    run = Run(by_time)
    assert [run.full_pass(), run.full_pass()] == [ALL, ALL]
    run.now += timedelta(seconds=1)
    run.full_pass()
    assert {key.subject for key in run.evaluation.tracked.finding_states} == {*MODELS}


def by_page(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    snapshot.scrape_history(pod_of(request.subject), "page")
    return [Clear(request.key())]


def by_number(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """Trouble for all while there is any pod; it looks at the whole table."""
    found = list(snapshot.all(PODS))
    return [an_active_verdict(request.key(), a_trouble()) if found else Clear(request.key())]


def by_derived(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """The same, by a value that the table itself keeps."""
    found = snapshot.tables[PODS.table].objects.derive(len)
    return [an_active_verdict(request.key(), a_trouble()) if found else Clear(request.key())]


def test_a_probe_that_reads_pages_runs_each_time() -> None:
    run = Run(by_page)
    assert [run.full_pass(), run.full_pass()] == [ALL, ALL]


def has_failed(history: ScrapeHistory) -> object:
    return history.last_failure is not None


def by_fingerprint(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    failed = snapshot.scrape_fingerprint(pod_of(request.subject), "page", has_failed)
    return [an_active_verdict(request.key(), a_trouble()) if failed else Clear(request.key())]


def test_who_reads_what_a_page_means_is_asked_again_only_when_it_means_something_else() -> None:
    run, pod = Run(by_fingerprint), pod_of(ONE)
    every_pod = PodSelector(lambda _: True)
    scrape = Scrape(families=(), pods=every_pod, port=1, fingerprints=(has_failed,))
    run.store.samples = SampleStore({"page": scrape})
    run.store.upsert(PODS, pod)
    run.store.record_scrape(pod, "page", ScrapedMetrics(NOON))
    assert [run.full_pass(), run.full_pass()] == [ALL, []]
    run.store.record_scrape(pod, "page", ScrapedMetrics(NOON + timedelta(seconds=15)))
    assert run.full_pass() == []
    failure = FailedScrape(NOON, "connection refused", ScrapeResult.REFUSED)
    run.store.record_scrape_failure(pod, "page", failure)
    assert run.full_pass() == [ONE.name]
    assert {key.subject for key in run.evaluation.tracked.finding_states} == {ONE}
    run.store.samples.forget(ONE.namespace, ONE.name)
    assert run.full_pass() == [ONE.name]


@pytest.mark.parametrize("evaluate", [by_number, by_derived])
def test_who_looks_at_a_whole_table_is_asked_again_after_any_change_of_it(
    evaluate: Evaluate,
) -> None:
    run = Run(evaluate)
    assert [run.full_pass(), run.full_pass()] == [ALL, []]
    run.store.upsert(PODS, pod_of(OTHER))
    assert run.full_pass() == ALL
    assert {key.subject for key in run.evaluation.tracked.finding_states} == {*MODELS}


def with_note(_: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    return [Clear(request.key(), notes=("set a flag",))]


def test_a_subject_with_a_note_is_asked_about_each_time() -> None:
    run = Run(with_note)
    assert [run.full_pass(), run.full_pass()] == [ALL, ALL]


def note_of_pod(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """A note for who has a pod of its name."""
    subject = request.subject
    found = snapshot.get(PODS, Pod, subject.namespace, subject.name)
    return [Clear(request.key(), notes=("set a flag",) if found else ())]


def test_a_note_ends_although_all_is_as_at_the_full_pass_before() -> None:
    run = Run(note_of_pod)
    run.full_pass()
    run.store.upsert(PODS, pod_of(ONE))
    run.full_pass(frozenset({ONE}))
    assert {key.subject for key in run.evaluation.notes} == {ONE}
    run.store.delete(PODS, ONE.namespace, ONE.name)
    run.full_pass()
    assert run.evaluation.notes == {}


def test_objects_of_others_that_come_and_go_change_nothing() -> None:
    run = Run(by_pod)
    run.full_pass()
    other = pod_of(Subject(Layer.MODELDEPLOYMENT, "elsewhere", "other"))
    run.store.upsert(PODS, other)
    assert run.full_pass() == []
    run.store.delete(PODS, "elsewhere", "other")
    assert run.full_pass() == []


def was_deleted(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """Trouble for who had a Deployment of its name."""
    ref = DEPLOYMENTS.ref(request.subject.namespace, request.subject.name)
    gone = snapshot.was_deleted(ref)
    return [an_active_verdict(request.key(), a_trouble()) if gone else Clear(request.key())]


def test_what_was_deleted_is_read_name_by_name() -> None:
    run = Run(was_deleted)
    meta = Metadata(name=ONE.name, namespace=ONE.namespace, uid="1")
    run.store.upsert(DEPLOYMENTS, Deployment(metadata=meta))
    assert [run.full_pass(), run.full_pass()] == [ALL, []]
    run.store.delete(DEPLOYMENTS, ONE.namespace, ONE.name)
    assert run.full_pass() == [ONE.name]
    assert {key.subject for key in run.evaluation.tracked.finding_states} == {ONE}


def test_a_subject_that_is_gone_is_known_no_longer() -> None:
    run = Run(by_pod)
    run.full_pass()
    harness = Subject(Layer.MODELHARNESS, "team-b")
    change_subjects(run.store, frozenset(), frozenset({harness}))
    run.full_pass()
    assert {ONE, harness} <= run.evaluation.clear.by_subject.keys()
    change_subjects(run.store, frozenset({ONE, harness}), frozenset())
    run.full_pass()
    assert run.evaluation.clear.by_subject.keys().isdisjoint({ONE, harness})


def test_a_subject_that_is_scaled_to_zero_is_paused_whatever_runs_each_time() -> None:
    first = an_entry("inferencesetTimed", 5, layer=Layer.MODELDEPLOYMENT, probe="timed")
    run = Run(by_pod)
    run.evaluator = replace(
        run.evaluator,
        catalogue=a_catalogue(first, *CATALOGUE.entries.values()),
        probes={
            "timed": Probe(ProbeSpec("timed", object), by_time),
            "none": Probe(ProbeSpec("none", object, pauses_at_zero_replicas=True), by_pod),
        },
    )
    run.full_pass()
    run.full_pass()
    spec = InferenceSetSpec(replicas=0)
    meta = Metadata(name=ONE.name, namespace=ONE.namespace)
    run.store.upsert(INFERENCE_SETS, InferenceSet(metadata=meta, spec=spec))
    run.full_pass()
    assert run.evaluation.paused == {ONE}


def test_after_a_full_pass_that_notes_nothing_no_snapshot_is_kept() -> None:
    run = Run(by_pod)
    run.full_pass()
    assert run.evaluation.clear.snapshot is not None
    run.store.set_watch_state(PODS, WatchLost(NOON, "gone"))
    run.full_pass()
    assert run.evaluation.clear.snapshot is None


def test_small_passes_keep_no_old_snapshot_and_a_full_one_still_skips_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(by_pod)
    run.store.upsert(PODS, pod_of(ONE))
    run.full_pass()
    run.store.delete(PODS, ONE.namespace, ONE.name)
    run.full_pass()
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 1)
    changes: tuple[Callable[[], object], ...] = (
        lambda: run.store.upsert(PODS, pod_of(ONE)),
        lambda: run.store.delete(PODS, ONE.namespace, ONE.name),
        lambda: run.store.upsert(PODS, pod_of(OTHER)),
        lambda: run.store.delete(PODS, OTHER.namespace, OTHER.name),
    )
    for change in changes:
        run.now += clear_subjects.MAX_AGE
        change()
        run.full_pass(frozenset({ONE}))
        kept, snapshot = run.evaluation.clear.snapshot, run.store.snapshot()
        assert kept is not None
        assert kept.tables[PODS.table].objects is snapshot.tables[PODS.table].objects
    assert run.full_pass() == [ONE.name, OTHER.name]


def test_within_a_second_the_snapshot_is_kept_as_to_compare_takes_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(by_pod)
    run.full_pass()
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 1)
    kept = run.evaluation.clear
    run.store.upsert(PODS, pod_of(ONE))
    run.full_pass(frozenset({ONE}))
    assert run.evaluation.clear is kept
    assert run.full_pass() == [ONE.name]


def test_more_changes_than_are_kept_make_a_full_pass_skip_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clear_subjects, "MAX_CHANGED", 1)
    run = Run(by_pod)
    run.full_pass()
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 1)
    for subject in MODELS:
        run.store.upsert(PODS, pod_of(subject))
    run.now += clear_subjects.MAX_AGE
    run.full_pass(frozenset({ONE}))
    assert run.evaluation.clear.snapshot is None
    assert run.full_pass() == ALL


def test_while_a_watch_is_lost_nothing_is_skipped() -> None:
    run = Run(by_pod)
    run.full_pass()
    run.store.set_watch_state(PODS, WatchLost(NOON, "gone"))
    assert [run.full_pass(), run.full_pass()] == [ALL, ALL]


def test_another_evaluator_skips_nothing() -> None:
    run = Run(by_pod)
    run.full_pass()
    run.evaluator = replace(run.evaluator, flags={"other": "flag"})
    assert run.full_pass() == ALL


def test_a_cut_pass_keeps_what_it_knows_of_those_it_did_not_reach(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pipeline, "SUBJECTS_PER_BATCH", 1)
    run = Run(by_pod)
    run.full_pass()
    snapshot = run.store.snapshot()
    plan = pipeline.run_to_end(run.evaluator.plan(run.evaluation, snapshot, ALL_LAYERS, now=NOON))
    progress = run.evaluator.begin(run.evaluation, plan)
    first = next(plan.batches())
    progress = pipeline.run_to_end(run.evaluator.run_batch(progress, plan, first))
    cut = run.evaluator.finish(run.evaluation, plan, progress)
    run.evaluation = pipeline.run_to_end(cut)
    assert run.full_pass() == []


# ------------------------------------------------------------ pauses, in which other tasks run


def counted(steps: Generator[None, None, T]) -> tuple[int, T]:
    """Return how often a generator pauses, and its result."""
    pauses = 0
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return pauses, end.value
        pauses += 1


def test_a_pass_over_many_pauses_while_it_is_planned_and_within_a_batch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(clear_subjects, "COMPARED_AT_ONCE", 1)
    monkeypatch.setattr(probe_run, "SUBJECTS_AT_ONCE", 1)
    run = Run(by_pod)
    run.full_pass()
    run.store.upsert(PODS, pod_of(OTHER))
    snapshot = run.store.snapshot()
    pauses, plan = counted(run.evaluator.plan(run.evaluation, snapshot, ALL_LAYERS, now=NOON))
    assert pauses > len(MODELS)
    assert OTHER not in plan.probe_run.clear
    assert ONE in plan.probe_run.clear
    (batch,) = plan.batches()
    progress = run.evaluator.begin(run.evaluation, plan)
    pauses, progress = counted(run.evaluator.run_batch(progress, plan, batch))
    assert (pauses, progress.evaluated) == (len(MODELS), len(batch))
    assert {key.subject for key in progress.tracked.finding_states} == {OTHER}


def test_a_pass_over_few_is_planned_without_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(by_pod)
    run.full_pass()
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 1)
    run.store.upsert(PODS, pod_of(ONE))
    few = frozenset({ONE})
    pauses, _ = counted(run.evaluator.plan(run.evaluation, run.store.snapshot(), few, now=NOON))
    assert pauses == 0


def test_a_pass_that_looks_all_subjects_up_pauses_after_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = Run(by_pod)
    run.full_pass()
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 1)
    new = Subject(Layer.MODELDEPLOYMENT, "team-a", "new")
    change_subjects(run.store, frozenset(), frozenset({new}))
    snapshot = run.store.snapshot()
    pauses, plan = counted(run.evaluator.plan(run.evaluation, snapshot, frozenset(), now=NOON))
    assert (pauses, plan.subjects) == (1, [new])
