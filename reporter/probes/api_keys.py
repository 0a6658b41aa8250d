"""
Probe for API keys of a workload namespace that gateway auth's operator has not reconciled.

The operator does not document its condition types. So every condition with status False counts,
except types whose name describes something bad or transient. Messages of the operator may quote a
key, which must not get into an Event.
"""

import re
from collections.abc import Iterable

from msgspec.structs import replace

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES
from reporter.kinds.istio import ENVOY_FILTERS, EnvoyFilter
from reporter.kinds.kaito import API_KEYS, APIKey
from reporter.kinds.objects import namespace_key
from reporter.model.enums import TroubleKind
from reporter.model.redact import REMOVED
from reporter.model.verdicts import Cause, Trouble
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest, crds_of, one_verdict
from reporter.resources import check_result
from reporter.resources.check_result import CheckResult
from reporter.resources.conditions import (
    check_observed_generation,
    check_observed_generations,
    exclude_deleting,
    object_trouble,
    reason_text,
    with_condition,
)
from reporter.resources.gateways import is_owned_by_harness
from reporter.snapshot.snapshot import Snapshot


class APIKeysParameters(ProbeParameters, frozen=True):
    """
    The parameters of the probe for API keys.

    *well_when_false*: words in a condition's type by which False is its good status.
    """

    well_when_false: tuple[str, ...] = ()


EXPIRED = "Expired"
KEY_PATTERN = re.compile(
    r"(?<![\w+/=.-])(?=[\w+/=.-]*[a-z])(?=[\w+/=.-]*[A-Z])(?=[\w+/=.-]*\d)[\w+/=.-]{16,}"
    r"|[0-9a-f]{24,}"
)
"""
Text that may be key material: a long word of mixed case with digits, or a long hexadecimal number.

Names of Kubernetes objects have no capital letters and do not match.
"""


@one_verdict()
def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[CheckResult | None]:
    """
    Yield a result for each APIKey of the workload namespace; none if the CRD is not served.

    Without a key of the harness itself, a key that was deleted under a filter which still asks for it is
    trouble (Deleted, out).
    """
    if check_result.check_served(snapshot, API_KEYS):
        # Without the CRD, gateway auth is not installed: no trouble of this namespace.
        return
    namespace = request.subject.namespace
    keys = snapshot.by_index(API_KEYS, APIKey, namespace_key(namespace))
    if not any(map(is_owned_by_harness, keys)):
        yield _deleted_key_trouble(snapshot, namespace)
    for key in exclude_deleting(keys):
        ref = API_KEYS.ref(namespace, key.metadata.name)
        yield check_result.limit_to(
            check_result.check_decoded(snapshot, API_KEYS, namespace, key.metadata.name)
            or _evaluate_key(key, request.parameters.well_when_false),
            ref,
        )


def _deleted_key_trouble(snapshot: Snapshot, namespace: str) -> Trouble | None:
    """
    Return the trouble of a key that was deleted while a filter goes on to ask for it.

    The chart makes and removes both together.
    """
    deleted = sorted(
        ref
        for ref in snapshot.deleted_uids
        if ref.resource == API_KEYS.group_resource and ref.namespace == namespace
    )
    if not deleted:
        return None
    filters = snapshot.by_index(ENVOY_FILTERS, EnvoyFilter, namespace_key(namespace))
    asking = [
        each.metadata.name
        for each in exclude_deleting(filters)
        if each.spec.authorizes and is_owned_by_harness(each)
    ]
    if not asking:
        return None
    state = f"was deleted, so that nobody is let in by EnvoyFilter {asking[0]}"
    return Trouble(
        cause=Cause(deleted[0], "Deleted"),
        kind=TroubleKind.LOST,
        is_out=True,
        message_fields={"object": f"APIKey {deleted[0].name}", "state": state},
    )


def _evaluate_key(key: APIKey, well_when_false: Iterable[str]) -> CheckResult | None:
    if key.status.phase == EXPIRED:
        # The harness's key is rotated before it expires. A key of a user's own may expire on purpose.
        if not is_owned_by_harness(key):
            return None
        return object_trouble(API_KEYS, key, EXPIRED, TroubleKind.FAILED, "has expired")
    conditions = [
        condition
        for condition in key.status.conditions or ()
        if not any(word in condition.type for word in well_when_false)
    ]
    meta = key.metadata
    stale = check_observed_generations(conditions, meta, "APIKey")
    current = (c for c in conditions if not check_observed_generation(c, meta, "APIKey"))
    unmet = min(
        (c for c in current if c.status == "False"), key=lambda each: each.type, default=None
    )
    if unmet is not None:
        state = f"is not reconciled ({KEY_PATTERN.sub(REMOVED, reason_text(unmet))})"
        trouble = object_trouble(API_KEYS, key, "NotReconciled", TroubleKind.FAILED, state)
        trouble = with_condition(trouble, unmet, meta)
        return replace(trouble, foreign_text=KEY_PATTERN.sub(REMOVED, trouble.foreign_text))
    if stale is not None:
        return stale
    if key.status.phase == "Pending" or not (key.status.phase or conditions):
        return object_trouble(API_KEYS, key, "Pending", TroubleKind.STARTING, "is still Pending")
    return None


PROBE = Probe(
    ProbeSpec(
        name="api-keys",
        parameters_type=APIKeysParameters,
        message_fields=frozenset({"object", "state"}),
        cause_codes=frozenset({"NotReconciled", "Pending", "Deleted", EXPIRED}),
        required_kinds=(API_KEYS,),
        consulted_kinds=(ENVOY_FILTERS,),
        optional_kinds=(NAMESPACES,),
        required_crds=crds_of(API_KEYS),
    ),
    evaluate,
)
