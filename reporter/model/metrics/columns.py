"""
The numbers that are kept of a metrics page: one row of columns for each engine of the pod.
"""

from enum import StrEnum, unique

from msgspec import Struct


@unique
class Combine(StrEnum):
    """
    The way in which the series of one engine become one number.
    """

    COUNTER = "counter"  # the sum of all: each process counts its own
    GAUGE = "gauge"  # of the processes the highest, since each reports the whole; then the sum
    SHARE = "share"  # the highest of all


class Column(Struct, frozen=True, cache_hash=True, gc=False):
    """
    One number of each engine.

    *families*: alternative names of the family; the first that is on the page counts.
    *only*: a label, and what its value begins with. *ignored*: a label, and the values left out. A
    series that is left out counts as 0; without the family there is no number.
    """

    families: tuple[str, ...]
    combine: Combine
    only: tuple[str, str] | None = None
    ignored: tuple[str, frozenset[str]] | None = None
