"""The metrics page of a process that a test tells whether it leads, and the page as a text."""

from collections.abc import Callable, Iterable

from reporter.catalogue.entries import Catalogue
from reporter.kube.leadership import NoElection
from reporter.metrics.input_collectors import InputReport
from reporter.metrics.page import Metrics
from reporter.metrics.process import ProcessMetrics
from reporter.model.enums import Reason
from reporter.process.clock import Clock


class ToldLeadership(NoElection):
    """Leadership that a test gives and takes, for what only asks about it."""

    def __init__(self, *, is_leader: bool) -> None:
        self.is_leader = is_leader

    def holds_lease(self) -> bool:
        return self.is_leader


def some_metrics(
    catalogue: Catalogue,
    inputs: Callable[[], InputReport] = InputReport,
    *,
    leads: bool = False,
) -> Metrics:
    return Metrics(catalogue, inputs, ToldLeadership(is_leader=leads), Clock())


def leading_metrics(
    catalogue: Catalogue,
    inputs: Callable[[], InputReport] = InputReport,
    *,
    reading: Iterable[Reason] = (),
) -> Metrics:
    """Return the metrics of a process that leads, and has read the Events before its first pass."""
    metrics = some_metrics(catalogue, inputs, leads=True)
    metrics.show_findings(dict, knows_episodes=lambda: True, reading=reading)
    return metrics


def metrics_text(metrics: ProcessMetrics) -> str:
    """Return the page as Prometheus reads it without an Accept header."""
    return metrics.expose("").encode().decode()
