"""Build a probe of engines from the parts in which these probes differ."""

from collections.abc import Callable, Iterable, Mapping
from datetime import timedelta
from functools import lru_cache
from typing import Any

from msgspec import Struct, field

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, PODS
from reporter.kinds.kaito import INFERENCE_SETS
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import DetailSource
from reporter.model.verdicts import Clear, Verdict
from reporter.probes.engine_check import (
    EngineCheck,
    EngineParameters,
    EngineRules,
    are_well,
    find_pod_engines,
)
from reporter.probes.engine_troubles import (
    Extent,
    TroubleText,
    engine_results,
    has_trouble,
)
from reporter.probes.probe import Probe, ProbeRequest
from reporter.resources.check_result import to_verdict
from reporter.resources.downloads import SCRAPE_TOLERANCE
from reporter.resources.engine_view import EngineColumns, EngineOutcome, EngineView, engine_columns
from reporter.resources.inference_sets import find_model_pods, get_inference_set
from reporter.resources.replicas import DEGRADED
from reporter.scrape.columns import Column
from reporter.scrape.engine_keeper import EngineKeeper
from reporter.scrape.scrapes import Scrape
from reporter.scrape.spans import Span
from reporter.snapshot.scrape_targets import READY
from reporter.snapshot.snapshot import Snapshot


def request_gauges(columns: EngineColumns) -> tuple[Column, ...]:
    return columns.running, columns.waiting


# Two probes with equal parts are not the same; to compare them by identity is also cheaper.
class EngineProbe(Struct, frozen=True, eq=False, kw_only=True):
    """
    The parts of one probe of engines.

    *codes*: its cause codes, worst first. *rules*: makes its rules of the columns, the parameters, and
    the seconds between two pages for which a pod counts as observed. *marks*: see `EngineCheck`.
    *describe*: describes the numbers of a cause code. *participle*: of an engine with this trouble, if
    that of some engines differs from that of all. *more_fields*: what renders further message fields,
    by name, called only if there is trouble. *kinds_by_source*: see `ProbeSpec`.
    """

    name: str
    parameters_type: type[EngineParameters]
    codes: tuple[str, ...]
    rules: Callable[[EngineColumns, Any, float], EngineRules]
    evaluate_engine: Callable[[EngineView, Any], EngineOutcome]
    describe: Callable[[str, Mapping[str, float]], str]
    marks: Callable[[EngineColumns], tuple[Column, ...]] = request_gauges
    participle: str = ""
    more_fields: Mapping[str, Callable[[Snapshot, ProbeRequest], str]] = field(
        default_factory=dict
    )
    kinds_by_source: Mapping[DetailSource, tuple[ResourceKind, ...]] = field(default_factory=dict)

    def build(self) -> Probe:
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
            required_crds=lambda _: frozenset({INFERENCE_SETS.group_resource}),
            pauses_at_zero_replicas=True,
            scrape=self.build_scrape,
            kinds_by_source=self.kinds_by_source,
        )
        return Probe(spec, self.evaluate)

    def evaluate(self, snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
        subject = request.subject
        # Looked up in any case, so that the verdict does not rest on an old version of the set.
        inference_set = get_inference_set(snapshot, subject) if self.participle else None
        pods = find_model_pods(snapshot, subject)
        check = self.check_of(request.parameters, request.flags)
        if are_well(snapshot, pods, check):
            return [Clear(request.key())]
        found = list(find_pod_engines(snapshot, pods, check))
        extent: Extent | None = None
        fields: dict[str, str] = {}
        if self.participle:
            wanted = inference_set.desired_replicas if inference_set is not None else 1
            extent = Extent.of(found, wanted=wanted)
            fields["extent"] = extent.describe(self.participle)
        if has_trouble(found):
            fields |= {
                name: render(snapshot, request) for name, render in self.more_fields.items()
            }
        text = TroubleText(self.codes, self.describe, fields)
        return [to_verdict(snapshot, request.key(), engine_results(found, text, extent))]

    def check_of(self, parameters: EngineParameters, flags: Mapping[str, str]) -> EngineCheck:
        interval, port = flags[parameters.interval_flag], flags[parameters.port_flag]
        return _make_check(self, parameters, interval, port)

    def build_scrape(self, parameters: EngineParameters, flags: Mapping[str, str]) -> Scrape:
        """Build the request for the check's columns of Ready pods."""
        check = self.check_of(parameters, flags)
        columns = tuple(dict.fromkeys((*check.marks, *check.rules.kept_columns)))
        interval, pages = float(flags[parameters.interval_flag]), parameters.kept_pages
        seconds = max(check.rules.window, pages * interval)
        keeper = EngineKeeper(
            columns,
            (Span.of(seconds, pages=pages),),
            max_gap=_max_gap(interval),
        )
        families = dict.fromkeys(name for column in columns for name in column.families)
        return Scrape(
            families=tuple(families),
            pods=READY,
            port=int(flags[parameters.port_flag]),
            keep=keeper,
            gists=(check.gist,),
            history=check.history_name,
        )


@lru_cache(maxsize=64)
def _make_check(
    probe: EngineProbe, parameters: EngineParameters, interval: str, port: str
) -> EngineCheck:
    """
    Make a check once for all subjects, as its gist is looked up by identity.

    *interval* and *port* are values of flags.
    """
    columns = engine_columns(parameters.families)
    rules = probe.rules(columns, parameters, _max_gap(float(interval)).total_seconds())
    name = f"engines:{int(port)}"
    return EngineCheck(rules, probe.evaluate_engine, probe.marks(columns), name)


def _max_gap(interval: float) -> timedelta:
    """Return the longest distance of two pages between which a pod counts as observed."""
    return timedelta(seconds=2 * interval) + SCRAPE_TOLERANCE
