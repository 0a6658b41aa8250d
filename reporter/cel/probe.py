"""
Probe for the objects of a kind that a catalogue declares, by expressions in CEL.

What reads and evaluates expressions is imported once there is one: most catalogues have none.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from reporter.catalogue.entries import GivenEntry, Preparation, ProbeSpec
from reporter.cel.parameters import CelParameters
from reporter.kinds.core import NAMESPACES
from reporter.kinds.declared import DeclaredKind
from reporter.kinds.resource_kind import ResourceKind
from reporter.model.verdicts import Verdict
from reporter.probes.probe import Probe, ProbeRequest
from reporter.snapshot.snapshot import Snapshot


if TYPE_CHECKING:
    from reporter.cel.compile import CelReason


def _prepare(entries: Sequence[GivenEntry], kinds: Mapping[str, DeclaredKind]) -> Preparation:
    from reporter.cel.preparation import prepare_entries  # noqa: PLC0415

    return prepare_entries(entries, kinds)


def _evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    from reporter.cel.verdict import evaluate  # noqa: PLC0415

    return evaluate(snapshot, request)


def _kinds_of(
    reason: "CelReason",
) -> tuple[tuple[ResourceKind, ...], tuple[ResourceKind, ...]]:
    consulted = (*reason.lookups.values(), *reason.needed_by)
    return (reason.kind.watched,), tuple(dict.fromkeys(each.watched for each in consulted))


PROBE = Probe(
    ProbeSpec(
        name="cel",
        parameters_type=CelParameters,
        message_fields=frozenset({"object", "name", "state", "count"}),
        any_cause_code=True,
        optional_kinds=(NAMESPACES,),
        prepare=_prepare,
        kinds_of=_kinds_of,
    ),
    _evaluate,
)
