"""
The part that the probes of engines share: what they read, and the engines of a set's Ready pods.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated, Any, Protocol, TypeAlias

from msgspec import Meta, Struct, field

from reporter.model.kinds.base.keys import inference_set_key
from reporter.model.kinds.core.pods import PODS, Pod
from reporter.model.metrics.columns import Column
from reporter.model.metrics.engine_keeper import MAX_ENGINES, EngineKeeper
from reporter.model.metrics.page_rows import POD_ROW
from reporter.model.metrics.samples import ScrapeHistory
from reporter.model.metrics.scrapes import Scrape
from reporter.model.subjects import Subject
from reporter.stages.resources.downloads import SCRAPE_TOLERANCE
from reporter.stages.resources.engines.families import EngineFamilies
from reporter.stages.resources.engines.outcome import EngineOutcome, EngineUnknown, gist_of
from reporter.stages.resources.engines.view import EngineView, engine_views
from reporter.stages.snapshot.loading import is_serving
from reporter.stages.snapshot.scrape_targets import READY
from reporter.stages.snapshot.snapshot import Snapshot


Seconds: TypeAlias = Annotated[float, Meta(gt=0, extra={"is": "a number of seconds above 0"})]
Count: TypeAlias = Annotated[float, Meta(ge=0, extra={"is": "a number, 0 or more"})]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1, extra={"is": "a share from 0 to 1"})]


# Not brief: a pod without an address is never read.
NOT_READ_YET = EngineUnknown("its page was not read yet")
NO_MODEL_SERVER = EngineUnknown("its page has none of the metrics of a model server")
TOO_MANY_ENGINES = EngineUnknown(f"its page has more than {MAX_ENGINES} engines")


class EngineParameters(
    Struct, frozen=True, forbid_unknown_fields=True, rename="kebab", kw_only=True
):
    """
    The parameters of every probe of engines.
    """

    interval_flag: str = "scrape-interval-seconds"
    port_flag: str = "weight-download-metric-port"
    families: EngineFamilies = field(default_factory=EngineFamilies)


class EngineRules(Protocol):
    """
    The rules of one probe. *window*: in seconds.
    """

    @property
    def window(self) -> float: ...

    @property
    def kept_columns(self) -> tuple[Column, ...]: ...


@dataclass(frozen=True, slots=True)
class EngineCheck:
    """
    One check of every engine of a pod.

    *marks*: the columns of which a row has at least one if it is of an engine.
    """

    rules: EngineRules
    evaluate: Callable[[EngineView, Any], EngineOutcome]
    marks: tuple[Column, ...]

    def outcomes(self, history: ScrapeHistory) -> tuple[tuple[str, EngineOutcome], ...]:
        """
        Return the outcome of each engine by its name; empty without a page of a model server.
        """
        if history.engines is None:
            return ()
        views = engine_views(history.engines, self.marks)
        found = tuple((view.name, self.evaluate(view, self.rules)) for view in views)
        return (*found, (POD_ROW, TOO_MANY_ENGINES)) if history.engines.left_out else found

    def gist(self, history: ScrapeHistory) -> object:
        """
        Return what of a history changes a verdict, so that other pages cause no evaluation.
        """
        why = history.last_failure.why if history.last_failure is not None else ""
        return why, tuple((name, gist_of(outcome)) for name, outcome in self.outcomes(history))


@dataclass(frozen=True, slots=True)
class PodEngines:
    """
    A Ready pod and its engines; *unknown*: why none of them can be evaluated now.
    """

    pod: Pod
    outcomes: tuple[tuple[str, EngineOutcome], ...] = ()
    unknown: EngineUnknown | None = None


def build_scrape(
    check: EngineCheck, parameters: EngineParameters, flags: Mapping[str, str], *, pages: int = 0
) -> Scrape:
    """
    Build the request for the check's columns of Ready pods.

    *pages*: how many pages are kept, if these reach further back than the window.
    """
    columns = tuple(dict.fromkeys((*check.marks, *check.rules.kept_columns)))
    interval = float(flags[parameters.interval_flag])
    port = int(flags[parameters.port_flag])
    keeper = EngineKeeper(
        columns,
        retention=timedelta(seconds=max(check.rules.window, pages * interval)),
        max_gap=max_gap(parameters, flags),
    )
    families = dict.fromkeys(name for column in columns for name in column.families)
    return Scrape(
        families=tuple(families),
        pods=READY,
        port=port,
        keep=keeper,
        gist=check.gist,
        history=history_name(port),
    )


def max_gap(parameters: EngineParameters, flags: Mapping[str, str]) -> timedelta:
    """
    Return the longest distance of two pages between which a pod counts as observed.
    """
    return timedelta(seconds=2 * float(flags[parameters.interval_flag])) + SCRAPE_TOLERANCE


def history_name(port: int) -> str:
    return f"engines:{port}"


def find_pod_engines(
    snapshot: Snapshot, subject: Subject, check: EngineCheck, *, port: int
) -> Iterator[PodEngines]:
    """
    Find the engines of the set's Ready pods, each evaluated alone so that none hides behind others.
    """
    key = inference_set_key(subject.namespace, subject.name)
    for pod in filter(is_serving, snapshot.by_index(PODS, Pod, key)):
        history = snapshot.scrape_history(pod, history_name(port))
        if history is None:
            yield PodEngines(pod, unknown=NOT_READ_YET)
        elif history.last_failure is not None:
            yield PodEngines(pod, unknown=EngineUnknown(history.last_failure.why))
        else:
            outcomes = check.outcomes(history)
            yield PodEngines(pod, outcomes, unknown=None if outcomes else NO_MODEL_SERVER)
