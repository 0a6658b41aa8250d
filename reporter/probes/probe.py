"""The interface of a probe."""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import wraps
from typing import Any, TypeAlias

from msgspec import Struct, field

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.enums import Reason
from reporter.model.subjects import FindingKey, Subject
from reporter.model.verdicts import EMPTY_MAP, Verdict
from reporter.resources.check_result import CheckResult, check_served, to_verdict
from reporter.snapshot.noted_reads import DIFFERS, ReadNotes
from reporter.snapshot.snapshot import Snapshot


class ProbeParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """The base of the parameters that an entry of the catalogue gives to its probe; it has none."""


class ProbeRequest(Struct, frozen=True, gc=False):
    """
    One reason and one subject to evaluate, with the parameters of the reason's catalogue entry.

    *flags*: values of the process's flags by name, for parameters that name one. *at*: the time of the
    pass. *unwatched*: the optional sources' kinds whose watch is lost for too long, by resource, with
    why. *notes*: get what is read, unless it is None.
    """

    reason: Reason
    subject: Subject
    parameters: Any
    flags: Mapping[str, str]
    at: datetime
    unwatched: Mapping[str, str] = field(default_factory=lambda: EMPTY_MAP)
    notes: ReadNotes | None = None

    @property
    def now(self) -> datetime:
        """The time of the pass. A verdict that changes with it alone is renewed by the next resync."""
        if self.notes is not None:
            self.notes.add(DIFFERS)
        return self.at

    def key(self, item: str = "") -> FindingKey:
        """
        Return the key of the finding; *item* tells apart several of one reason, such as CRDs or checks.
        """
        return FindingKey(self.subject, self.reason, item)


CheckFunc: TypeAlias = Callable[[Snapshot, ProbeRequest], Iterable[CheckResult | None]]
EvaluateFunc: TypeAlias = Callable[[Snapshot, ProbeRequest], Iterable[Verdict]]


def one_verdict(*requires: ResourceKind) -> Callable[[CheckFunc], EvaluateFunc]:
    """
    Turn a function that returns the results of checks into that of a probe, with their sum as its verdict.

    The verdict is Unknown while a kind of *requires* is not served.
    """

    def decorate(check: CheckFunc) -> EvaluateFunc:
        @wraps(check)
        def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
            not_served = check_served(snapshot, *requires)
            results = [not_served] if not_served else check(snapshot, request)
            return [to_verdict(snapshot, request.key(), results)]

        return evaluate

    return decorate


def crds_of(*kinds: ResourceKind) -> Callable[[Any], frozenset[str]]:
    """Return a function for *required_crds* of a spec: the CRDs of *kinds*, whatever the parameters."""
    crds = frozenset(kind.group_resource for kind in kinds)
    return lambda _: crds


class Probe(Struct, frozen=True):
    """
    A pure function and its specification, which the catalogue needs to check entries against.

    The function is called only while every required kind is listed and watched.
    """

    spec: ProbeSpec
    evaluate: EvaluateFunc
