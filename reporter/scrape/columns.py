"""The numbers that are kept of a metrics page: one row of columns for each engine of the pod."""

from enum import StrEnum, unique

from msgspec import Struct


@unique
class Combine(StrEnum):
    """The way in which the series of one engine become one number."""

    COUNTER = "counter"  # the sum of all: each process counts its own
    GAUGE = "gauge"  # of the processes the highest, since each reports the whole; then the sum
    SHARE = "share"  # the highest of all
    SUM = "sum"  # of all, so that each process's change is one; nothing else is told from it


class Column(Struct, frozen=True, cache_hash=True, gc=False):
    """
    One number of each engine.

    *families*: alternative names of the family; the first that is on the page counts.
    *only*: a label, and what its value may begin with. *among*: a label, and its values that count. A
    series that is left out counts as 0; without the family there is no number.
    """

    families: tuple[str, ...]
    combine: Combine
    only: tuple[str, tuple[str, ...]] | None = None
    among: tuple[str, frozenset[str]] | None = None
