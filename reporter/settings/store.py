"""The flags of the HealthEvent store."""

# ruff: noqa: RUF009  (each call declares a field, as dataclasses.field does)

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from reporter.kinds.nvsentinel import DEFAULT_RESOURCE, KINDS
from reporter.kinds.productionstack import GROUP
from reporter.settings import parsers
from reporter.settings.enums import StoreBackend
from reporter.settings.flags import RUN_ALONE, FlagGroup, flag


_store = partial(flag, FlagGroup.STORE, taken_by=RUN_ALONE)

MAX_OBJECTS = 100_000


def parse_store_resource(text: str) -> str:
    """
    Return the name of a CRD of NVSentinel's. The program's own kind is refused: it is another backend.
    """
    resource, _, group = parsers.parse_object_name(text).partition(".")
    if resource not in KINDS or "." not in group or group == GROUP:
        raise ValueError(f"must be {' or '.join(KINDS)}, a dot and the API group of NVSentinel")
    return text


@dataclass(frozen=True, kw_only=True)  # a class cannot have two bases with slots
class StoreSettings:
    """
    The settings of the HealthEvent store: its kind, its limits and how long objects are kept.
    """

    store: StoreBackend = _store(
        "none",
        parsers.choice_parser(StoreBackend),
        "Keep episodes as objects: none, healthevents, nvsentinel (experimental).",
    )
    store_resource: str = _store(
        DEFAULT_RESOURCE,
        parse_store_resource,
        "Resource that --store=nvsentinel writes, as its CRD is named.",
    )
    store_max: int = _store(
        "1000",
        parsers.integer_parser(least=1, most=MAX_OBJECTS),
        "HealthEvents at most; those that are over make room for others.",
    )
    store_max_per_node: int = _store(
        "50",
        parsers.integer_parser(least=1, most=MAX_OBJECTS),
        "HealthEvents at most that are bound to one node.",
    )
    store_retention: timedelta = _store(
        "86400",
        parsers.seconds_parser(least=60),
        "Delete a HealthEvent this long after the end of its episode.",
    )
