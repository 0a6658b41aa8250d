"""The series of an answer: their labels and values."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from reporter.hub import queries
from reporter.model.states import COUNTED_STATES, State
from reporter.model.status_document import Replicas


class Series(Struct, gc=False):
    """
    One series of an instant vector. *value*: the time of the sample, and its value as text.

    *metric*: the labels as the engine wrote them, which are read when they are needed.
    """

    metric: msgspec.Raw
    value: tuple[float, str]

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels. Raises msgspec.DecodeError if they are not those of a series."""
        return _LABELS.decode(self.metric)


_LABELS = msgspec.json.Decoder(dict[str, str])

Source: TypeAlias = str
"""
The target labels of series, as one text: what one replica exposes to one scraper has the same ones.
"""

STATES: Mapping[str, State] = {each.key: each for each in COUNTED_STATES}
"""The states by the value of the label ``state``."""

MAX_LENGTH = 253
"""The longest cluster label that is taken: that of the name of an object."""

MAX_SHOWN = 100
MAX_COUNT = 2**31
MAX_TIME = 253_402_300_799
"""The last second of the year 9999, which is the last of datetime."""

UNIT, PAIR = "\x1f", "="


def source_of(labels: Mapping[str, str]) -> Source:
    """Return what identifies the source of a series. The cluster label is a part of it."""
    own = queries.METRIC_LABELS
    return UNIT.join(
        sorted(f"{name}{PAIR}{text}" for name, text in labels.items() if name not in own)
    )


def describe(labels: Mapping[str, str]) -> str:
    """Return a text by which a person finds where a series without a cluster label comes from."""
    uid = labels.get("cluster_uid", "")
    target = [f"{name}={labels[name]}" for name in ("job", "instance", "pod") if labels.get(name)]
    shown = ([f"cluster_uid={uid}"] if uid else []) + target
    text = " ".join(shown)[:MAX_SHOWN] or "no target labels"
    return text if text.isprintable() else ascii(text)


def text_of(labels: Mapping[str, str], name: str) -> str:
    """
    Return the value of a label, cut after MAX_LENGTH characters; empty without the label.

    Characters that a terminal would interpret are replaced with spaces.
    """
    text = labels.get(name, "")[:MAX_LENGTH]
    return text if text.isprintable() else "".join(c if c.isprintable() else " " for c in text)


def metric_of(labels: Mapping[str, str]) -> str:
    """
    Return the name of the metric of a series without the prefix of the roll-up; empty if it has no name.
    """
    return labels.get(queries.NAME, "").removeprefix(queries.PREFIX)


def parse_value(text: Any) -> float | None:
    """Return a finite number; None for anything else. A NaN would differ from itself for ever."""
    try:
        value = float(text)
    except (TypeError, ValueError):
        return None
    return value if math.isfinite(value) else None


def to_time(seconds: float | None) -> datetime | None:
    """
    Return the moment of a Unix time; None without one, before 1970 or after 9999, as clocks may be wrong.
    """
    if seconds is None or not 0 <= seconds <= MAX_TIME:
        return None
    return datetime.fromtimestamp(seconds, UTC)


def read_replicas(numbers: Mapping[str, int]) -> Replicas | None:
    """Return the replicas of a report; None if it does not say how many are desired."""
    return Replicas(**numbers) if "desired" in numbers else None
