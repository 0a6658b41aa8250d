"""The status of a cluster of which this process has the observations, and why there may be none."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Protocol, runtime_checkable

import msgspec
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.registry import SPECS
from reporter.kube.errors import KubeError, Throttled, Unreachable
from reporter.model.enums import Layer
from reporter.model.states import Mode
from reporter.model.status_document import NotJudged, StatusDocument
from reporter.model.subjects import Subject
from reporter.model.suggest import find_similar
from reporter.rollup.document import StatusView
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.settings import Settings
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.status.observations import Observations, make_evaluator
from reporter.status.source import StatusAnswer, StatusQueryFailed, Target


NEEDS_RIGHTS = "grant what a reporter may list and watch, in all namespaces, or ask a reporter with --from=URL"
ALL_SUBJECTS = frozenset({Subject(Layer.MODELHARNESS), Subject(Layer.MODELDEPLOYMENT)})
"""Placeholders for subjects that may have come or gone since the last reading."""

NEEDS_PAGES = "only a reporter reads metrics pages"


@runtime_checkable
class EvaluatingSource(Protocol):
    """A source that evaluates in this process, once at each question."""

    async def evaluate(self, target: Target) -> tuple[Evaluation, Sequence[str]]:
        """Read what there is, and return its evaluation and the notes. Raises what *ask* raises."""
        ...


class OneShotStatus:
    """
    Evaluates one reading after another; holds and times go on from the one before.

    *settings* have ``--scrape=off``: reasons that need pages would be Unknown, and hide all others.
    """

    def __init__(self, settings: Settings, catalogue: Catalogue) -> None:
        self._rules = RollUpRules(catalogue, settings.flag_texts, settings.startup_grace)
        self._evaluator = make_evaluator(settings, catalogue)
        self.not_judged = find_not_judged(catalogue, settings.flag_texts)
        self._evaluation, self._rollup = Evaluation(), RollUp()

    def evaluate(self, observations: Observations) -> Evaluation:
        """Evaluate the observations after those of the last *answer*, without keeping the result."""
        return self._evaluator.evaluate(
            self._evaluation, observations.snapshot, ALL_LAYERS, now=observations.at
        )

    def answer(self, observations: Observations, target: Target) -> StatusAnswer:
        """
        Evaluate the observations after the earlier ones, and return the answer about *target*.

        *missing* in it says why there is no document. Its notes are those of the observations.
        """
        after = self.evaluate(observations)
        given = RollUpInput(
            evaluation=after,
            snapshot=observations.snapshot,
            changed=after.changed_since(self._evaluation),
            evaluated=after.subjects,
            dirty=ALL_SUBJECTS,
            now=observations.at,
            episodes={},
        )
        self._evaluation, self._rollup = after, fold(self._rollup, given, self._rules)
        view = StatusView(self._rollup, self._rules, now=observations.at, mode=Mode.ONE_SHOT)
        answer = answer_from(view, target, self.not_judged)
        return msgspec.structs.replace(answer, notes=observations.notes)


def find_not_judged(catalogue: Catalogue, flags: Mapping[str, str]) -> tuple[NotJudged, ...]:
    """Return the evaluated reasons that read metrics pages, which *flags* switch off."""
    return tuple(
        NotJudged(reason=entry.reason, why=NEEDS_PAGES)
        for entry in sorted(catalogue.entries.values(), key=lambda each: each.reason)
        if entry.is_evaluated and SPECS[entry.probe].why_not_read(entry.parameters, flags)
    )


def answer_from(
    view: StatusView, target: Target, not_judged: tuple[NotJudged, ...]
) -> StatusAnswer:
    """
    Return the answer about a target as the roll-up has it, without a tag and notes.

    It has no document for a namespace or an InferenceSet that is not there; *missing* says so, and *alike*
    is a similar name.
    """
    if target.is_cluster:
        return _answer(view.document(cluster=view.cluster()), not_judged)
    if target.is_everything:
        return _answer(view.document(*view.namespaces(), cluster=view.cluster()), not_judged)
    summary = view.namespace_summary(target.namespace)
    if summary is None:
        alike = find_similar(target.namespace, view.rollup.namespaces)
        if alike and target.name:
            alike = f"{alike}/{target.name}"
        return StatusAnswer(None, missing=f"no workload namespace {target.namespace}", alike=alike)
    if not target.name:
        whole = view.namespace(target.namespace)
        return _answer(view.document(*([whole] if whole is not None else [])), not_judged)
    one = view.inference_set(target.namespace, target.name)
    if one is None:
        there = [each.name for each in view.inference_sets(target.namespace)]
        close = find_similar(target.name, there)
        alike = f"{target.namespace}/{close}" if close else ""
        return StatusAnswer(None, missing=f"no InferenceSet {target}", alike=alike)
    return _answer(view.document(replace(summary, inference_sets=(one,))), not_judged)


def _answer(document: StatusDocument, not_judged: tuple[NotJudged, ...]) -> StatusAnswer:
    whole = replace(document, not_judged=not_judged)
    return StatusAnswer(whole, msgspec.to_builtins(whole))


def cannot_read_after(err: KubeError) -> StatusQueryFailed:
    """
    Return the StatusQueryFailed to raise for a KubeError that ended the reading of a whole cluster.

    It may pass if the API server was unreachable or throttles; else it says which rights to grant.
    """
    refused = not isinstance(err, Unreachable | Throttled)
    return cannot_read(str(err), refused=refused, retry_after=err.retry_after)


def cannot_read(
    why: str, *, refused: bool, retry_after: timedelta | None = None
) -> StatusQueryFailed:
    """
    Return the error for a cluster of which nothing can be read. *refused*: asking again is no use.
    """
    what_to_do = f"; {NEEDS_RIGHTS}" if refused else ""
    return StatusQueryFailed(
        f"the cluster cannot be read: {why}{what_to_do}",
        may_pass=not refused,
        retry_after=retry_after,
    )
