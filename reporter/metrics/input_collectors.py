"""The series of all that is read: watches, permissions and metrics pages, as of each scrape."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta

from msgspec import Struct, field
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from reporter.metrics import declarations


class WatchReport(Struct, frozen=True):
    """
    The state of the watch of one kind.

    *last_event_age*: seconds since the watch last delivered anything, None before the first time.
    *undecodable*: objects whose newest version could not be decoded. *served*: False only where
    discovery finds that the kind is not.
    """

    kind: str
    watching: bool
    last_event_age: float | None
    objects: int
    relists: int
    restarts: int
    decode_errors: int
    missed_events: int
    undecodable: int = 0
    served: bool = True


class PermissionReport(Struct, frozen=True):
    """
    The result of reviewing permissions.

    *is_missing*: by verb and resource. *unknown*: those whose last review had no answer.
    """

    is_missing: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    unknown: int = 0


class PageReport(Struct, frozen=True):
    """
    The metrics pages of model pods that are to be read.

    *counts*: their number by the outcome of the last attempt. *ages*: how old one may be, by path.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    ages: Mapping[str, timedelta] = field(default_factory=dict)


class InputReport(Struct, frozen=True):
    """The state of all that is read, at one moment. *pages*: None where no page is ever read."""

    watches: Sequence[WatchReport] = ()
    permissions: PermissionReport = PermissionReport()
    pages: PageReport | None = None


class InputCollector(Collector):
    """Collects the series of what *report* returns at each scrape."""

    def __init__(self, report: Callable[[], InputReport]) -> None:
        self._report = report

    def collect(self) -> Iterator[Metric]:
        """Yield the families of watches, permissions and pages."""
        report = self._report()
        yield from _watch_families(report.watches)
        permissions = report.permissions
        yield make_family(declarations.MISSING_RIGHTS, permissions.is_missing.items())
        yield make_family(declarations.UNKNOWN_RIGHTS, [((), permissions.unknown)])
        if report.pages is not None:
            yield from _page_families(report.pages)


def _watch_families(reports: Sequence[WatchReport]) -> Iterator[Metric]:
    """
    Yield a family for each declaration of watches, with a sample for each kind.

    The age of the last event has no sample before the first event.
    """
    for declaration, value_of in _WATCH_VALUES.items():
        values = ((report.kind, value_of(report)) for report in reports)
        yield make_family(
            declaration, (((kind,), value) for kind, value in values if value is not None)
        )


_WATCH_VALUES: Mapping[declarations.MetricDeclaration, Callable[[WatchReport], float | None]] = {
    declarations.KIND_SERVED: lambda report: report.served,
    declarations.WATCH_UP: lambda report: report.watching,
    declarations.WATCH_LAST_EVENT_AGE: lambda report: report.last_event_age,
    declarations.OBJECTS: lambda report: report.objects,
    declarations.RELISTS: lambda report: report.relists,
    declarations.WATCH_RESTARTS: lambda report: report.restarts,
    declarations.WATCH_MISSED: lambda report: report.missed_events,
    declarations.DECODE_ERRORS: lambda report: report.decode_errors,
    declarations.UNDECODABLE_OBJECTS: lambda report: report.undecodable,
}


def _page_families(pages: PageReport) -> Iterator[Metric]:
    """Yield the number of pages by outcome, and the age in seconds that one may reach, by path."""
    counts = (((outcome,), float(number)) for outcome, number in pages.counts.items())
    yield make_family(declarations.SCRAPE_PAGES, counts)
    ages = (((path,), age.total_seconds()) for path, age in pages.ages.items())
    yield make_family(declarations.SCRAPE_PAGE_AGE, ages)


def make_family(
    declaration: declarations.MetricDeclaration, samples: Iterable[tuple[Sequence[str], float]]
) -> Metric:
    """
    Return the family of a declaration with its samples: the values of its labels, and the value.

    A declaration that is no counter becomes a gauge; histograms are not collected this way.
    """
    counts = declaration.type is declarations.MetricType.COUNTER
    family_type = CounterMetricFamily if counts else GaugeMetricFamily
    family: CounterMetricFamily | GaugeMetricFamily = family_type(
        declaration.full_name, declaration.help, labels=declaration.labels
    )
    for labels, value in samples:
        family.add_metric(labels, float(value))
    return family
