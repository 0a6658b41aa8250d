"""One scrape of a metrics page, as a Prometheus server reads it."""

from prometheus_client.parser import text_string_to_metric_families

from reporter.metrics.declarations import FINDING_LABELS
from reporter.metrics.input_collectors import WatchReport
from reporter.metrics.page import Metrics
from tests.support.metrics_text import metrics_text


PREFIX = "productionstack_status_reporter_"


def a_watch(**changes) -> WatchReport:
    given = {"kind": "pods", "watching": True, "last_event_age": 1.5, "objects": 3, "relists": 1}
    counted = {"restarts": 2, "decode_errors": 4, "missed_events": 5, "undecodable": 6}
    return WatchReport(**{**given, **counted, **changes})


class MetricsPage:
    """One scrape."""

    def __init__(self, metrics: Metrics) -> None:
        self.text = metrics_text(metrics)
        self.families = list(text_string_to_metric_families(self.text))
        self.samples = [sample for family in self.families for sample in family.samples]

    def value(self, metric: str, **labels: str) -> float:
        (found,) = (
            s.value for s in self.samples if (s.name, s.labels) == (PREFIX + metric, labels)
        )
        return found

    def state(self, state: str, key) -> float:
        """Return the value of reason_state for the namespace of a key."""
        of_key = (key.subject.layer, key.reason, key.subject.namespace)
        (found,) = (
            s.value
            for s in self.samples
            if s.name == f"{PREFIX}reason_state"
            and (s.labels["state"], *(s.labels[each] for each in FINDING_LABELS))
            == (state, *of_key)
        )
        return found

    def namespaces(self) -> set[str]:
        return {s.labels[FINDING_LABELS[2]] for s in self.samples if FINDING_LABELS[2] in s.labels}

    def high(self, state: str) -> set[tuple[str, str]]:
        """Return the reasons and namespaces that reason_state shows to be in this state."""
        return {
            (s.labels["reason"], s.labels["workload_namespace"])
            for s in self.samples
            if s.name == f"{PREFIX}reason_state" and s.labels["state"] == state and s.value
        }
