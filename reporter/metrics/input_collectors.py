"""Collectors that compute their series at each scrape, from the reflectors and the scraper."""

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


class WatchCollector(Collector):
    """The state of every watch, one series for each kind."""

    def __init__(self, watches: Callable[[], Iterable[WatchReport]]) -> None:
        self._watches = watches

    def collect(self) -> Iterator[Metric]:
        """
        Yield a family for each declaration of watches, with a sample for each kind.

        The age of the last event has no sample before the first event.
        """
        reports = list(self._watches())
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


class ScrapeCollector(Collector):
    """
    The metrics pages to be read, by the outcome of the last attempt.

    *count_pages*: returns their number by outcome. *page_ages*: returns how old one may be, by path.
    """

    def __init__(self) -> None:
        self.count_pages: Callable[[], Mapping[str, int]] = dict
        self.page_ages: Callable[[], Mapping[str, timedelta]] = dict

    def collect(self) -> Iterator[Metric]:
        """
        Yield the number of pages by outcome, and the age that a page may reach in seconds, by path.
        """
        counts = self.count_pages().items()
        samples = (((outcome,), float(number)) for outcome, number in counts)
        yield make_family(declarations.SCRAPE_PAGES, samples)
        ages = self.page_ages().items()
        yield make_family(
            declarations.SCRAPE_PAGE_AGE, (((path,), age.total_seconds()) for path, age in ages)
        )


class PermissionReport(Struct, frozen=True):
    """
    The result of reviewing permissions.

    *is_missing*: by verb and resource. *unknown*: those whose last review had no answer.
    """

    is_missing: Mapping[tuple[str, str], bool] = field(default_factory=dict)
    unknown: int = 0


class PermissionCollector(Collector):
    """The permissions that are needed. *report*: returns what is known of them."""

    def __init__(self) -> None:
        self.report: Callable[[], PermissionReport] = PermissionReport

    def collect(self) -> Iterator[Metric]:
        """
        Yield 1 for each permission that is missing and 0 for the others, and the number of unknown ones.
        """
        report = self.report()
        yield make_family(declarations.MISSING_RIGHTS, report.is_missing.items())
        yield make_family(declarations.UNKNOWN_RIGHTS, [((), report.unknown)])


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
