"""
The flags of the HealthEvent store.
"""

# ruff: noqa: RUF009  (each call declares a field, as dataclasses.field does)

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from reporter.settings.enums import StoreBackend
from reporter.settings.flags import FlagGroup, flag
from reporter.settings.parsers import choice_parser, integer_parser, seconds_parser


_store = partial(flag, FlagGroup.STORE)

MAX_OBJECTS = 100_000


@dataclass(frozen=True, kw_only=True)  # a class cannot have two bases with slots
class StoreSettings:
    """
    The part of the settings about the store.
    """

    store: StoreBackend = _store(
        "none",
        choice_parser(StoreBackend),
        "Keep each episode as an object: none or healthevents. Needs CRD and RBAC.",
    )
    store_max: int = _store(
        "1000",
        integer_parser(least=1, most=MAX_OBJECTS),
        "HealthEvents at most; those that are over make room for others.",
    )
    store_max_per_node: int = _store(
        "50",
        integer_parser(least=1, most=MAX_OBJECTS),
        "HealthEvents at most that are bound to one node.",
    )
    store_retention: timedelta = _store(
        "86400",
        seconds_parser(least=60),
        "Delete a HealthEvent this long after the end of its episode.",
    )
