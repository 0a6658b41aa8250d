"""The series of silences, from the last evaluation."""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice

from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from reporter.evaluation.evaluation import Evaluation
from reporter.metrics.declarations import SILENCE_UNTIL, SILENCES
from reporter.metrics.input_collectors import make_family
from reporter.model.silences import Silence, SilenceState


MAX_SERIES = 500
"""
The silences that have a series of their own: annotations of many objects must not fill a database.
"""


class SilenceCollector(Collector):
    """
    The silences of the last evaluation: their number by state, and the end of each.

    *evaluation*: returns it, at each scrape.
    """

    def __init__(self, evaluation: Callable[[], Evaluation]) -> None:
        self._evaluation = evaluation

    def collect(self) -> Iterator[Metric]:
        """
        Yield the number of silences by state, and the Unix time of the end of the first MAX_SERIES.
        """
        every = self._evaluation().silences.all
        counts = Counter(each.state for each in every)
        yield make_family(SILENCES, (((state,), counts[state]) for state in SilenceState))
        values = {_labels(each): each.until for each in islice(every, MAX_SERIES)}
        yield make_family(
            SILENCE_UNTIL,
            ((labels, until.timestamp() if until else 0.0) for labels, until in values.items()),
        )


def _labels(silence: Silence) -> tuple[str, ...]:
    return (
        silence.namespace,
        silence.inferenceset,
        silence.reason_text,
        silence.by,
        silence.origin,
        silence.state,
    )
