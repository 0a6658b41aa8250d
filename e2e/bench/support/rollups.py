"""Measure what the roll-up status adds to a pass."""

import datetime as dt
from collections.abc import Callable

from msgspec.structs import replace

from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.pipeline import Evaluator
from reporter.model.subjects import Subject
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS


def measure_rollup(
    evaluator: Evaluator,
    snapshot: Snapshot,
    evaluation: Evaluation,
    one: Subject,
    measure: Callable[[Callable[[], object]], float],
) -> dict[str, float]:
    """Return the seconds after a full pass, and after a pass over *one* subject."""
    rules = RollUpRules(evaluator.catalogue, evaluator.flags)
    whole = RollUpInput(
        evaluation=evaluation,
        snapshot=snapshot,
        changed=evaluation.changed_since(Evaluation()),
        evaluated=evaluation.subjects,
        dirty=ALL_LAYERS,
        now=dt.datetime.now(dt.UTC),
        episodes={},
    )
    single = replace(whole, evaluated=frozenset({one}), dirty=frozenset({one}))
    before = fold(RollUp(), whole, rules)
    return {
        "rollup": measure(lambda: fold(before, whole, rules)),
        "rollup_single": measure(lambda: fold(before, single, rules)),
    }
