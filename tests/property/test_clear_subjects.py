"""
A full pass that skips what is known to be clear ends as one that looks at everything.

Every object of the stacks goes, comes back and loses its content, one after the other. The cases check
the same at each of their passes.
"""

from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from reporter.evaluation import pipeline
from reporter.evaluation.clear_subjects import ClearSubjects
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.pipeline import Evaluator
from reporter.evaluation.registry import PROBES
from reporter.kinds.objects import ApiObject
from reporter.model.subjects import Subject
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.store.store import Store
from tests.support import source_builders
from tests.support.builders import NOON
from tests.support.catalogue_fixture import DEFAULT_CATALOGUE, DEFAULT_FLAGS
from tests.support.probed_stacks import BY_TYPE, STACKS


EVALUATOR = Evaluator(DEFAULT_CATALOGUE, PROBES, DEFAULT_FLAGS, EvaluationSettings())


@pytest.fixture(autouse=True)
def no_few_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "FEW_SUBJECTS", 0)


def evaluate(
    before: Evaluation, snapshot: Snapshot, dirty: frozenset[Subject] = ALL_LAYERS
) -> Evaluation:
    return EVALUATOR.evaluate(before, snapshot, dirty, now=NOON)


def changes(store: Store, objects: list[ApiObject]) -> Iterator[str]:
    """Make each change, and yield what it is."""
    for each in objects:
        kind, meta = BY_TYPE[type(each)], each.metadata
        name = f"{kind.kind} {meta.namespace}/{meta.name}"
        store.delete(kind, meta.namespace, meta.name)
        yield f"{name} is deleted"
        store.upsert(kind, each)
        yield f"{name} is back"
        store.upsert(kind, kind.type(metadata=replace(meta, generation=99)))
        yield f"{name} has lost its content"
        store.upsert(kind, each)


@pytest.mark.parametrize("is_seen", [False, True])
@pytest.mark.parametrize("objects", STACKS.values(), ids=STACKS.keys())
def test_a_full_pass_after_a_change_finds_what_one_finds_that_skips_nothing(
    objects: list[ApiObject], is_seen: bool
) -> None:
    """*is_seen*: a pass over the dirty subjects alone came before."""
    store = source_builders.a_store(*objects)
    evaluation = evaluate(Evaluation(), store.snapshot())
    for what in changes(store, objects):
        snapshot, dirty = store.snapshot(), store.take_dirty()
        if is_seen:
            evaluation = evaluate(evaluation, snapshot, dirty)
        whole = evaluate(replace(evaluation, clear=ClearSubjects()), snapshot)
        evaluation = evaluate(evaluation, snapshot)
        assert replace(evaluation, clear=whole.clear) == whole, what
        assert evaluation.clear.by_subject.keys() == whole.clear.by_subject.keys(), what
