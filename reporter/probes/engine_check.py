"""
The part that the probes of engines share: what they read, and the engines of a set's Ready pods.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Annotated, Any, Protocol, TypeAlias

from msgspec import Meta, Struct, field

from reporter.kinds.core import Pod
from reporter.resources.engine_view import (
    EngineFamilies,
    EngineOutcome,
    EngineUnknown,
    EngineView,
    engine_views,
    gist_of,
)
from reporter.scrape.columns import Column
from reporter.scrape.engine_keeper import MAX_ENGINES
from reporter.scrape.page_rows import POD_ROW
from reporter.scrape.samples import ScrapeHistory
from reporter.scrape.spans import MAX_PAGES
from reporter.snapshot.loading import NOT_READ, has_page, is_serving
from reporter.snapshot.snapshot import Snapshot


Seconds: TypeAlias = Annotated[float, Meta(gt=0, extra={"is": "a number of seconds above 0"})]
Count: TypeAlias = Annotated[float, Meta(ge=0, extra={"is": "a number, 0 or more"})]
Pages: TypeAlias = Annotated[
    float, Meta(ge=0, le=MAX_PAGES, extra={"is": f"a number from 0 to {MAX_PAGES}"})
]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1, extra={"is": "a share from 0 to 1"})]


# Not brief: a pod without an address is never read.
NOT_READ_YET = EngineUnknown("its page was not read yet")
IN_HOST_NETWORK = EngineUnknown(NOT_READ)
NO_MODEL_SERVER = EngineUnknown("its page has none of the metrics of a model server")
TOO_MANY_ENGINES = EngineUnknown(f"its page has more than {MAX_ENGINES} engines")

WELL = "well"
"""The gist of a page that was read and has engines, each without trouble."""


class EngineParameters(
    Struct,
    frozen=True,
    forbid_unknown_fields=True,
    rename="kebab",
    kw_only=True,
    cache_hash=True,
):
    """
    The parameters of every probe of engines. The hash is kept, as each pass looks checks up by them.
    """

    interval_flag: str = "scrape-interval-seconds"
    port_flag: str = "weight-download-metric-port"
    families: EngineFamilies = field(default_factory=EngineFamilies)

    @property
    def kept_pages(self) -> int:
        """The number of pages that are kept, if these reach further back than the window."""
        return 0


class EngineRules(Protocol):
    """The rules of one probe. *window*: in seconds."""

    @property
    def window(self) -> float: ...

    @property
    def kept_columns(self) -> tuple[Column, ...]: ...


class EngineCheck(Struct, frozen=True):
    """
    One check of every engine of a pod.

    *marks*: the columns of which a row has at least one if it is of an engine. *history_name*: the
    history that it reads.
    """

    rules: EngineRules
    evaluate: Callable[[EngineView, Any], EngineOutcome]
    marks: tuple[Column, ...]
    history_name: str

    def outcomes(self, history: ScrapeHistory) -> tuple[tuple[str, EngineOutcome], ...]:
        """
        Return the outcome of each engine by its name; empty without a page of a model server.
        """
        if history.engines is None:
            return ()
        views = engine_views(history.engines, self.marks)
        found = tuple([(view.name, self.evaluate(view, self.rules)) for view in views])
        return (*found, (POD_ROW, TOO_MANY_ENGINES)) if history.engines.left_out else found

    def gist(self, history: ScrapeHistory) -> object:
        """Return what of a history changes a verdict, so that other pages cause no evaluation."""
        failure, outcomes = history.last_failure, self.outcomes(history)
        if failure is None and outcomes and all(outcome is None for _, outcome in outcomes):
            return WELL
        why = failure.why if failure is not None else ""
        return why, tuple((name, gist_of(outcome)) for name, outcome in outcomes)


class PodEngines(Struct, frozen=True):
    """A Ready pod and its engines; *unknown*: why none of them can be evaluated now."""

    pod: Pod
    outcomes: tuple[tuple[str, EngineOutcome], ...] = ()
    unknown: EngineUnknown | None = None


def are_well(snapshot: Snapshot, pods: Iterable[Pod], check: EngineCheck) -> bool:
    """
    Return whether `find_pod_engines` finds neither trouble nor anything unknown.

    A full pass asks this of each pod, so it looks up what was found when the page was read, and checks
    last if the pod counts.
    """
    name, gist = check.history_name, check.gist
    for pod in pods:
        if snapshot.scrape_gist(pod, name, gist) != WELL and is_serving(pod):
            return False
    return True


def find_pod_engines(
    snapshot: Snapshot, pods: Iterable[Pod], check: EngineCheck
) -> Iterator[PodEngines]:
    """
    Find the engines of the Ready ones of *pods*, each evaluated alone so that none hides behind others.
    """
    for pod in filter(is_serving, pods):
        history = snapshot.scrape_history(pod, check.history_name)
        if not has_page(pod):
            yield PodEngines(pod, unknown=IN_HOST_NETWORK)
        elif history is None:
            yield PodEngines(pod, unknown=NOT_READ_YET)
        elif history.last_failure is not None:
            yield PodEngines(pod, unknown=EngineUnknown(history.last_failure.why))
        else:
            outcomes = check.outcomes(history)
            yield PodEngines(pod, outcomes, unknown=None if outcomes else NO_MODEL_SERVER)
