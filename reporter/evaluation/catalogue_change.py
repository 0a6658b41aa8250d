"""
Continue an Evaluation with another catalogue.

Findings of reasons that stay keep their state and their clocks. Those of reasons that are evaluated no
more are forgotten: nobody sees them end.
"""

from collections.abc import Callable, Mapping
from typing import TypeAlias

import msgspec
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.clear_subjects import ClearSubjects
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.rank import rank
from reporter.evaluation.suppression import Suppressions
from reporter.evaluation.tracking import without_keys
from reporter.model.subjects import FindingKey


StaysFunc: TypeAlias = Callable[[FindingKey], bool]


def stays_evaluated(catalogue: Catalogue, settings: EvaluationSettings) -> StaysFunc:
    """
    Return a function that reports whether a key is still evaluated, about the same kind of subject.
    """
    abouts = {
        entry.reason: (entry.layer, entry.subject_kind)
        for entry in catalogue.entries.values()
        if entry.is_evaluated and entry.reason not in settings.unchecked
    }
    return lambda key: abouts.get(key.reason) == (key.subject.layer, key.subject.kind)


def change_catalogue(
    before: Evaluation, catalogue: Catalogue, settings: EvaluationSettings
) -> Evaluation:
    """Return the Evaluation without the reasons that go, and ranked by the new catalogue."""
    stays = stays_evaluated(catalogue, settings)
    tracked = without_keys(before.tracked, lambda key: not stays(key))
    evaluated = frozenset(
        reason
        for reason in tracked.evaluated_reasons
        if (entry := catalogue.entries.get(reason)) is not None and entry.is_evaluated
    )
    tracked = msgspec.structs.replace(tracked, evaluated_reasons=evaluated)
    after = replace(
        before,
        tracked=tracked,
        suppressions=_kept_suppressions(before.suppressions, stays),
        notes={key: notes for key, notes in before.notes.items() if stays(key)},
        remembered=before.remembered.kept(stays),
        clear=ClearSubjects(),
    )
    return replace(
        after,
        rankings=rank(
            after.ranking_input,
            catalogue,
            settle=settings.delays.settle,
            before={},
            changed=tracked.finding_states,
        ),
        # Other reasons may exist now, so each silence is checked anew.
        silences=replace(before.silences, checked={}),
    )


def _kept_suppressions(before: Suppressions, stays: StaysFunc) -> Suppressions:
    return Suppressions(
        {key: outage for key, outage in before.outages.items() if stays(key)},
        _kept_keys(before.suppressed_by, stays),
        _kept_keys(before.suppresses, stays),
    )


def _kept_keys(
    keys: Mapping[FindingKey, tuple[FindingKey, ...]], stays: StaysFunc
) -> Mapping[FindingKey, tuple[FindingKey, ...]]:
    """Return the keys that stay with those of theirs that stay, if there are any."""
    kept = {key: tuple(filter(stays, others)) for key, others in keys.items() if stays(key)}
    return {key: others for key, others in kept.items() if others}
