"""The declaration of one metric."""

from enum import StrEnum, unique

from msgspec import Struct


PREFIX = "productionstack_status_reporter_"


@unique
class MetricType(StrEnum):
    """The types of the exposition format that the reporter uses."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class MetricDeclaration(Struct, frozen=True):
    """
    One metric.

    *name*: without the prefix; a counter's ends in ``_total``. *buckets*: the upper bounds of a
    histogram, without +Inf.
    """

    name: str
    type: MetricType
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()

    @property
    def full_name(self) -> str:
        return PREFIX + self.name
