"""
The part that the reasons of engines share: what they read, and the troubles of a set's Ready pods.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import lru_cache
from typing import Annotated, Any, TypeAlias

from msgspec import Meta, Struct, field

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, PODS, Pod
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import DetailSource, TroubleKind
from reporter.model.verdicts import Cause, Clear, Trouble, Verdict
from reporter.probes import engine_view
from reporter.probes.engine_view import EngineColumns, EngineOutcome, EngineTrouble, EngineUnknown
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of
from reporter.resources.check_result import CheckResult, Inconclusive, to_verdict
from reporter.resources.downloads import SCRAPE_TOLERANCE
from reporter.resources.inference_sets import find_model_pods, get_inference_set
from reporter.resources.replicas import DEGRADED
from reporter.scrape.columns import Column
from reporter.scrape.engine_recorder import MAX_ENGINES, EngineRecorder
from reporter.scrape.page_rows import POD_ROW
from reporter.scrape.samples import ScrapeHistory
from reporter.scrape.scrapes import Scrape
from reporter.scrape.spans import MAX_PAGES, Span
from reporter.snapshot.loading import NOT_READ, has_page, is_serving
from reporter.snapshot.scrape_targets import READY
from reporter.snapshot.snapshot import Snapshot


Seconds: TypeAlias = Annotated[float, Meta(gt=0, extra={"is": "a number of seconds above 0"})]
Count: TypeAlias = Annotated[float, Meta(ge=0, extra={"is": "a number, 0 or more"})]
PageCount: TypeAlias = Annotated[
    float, Meta(ge=0, le=MAX_PAGES, extra={"is": f"a number from 0 to {MAX_PAGES}"})
]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1, extra={"is": "a share from 0 to 1"})]


# Not brief: a pod without an address is never read.
NOT_READ_YET = EngineUnknown("its page was not read yet")
IN_HOST_NETWORK = EngineUnknown(NOT_READ)
NO_MODEL_SERVER = EngineUnknown("its page has none of the metrics of a model server")
TOO_MANY_ENGINES = EngineUnknown(f"its page has more than {MAX_ENGINES} engines")

WELL = "well"
"""The fingerprint of a page that was read and has engines, each without trouble."""

HIGHEST = frozenset({"lasted", "usage"})
"""The numbers of which a message gives that of the worst engine; of the others it gives the sum."""

MAX_NAMES = 8
"""The engines of a pod that a message names."""


class EngineParameters(ProbeParameters, frozen=True, kw_only=True, cache_hash=True):
    """
    The parameters of every probe of engines. The hash is kept, as each pass looks checks up by them.
    """

    interval_flag: str = "scrape-interval-seconds"
    port_flag: str = "weight-download-metric-port"
    families: engine_view.EngineFamilies = field(default_factory=engine_view.EngineFamilies)
    window_seconds: Seconds = 300

    @property
    def kept_pages(self) -> int:
        """The least number of pages that are kept, however far back they reach."""
        return 0


Rule: TypeAlias = Callable[[engine_view.EngineView, EngineColumns, Any], EngineOutcome]
"""Evaluates one engine by the parameters of a reason."""


def request_gauges(columns: EngineColumns) -> tuple[Column, ...]:
    """
    Return the gauges of running and waiting requests, by which a row is known to be of an engine.
    """
    return columns.running, columns.waiting


# Two probes with equal parts are not the same; to compare them by identity is also cheaper.
class EngineProbe(Struct, frozen=True, eq=False, kw_only=True):
    """
    One row of the table of engine reasons: the parts in which their probes differ.

    *codes*: its cause codes, worst first. *reads*: the columns that the rule reads. *marks*: the columns
    of which a row has at least one if it is of an engine. *describe*: describes the numbers of a cause
    code. *participle*: the word for an engine with this trouble, such as stalled, if trouble of some
    engines is another cause than that of all; else empty. *more_fields*: what renders further message
    fields, by name, called only if there is trouble. *kinds_by_source*: see `ProbeSpec`.
    """

    name: str
    parameters_type: type[EngineParameters]
    codes: tuple[str, ...]
    reads: Callable[[EngineColumns], tuple[Column, ...]]
    rule: Rule
    describe: Callable[[str, Mapping[str, float]], str]
    marks: Callable[[EngineColumns], tuple[Column, ...]] = request_gauges
    participle: str = ""
    more_fields: Mapping[str, Callable[[Snapshot, ProbeRequest], str]] = field(
        default_factory=dict
    )
    kinds_by_source: Mapping[DetailSource, tuple[ResourceKind, ...]] = field(default_factory=dict)

    def build(self) -> Probe:
        """
        Return the probe for the registry, with the message fields and cause codes that this row adds.
        """
        fields = ["place", "pod", "state", *self.more_fields]
        codes = list(self.codes)
        if self.participle:
            fields.append("extent")
            codes.append(DEGRADED)
        spec = ProbeSpec(
            name=self.name,
            parameters_type=self.parameters_type,
            message_fields=frozenset(fields),
            cause_codes=frozenset(codes),
            required_kinds=(INFERENCE_SETS, PODS),
            optional_kinds=(NAMESPACES,),
            required_crds=crds_of(INFERENCE_SETS),
            pauses_at_zero_replicas=True,
            scrape=self.build_scrape,
            kinds_by_source=self.kinds_by_source,
        )
        return Probe(spec, self.evaluate)

    def evaluate(self, snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
        """
        Return the one verdict on the engines of an InferenceSet's Ready pods.

        It is Clear after a quick look-up if what was found on every page is well. With a participle, the
        message tells how many of the engines have the trouble.
        """
        subject = request.subject
        # Looked up in any case, so that the verdict does not rest on an old version of the set.
        inference_set = get_inference_set(snapshot, subject) if self.participle else None
        pods = find_model_pods(snapshot, subject)
        check = self.check_of(request.parameters, request.flags)
        if check.are_well(snapshot, pods):
            return [Clear(request.key())]
        found = list(check.find_pod_engines(snapshot, pods))
        extent: Extent | None = None
        fields: dict[str, str] = {}
        if self.participle:
            desired = inference_set.desired_replicas if inference_set is not None else 1
            extent = Extent.of(found, desired=desired)
            fields["extent"] = extent.describe(self.participle)
        if any(each.troubled for each in found):
            more = self.more_fields.items()
            fields |= {name: render(snapshot, request) for name, render in more}
        results = _results(found, lambda pod: self._trouble(pod, fields, extent))
        return [to_verdict(snapshot, request.key(), results)]

    def _trouble(
        self, pod: "PodEngines", fields: Mapping[str, str], extent: "Extent | None"
    ) -> Trouble:
        """
        Return the trouble of a pod; with *extent* that of some engines differs from that of all.
        """
        meta, troubled = pod.pod.metadata, pod.troubled
        code = min((each.code for each in troubled.values()), key=self.codes.index)
        numbers: dict[str, float] = {}
        for name in {name for each in troubled.values() for name in each.numbers}:
            values = [each.numbers.get(name, 0.0) for each in troubled.values()]
            numbers[name] = max(values) if name in HIGHEST else sum(values)
        ref = PODS.ref_to(pod.pod)
        return Trouble(
            cause=Cause(ref, extent.cause_code(code) if extent is not None else code),
            # The window is the hold.
            kind=TroubleKind.LOST,
            is_out=extent is not None and extent.is_out,
            begins=any(each.begins for each in troubled.values()),
            object_created_at=meta.creation_timestamp,
            message_fields={
                **fields,
                "pod": meta.name,
                "place": _place(meta.name, list(troubled)),
                "state": self.describe(code, numbers),
            },
        )

    def check_of(self, parameters: EngineParameters, flags: Mapping[str, str]) -> "EngineCheck":
        """
        Return the check for an entry's parameters and the port of the metrics page; equal ones share it.
        """
        return _make_check(self, parameters, flags[parameters.port_flag])

    def build_scrape(self, parameters: EngineParameters, flags: Mapping[str, str]) -> Scrape:
        """Build the request for the check's columns of Ready pods."""
        check = self.check_of(parameters, flags)
        columns = tuple(dict.fromkeys((*check.marks, *self.reads(check.columns))))
        interval, pages = float(flags[parameters.interval_flag]), parameters.kept_pages
        seconds = max(parameters.window_seconds, pages * interval)
        recorder = EngineRecorder(
            columns,
            (Span.of(seconds, pages=pages),),
            # The longest distance of two pages between which a pod counts as observed.
            max_gap=timedelta(seconds=2 * interval) + SCRAPE_TOLERANCE,
        )
        families = dict.fromkeys(name for column in columns for name in column.families)
        return Scrape(
            families=tuple(families),
            pods=READY,
            port=int(flags[parameters.port_flag]),
            keep=recorder,
            fingerprints=(check.fingerprint,),
            history=check.history_name,
        )


@lru_cache(maxsize=64)
def _make_check(probe: EngineProbe, parameters: EngineParameters, port: str) -> "EngineCheck":
    """Make a check once for all subjects, as its fingerprint is looked up by identity."""
    columns = engine_view.engine_columns(parameters.families)
    marks = probe.marks(columns)
    return EngineCheck(probe.rule, parameters, columns, marks, f"engines:{int(port)}")


class EngineCheck(Struct, frozen=True):
    """
    A rule with the parameters of an entry, applied to every engine of a pod.

    *history_name*: the history of the pod's metrics page that it reads, by its port.
    """

    rule: Rule
    parameters: EngineParameters
    columns: EngineColumns
    marks: tuple[Column, ...]
    history_name: str

    def outcomes(self, history: ScrapeHistory) -> tuple[tuple[str, EngineOutcome], ...]:
        """
        Return the outcome of each engine by its name; empty without a page of a model server.
        """
        if history.engines is None:
            return ()
        views = engine_view.engine_views(history.engines, self.marks)
        found = tuple(
            [(view.name, self.rule(view, self.columns, self.parameters)) for view in views]
        )
        return (*found, (POD_ROW, TOO_MANY_ENGINES)) if history.engines.left_out else found

    def fingerprint(self, history: ScrapeHistory) -> object:
        """
        Return WELL, or why the last page could not be read and the outcomes of the engines without numbers.

        The verdict depends on nothing else, so a page that leaves this as it was causes no evaluation.
        """
        failure, outcomes = history.last_failure, self.outcomes(history)
        if failure is None and outcomes and all(outcome is None for _, outcome in outcomes):
            return WELL
        why = failure.why if failure is not None else ""
        return why, tuple(
            (name, engine_view.fingerprint_of(outcome)) for name, outcome in outcomes
        )

    def are_well(self, snapshot: Snapshot, pods: Iterable[Pod]) -> bool:
        """
        Return whether `find_pod_engines` finds neither trouble nor anything unknown.

        A full pass asks this of each pod, so it looks up what was found when the page was read, and
        checks last if the pod counts.
        """
        name, fingerprint = self.history_name, self.fingerprint
        for pod in pods:
            if snapshot.scrape_fingerprint(pod, name, fingerprint) != WELL and is_serving(pod):
                return False
        return True

    def find_pod_engines(self, snapshot: Snapshot, pods: Iterable[Pod]) -> Iterator["PodEngines"]:
        """
        Find the engines of the Ready ones of *pods*, each evaluated alone, so that none hides.
        """
        for pod in filter(is_serving, pods):
            history = snapshot.scrape_history(pod, self.history_name)
            if not has_page(pod):
                yield PodEngines(pod, unknown=IN_HOST_NETWORK)
            elif history is None:
                yield PodEngines(pod, unknown=NOT_READ_YET)
            elif history.last_failure is not None:
                yield PodEngines(pod, unknown=EngineUnknown(history.last_failure.why))
            else:
                outcomes = self.outcomes(history)
                yield PodEngines(pod, outcomes, unknown=None if outcomes else NO_MODEL_SERVER)


class PodEngines(Struct, frozen=True):
    """A Ready pod and its engines; *unknown*: why none of them can be evaluated now."""

    pod: Pod
    outcomes: tuple[tuple[str, EngineOutcome], ...] = ()
    unknown: EngineUnknown | None = None

    @property
    def troubled(self) -> Mapping[str, EngineTrouble]:
        """
        The engines with trouble; if it begins on some of them, without those on which it only goes on.

        There it may never have begun.
        """
        found = {name: each for name, each in self.outcomes if isinstance(each, EngineTrouble)}
        return {name: each for name, each in found.items() if each.begins} or found


class Extent(Struct, frozen=True):
    """
    The number of engines of the set's Ready pods with the trouble. *desired*: replicas of the set.
    """

    troubled: int
    total: int
    desired: int

    @classmethod
    def of(cls, pods: Sequence[PodEngines], *, desired: int) -> "Extent":
        """Count the engines; a pod that cannot be evaluated counts as one without trouble."""
        total = sum(max(len(each.outcomes), 1) for each in pods)
        return cls(sum(len(each.troubled) for each in pods), total, desired)

    @property
    def is_out(self) -> bool:
        """True if every engine has the trouble, so that the model as a whole is out."""
        return self.troubled == self.total

    def cause_code(self, code: str) -> str:
        """
        Return the code of the cause, with the first part Degraded while some engines are well.
        """
        return code if self.is_out else f"{DEGRADED}.{code}"

    def describe(self, participle: str) -> str:
        """Return the beginning of a message; empty for the engine of the only replica."""
        if self.total == 1:
            return f"unavailable, the only Ready engine is {participle}: " * (self.desired > 1)
        if self.is_out:
            return f"unavailable, all {self.total} engines are {participle}: "
        verb = "is" if self.troubled == 1 else "are"
        return f"degraded, {self.troubled} of {self.total} engines {verb} {participle}: "


def _results(
    pods: Iterable[PodEngines], trouble_of: Callable[[PodEngines], Trouble]
) -> Iterator[CheckResult]:
    for each in pods:
        name = each.pod.metadata.name
        if each.unknown is not None:
            yield _inconclusive(f"pod {name}", each.unknown)
            continue
        if each.troubled:
            yield trouble_of(each)
        for engine, outcome in each.outcomes:
            if isinstance(outcome, EngineUnknown):
                yield _inconclusive(_place(name, [engine]), outcome)


def _inconclusive(place: str, unknown: EngineUnknown) -> Inconclusive:
    return Inconclusive(f"{place}: {unknown.why}", is_brief=unknown.is_brief)


def _place(pod: str, engines: Sequence[str]) -> str:
    """Name the engines of a pod; a server without an engine label is named by its pod alone."""
    names = sorted((each for each in engines if each), key=lambda each: (len(each), each))
    if not names:
        return f"pod {pod}"
    shown = ", ".join(names[:MAX_NAMES]) + (" and more" if len(names) > MAX_NAMES else "")
    return f"engine{'s' if len(names) > 1 else ''} {shown} of pod {pod}"
