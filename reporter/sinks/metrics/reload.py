"""The series of the overlay of the catalogue."""

from collections.abc import Callable
from enum import StrEnum, unique

from prometheus_client import CollectorRegistry, Counter, Gauge

from reporter.sinks.metrics.declarations.reporter import OVERLAY_REFUSED, OVERLAY_RELOADS


@unique
class ReloadResult(StrEnum):
    """The result of loading a changed overlay. The values are those of a label."""

    APPLIED = "applied"
    REFUSED = "refused"


class ReloadMetrics:
    """The series of reloads; they are zero without an overlay."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._reloads = Counter(
            OVERLAY_RELOADS.full_name,
            OVERLAY_RELOADS.help,
            OVERLAY_RELOADS.labels,
            registry=registry,
        )
        for result in ReloadResult:
            self._reloads.labels(result)
        self._refused = Gauge(OVERLAY_REFUSED.full_name, OVERLAY_REFUSED.help, registry=registry)

    def count(self, result: ReloadResult) -> None:
        self._reloads.labels(result).inc()

    def set_refused_function(self, is_refused: Callable[[], bool]) -> None:
        self._refused.set_function(lambda: float(is_refused()))
