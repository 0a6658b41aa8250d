"""
Probe for required CRDs that the API server does not serve; each missing CRD has its own Event.

Presence comes from discovery alone. So no right to read CRDs is needed, and a CRD that is being deleted
counts as missing from the moment it is no longer served.
"""

from collections.abc import Iterable

from msgspec import Struct

from reporter.catalogue.entries import ProbeSpec
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.model import verdicts
from reporter.model.enums import TroubleKind
from reporter.model.observations import CRDS_RESOURCE, CRDPresence
from reporter.probes.probe import Probe, ProbeParameters, ProbeRequest
from reporter.resources.conditions import absence_of
from reporter.snapshot.snapshot import Snapshot


class RequiredCRD(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    One CRD without which the stack does not work.

    *crd*: ``resource.group``. *versions*: one of these must be served; if empty, any version will do.
    *chart*: the chart that ships it. *with_flag*: required only while this flag is set.
    *with_namespace_flag*: required only while the namespace that this flag names exists.
    """

    crd: str
    chart: str
    versions: tuple[str, ...] = ()
    with_flag: str = ""
    with_namespace_flag: str = ""


class CRDParameters(ProbeParameters, frozen=True):
    """The CRDs without which the stack does not work."""

    required: tuple[RequiredCRD, ...]


def evaluate(snapshot: Snapshot, request: ProbeRequest) -> Iterable[verdicts.Verdict]:
    """
    Yield one verdict for each required CRD, under a key whose item is the CRD's name.

    A CRD is left out while its flag is not set, or its namespace does not exist. It is Unknown until
    discovery has answered.
    """
    # Those that depend on a namespace come last: without namespaces the others are known all the same.
    for required in sorted(
        request.parameters.required, key=lambda each: bool(each.with_namespace_flag)
    ):
        if not required.with_flag or request.flags[required.with_flag]:
            yield from _evaluate_crd(snapshot, required, request)


def _evaluate_crd(
    snapshot: Snapshot, required: RequiredCRD, request: ProbeRequest
) -> Iterable[verdicts.Verdict]:
    key, presence = request.key(required.crd), snapshot.presence(required.crd)
    if required.with_namespace_flag and not _is_served(presence, required):
        not_listed = snapshot.why_not_synced(NAMESPACES)
        namespace = request.flags[required.with_namespace_flag]
        ref = NAMESPACES.ref("", namespace)
        is_absent = snapshot.get(NAMESPACES, Namespace, "", namespace) is None
        # One that was deleted while the reporter watched is missed, with its Deployments.
        if not not_listed and is_absent and not absence_of(snapshot, ref).was_deleted:
            return
        if not_listed:
            yield verdicts.Unknown(key, f"{required.crd}: {not_listed}")
            return
    if not presence.is_known:
        why = presence.why_unknown or "one answer of discovery lacks it, a second is awaited"
        yield verdicts.Unknown(key, f"{required.crd}: {why}")
    elif _is_served(presence, required):
        yield verdicts.Clear(key)
    else:
        uid = snapshot.deleted_uids.get(verdicts.ObjectRef(CRDS_RESOURCE, "", required.crd), "")
        involved = verdicts.InvolvedObject(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition", required.crd, uid
        )
        yield verdicts.Active(key, (_missing_trouble(presence, required),), involved)


def _is_served(presence: CRDPresence, required: RequiredCRD) -> bool:
    served = presence.versions or ()
    return bool(set(required.versions) & set(served)) if required.versions else bool(served)


def _missing_trouble(presence: CRDPresence, required: RequiredCRD) -> verdicts.Trouble:
    if presence.versions:
        code = "VersionNotServed"
        state = (
            f"is served as {', '.join(presence.versions)} only,"
            f" needed is {' or '.join(required.versions)}"
        )
    else:
        code = "Removed" if presence.ever_served else "NotInstalled"
        state = "was removed" if presence.ever_served else "is not installed"
    return verdicts.Trouble(
        cause=verdicts.Cause(verdicts.ObjectRef(CRDS_RESOURCE, "", required.crd), code),
        kind=(
            TroubleKind.LOST if presence.was_served(required.versions) else TroubleKind.DECLARED
        ),
        is_out=True,
        since=presence.since,
        message_fields={"object": f"CRD {required.crd}", "state": state, "chart": required.chart},
    )


PROBE = Probe(
    ProbeSpec(
        name="crds",
        parameters_type=CRDParameters,
        message_fields=frozenset({"object", "state", "chart"}),
        cause_codes=frozenset({"NotInstalled", "Removed", "VersionNotServed"}),
        consulted_kinds=(NAMESPACES,),
        observed_crds=lambda p: frozenset(each.crd for each in p.required),
    ),
    evaluate,
)
