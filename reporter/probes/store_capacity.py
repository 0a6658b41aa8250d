"""
Probe for episodes that have no place among the HealthEvents.

The leader reports what its limits reject. Another replica rejects nothing, nor does a store that is
switched off.
"""

from collections.abc import Iterable, Mapping

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES
from reporter.kinds.health_events import CAPACITY_PROBE, HEALTH_EVENTS, StoreLimit
from reporter.model.enums import TroubleKind
from reporter.model.verdicts import Active, Cause, Clear, ObjectRef, Trouble, Verdict
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest
from reporter.resources.check_result import involved_namespace
from reporter.snapshot.snapshot import Snapshot


NAMESPACE_FLAG = "release-namespace"
FLAGS = {StoreLimit.NODE: "store-max-per-node", StoreLimit.CLUSTER: "store-max"}
CODES = {StoreLimit.NODE: "NodeFull", StoreLimit.CLUSTER: "Full"}


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[Verdict]:
    """Return one verdict with a trouble for each limit that rejects episodes on this leader."""
    rejected = snapshot.store_rejections
    troubles = tuple(
        _trouble(limit, rejected[limit], request.flags)
        for limit in StoreLimit
        if limit in rejected
    )
    if not troubles:
        return [Clear(request.key())]
    involved = involved_namespace(snapshot, request.flags[NAMESPACE_FLAG])
    return [Active(request.key(), troubles, involved)]


def _trouble(limit: StoreLimit, rejected: int, flags: Mapping[str, str]) -> Trouble:
    flag = FLAGS[limit]
    where = flags[NAMESPACE_FLAG]
    is_own = flags["store"] == HEALTH_EVENTS.resource
    resource = HEALTH_EVENTS.group_resource if is_own else flags["store-resource"]
    return Trouble(
        cause=Cause(ObjectRef(resource, where, flag), CODES[limit]),
        kind=TroubleKind.FAILED,
        message_fields={
            "store": f"HealthEvents in {where}",
            "rejected": f"{rejected} announced {'episode is' if rejected == 1 else 'episodes are'}",
            "limit": f"--{flag}={flags[flag]}",
        },
    )


PROBE = Probe(
    ProbeSpec(
        name=CAPACITY_PROBE,
        parameters_type=ProbeParameters,
        message_fields=frozenset({"store", "rejected", "limit"}),
        cause_codes=frozenset(CODES.values()),
        optional_kinds=(NAMESPACES,),
        why_no_check=lambda _, flags: (
            "set --store=healthevents" if flags["store"] == "none" else ""
        ),
    ),
    evaluate,
)
