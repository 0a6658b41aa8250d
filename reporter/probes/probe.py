"""The interface of a probe."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

from msgspec import Struct, field

from reporter.catalogue.entries import ProbeSpec
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import EMPTY_MAP, Verdict
from reporter.snapshot.snapshot import Snapshot


class NoParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The parameters of a probe that takes none."""


class ProbeRequest(Struct, frozen=True, gc=False):
    """
    One reason and one subject to evaluate, with the parameters of the reason's catalogue entry.

    *flags*: values of the process's flags by name, for parameters that name one. *unwatched*: the
    optional sources' kinds whose watch is lost for too long, by resource, with why. *now*: the time of
    the pass. A verdict that changes with it alone is renewed by the next resync.
    """

    reason: Reason
    subject: Subject
    parameters: Any
    flags: Mapping[str, str]
    unwatched: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAP)
    now: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    def key(self, item: str = "") -> FindingKey:
        return FindingKey(self.subject, self.reason, item)


EvaluateFunc: TypeAlias = Callable[[Snapshot, ProbeRequest], Iterable[Verdict]]


class Probe(Struct, frozen=True):
    """
    A pure function and its specification, which the catalogue needs to check entries against.

    The function is called only while every required kind is listed and watched.
    """

    spec: ProbeSpec
    evaluate: EvaluateFunc
