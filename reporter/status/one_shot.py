"""The status of a cluster that this process reads itself, or of a dump."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import msgspec
from msgspec.structs import replace

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.evaluation import Evaluation
from reporter.evaluation.registry import SPECS
from reporter.kube.client import RestClient
from reporter.kube.errors import KubeError, Throttled, Unreachable
from reporter.kube.stack_dump import DumpEnd
from reporter.model.enums import Layer
from reporter.model.silences import SilenceFile
from reporter.model.states import Mode
from reporter.model.status_document import NotJudged, StatusDocument
from reporter.model.subjects import Subject
from reporter.model.suggest import find_similar
from reporter.model.times import format_time
from reporter.process.clock import Clock
from reporter.rollup.document import StatusView
from reporter.rollup.fold import fold
from reporter.rollup.records import RollUp
from reporter.rollup.rules import RollUpInput, RollUpRules
from reporter.settings import Settings
from reporter.settings.errors import ConfigurationError
from reporter.snapshot.snapshot import Snapshot
from reporter.snapshot.subjects import ALL_LAYERS
from reporter.status.one_shot_cluster import (
    Observations,
    Progress,
    make_evaluator,
    read_cluster,
    read_reported,
)
from reporter.status.source import StatusAnswer, StatusQueryFailed, Target


NEEDS_RIGHTS = "grant what a reporter may list and watch, in all namespaces, or ask a reporter with --from=URL"
ALL_SUBJECTS = frozenset({Subject(Layer.MODELHARNESS), Subject(Layer.MODELDEPLOYMENT)})
"""Placeholders for subjects that may have come or gone since the last reading."""

NEEDS_PAGES = "only a reporter reads metrics pages"


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
        """Evaluate the observations after the earlier ones, without an answer of them."""
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

    Without a document for a namespace or an InferenceSet that is not there; *missing* and *alike* say
    so.
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
    return cannot_read(str(err), refused=not isinstance(err, Unreachable | Throttled))


def cannot_read(why: str, *, refused: bool) -> StatusQueryFailed:
    """
    Return the error for a cluster of which nothing can be read. *refused*: asking again is no use.
    """
    what_to_do = f"; {NEEDS_RIGHTS}" if refused else ""
    return StatusQueryFailed(
        f"the cluster cannot be read: {why}{what_to_do}", may_pass=not refused
    )


class ClusterSource:
    """Reads the whole cluster at each question, and writes nothing. It waits for no change."""

    may_lag = False

    def __init__(
        self,
        api: RestClient,
        settings: Settings,
        catalogue: Catalogue,
        clock: Clock,
        *,
        on_progress: Progress = lambda _, __: None,
        silence_file: SilenceFile | None = None,
    ) -> None:
        self.description = "the cluster, read by this program"
        self._api, self._settings, self._catalogue, self._clock = api, settings, catalogue, clock
        self._on_progress, self._silence_file = on_progress, silence_file
        self._status = OneShotStatus(settings, catalogue)

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        """
        Read the whole cluster, and evaluate it at once, whether or not *after* is given.

        Raises StatusQueryFailed if nothing at all can be read; kinds that cannot be read are notes of the
        answer.
        """
        observations = await self._observe(target)
        if observations.snapshot.only_in:
            reported = await read_reported(self._api, target.namespace, now=observations.at)
            observations = replace(observations, notes=(*observations.notes, *reported))
        return self._status.answer(observations, target)

    async def evaluate(self, target: Target) -> tuple[Evaluation, Sequence[str]]:
        """Read the cluster as *ask* does, and return its evaluation and the notes. Raises StatusQueryFailed."""
        observations = await self._observe(target)
        return self._status.evaluate(observations), observations.notes

    async def _observe(self, target: Target) -> Observations:
        try:
            return await read_cluster(
                self._api,
                self._settings,
                self._catalogue,
                self._clock,
                on_progress=self._on_progress,
                namespace=target.namespace,
                silence_file=self._silence_file,
            )
        except KubeError as err:
            raise cannot_read_after(err) from err

    async def close(self) -> None:
        """Close the connections to the API server."""
        await self._api.close()


Load = Callable[[DumpEnd | None], tuple[Settings, Catalogue]]
"""Loads the configuration, with flags of the reporter in a dump that yield to those that are given."""


class DumpSource:
    """Reads a dump. *at*: the moment to evaluate; None is when it was taken."""

    may_lag = False

    def __init__(
        self,
        path: str,
        load: Load,
        *,
        now: Callable[[], datetime],
        at: datetime | None = None,
    ) -> None:
        self.description = f"the dump {path}"
        self._path, self._load = path, load
        self._now, self._at = now, at

    async def ask(self, target: Target, *, after: StatusAnswer | None = None) -> StatusAnswer:
        """
        Read and evaluate the dump anew; *after* is of no account, as a dump does not change.

        The first note of the answer names the moment of the evaluation. Raises ConfigurationError for a
        dump that cannot be read, or holds no object that matters.
        """
        observations, status = self._observe(target)
        return status.answer(observations, target)

    async def evaluate(self, target: Target) -> tuple[Evaluation, Sequence[str]]:
        """Read the dump as *ask* does, and return its evaluation and the notes."""
        observations, status = self._observe(target)
        return status.evaluate(observations), observations.notes

    def _observe(self, target: Target) -> tuple[Observations, OneShotStatus]:
        from reporter.status.dump import observe_dump, read_dump  # noqa: PLC0415

        now = self._now()
        dump = read_dump(self._path, now=now)
        settings, catalogue = self._load(dump.end)
        observations = observe_dump(dump, self._path, settings, catalogue, now=now, at=self._at)
        _refuse_other_namespace(self.description, observations.snapshot, target)
        as_of = f"evaluated as of {format_time(observations.at)}"
        observations = replace(observations, notes=(as_of, *observations.notes))
        return observations, OneShotStatus(settings, catalogue)

    async def close(self) -> None:
        """Do nothing: a dump is opened and closed by each question."""


def _refuse_other_namespace(dump: str, snapshot: Snapshot, target: Target) -> None:
    """Raise ConfigurationError if a dump was taken with the rights of another namespace alone."""
    only = frozenset(snapshot.only_in.values())
    if only and target.namespace and target.namespace not in only:
        raise ConfigurationError(
            f"{dump} has the namespace {', '.join(sorted(only))} alone, and says nothing about {target}"
        )
