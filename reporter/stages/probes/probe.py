"""
The shape of a probe.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from msgspec import Struct, field

from reporter.model.entries import ProbeSpec
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import EMPTY_MAP, Verdict
from reporter.stages.snapshot.snapshot import Snapshot


class NoParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    Of a probe that needs to be told nothing.
    """


class ProbeRequest(Struct, frozen=True):
    """
    What a probe is asked: a reason about a subject, with the entry's parameters.

    *flags*: values of the process's flags by name, for parameters that name one. *unwatched*: of
    the kinds that sources add, those of which nothing was told for too long, with why.
    """

    reason: Reason
    subject: Subject
    parameters: Any
    flags: Mapping[str, str]
    unwatched: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAP)

    def key(self, item: str = "") -> FindingKey:
        return FindingKey(self.subject, self.reason, item)


EvaluateFunc: TypeAlias = Callable[[Snapshot, ProbeRequest], Iterable[Verdict]]


@dataclass(frozen=True, slots=True)
class Probe:
    """
    A pure function with what the catalogue must know of it.

    It is only asked when every required kind can be seen.
    """

    spec: ProbeSpec
    evaluate: EvaluateFunc
