"""
Whether a required CRD is served, each missing one with an Event of its own.

Presence comes from discovery alone, so no right to read CRDs is needed, and one that is being
deleted counts from the moment it is not served any more.
"""

from collections.abc import Iterable

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.enums import TroubleKind
from reporter.model.kinds.core.namespaces import NAMESPACES, Namespace
from reporter.model.observations import CRDPresence
from reporter.model.verdicts import (
    Active,
    Cause,
    Clear,
    InvolvedObject,
    ObjectRef,
    Trouble,
    Unknown,
    Verdict,
)
from reporter.stages.probes.probe import Probe, ProbeRequest
from reporter.stages.snapshot.snapshot import Snapshot


class RequiredCRD(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    *crd*: ``resource.group``. *versions*: any of these will do; none given: whichever is served.

    *chart*: what ships it. *with_flag*: required only while this flag is not empty, and
    *with_namespace_flag*: only while the namespace that this flag names exists.
    """

    crd: str
    chart: str
    versions: tuple[str, ...] = ()
    with_flag: str = ""
    with_namespace_flag: str = ""


class CRDParameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    The CRDs without which the stack cannot work.
    """

    required: tuple[RequiredCRD, ...]


def evaluate(snapshot: Snapshot, question: ProbeRequest) -> Iterable[Verdict]:
    for wanted in question.parameters.required:
        if not wanted.with_flag or question.flags[wanted.with_flag]:
            yield from _evaluate_crd(snapshot, wanted, question)


def _evaluate_crd(
    snapshot: Snapshot, wanted: RequiredCRD, question: ProbeRequest
) -> Iterable[Verdict]:
    key, presence = question.key(wanted.crd), snapshot.presence(wanted.crd)
    if wanted.with_namespace_flag:
        unlisted = snapshot.why_not_synced(NAMESPACES)
        namespace = question.flags[wanted.with_namespace_flag]
        if not unlisted and snapshot.get(NAMESPACES, Namespace, "", namespace) is None:
            return
        if unlisted and not _is_served(presence, wanted):
            yield Unknown(key, f"{wanted.crd}: {unlisted}")
            return
    if not presence.is_known:
        why = presence.why_unknown or "one answer of discovery lacks it, a second is awaited"
        yield Unknown(key, f"{wanted.crd}: {why}")
    elif _is_served(presence, wanted):
        yield Clear(key)
    else:
        uid = snapshot.deleted_uids.get(_crd_ref(wanted), "")
        involved = InvolvedObject(
            "apiextensions.k8s.io/v1", "CustomResourceDefinition", wanted.crd, uid
        )
        yield Active(key, (_missing_trouble(presence, wanted),), involved)


def _is_served(presence: CRDPresence, wanted: RequiredCRD) -> bool:
    served = presence.versions or ()
    return bool(set(wanted.versions) & set(served)) if wanted.versions else bool(served)


def _missing_trouble(presence: CRDPresence, wanted: RequiredCRD) -> Trouble:
    lost = bool(
        presence.ever_served & set(wanted.versions) if wanted.versions else presence.ever_served
    )
    if presence.versions:
        code = "VersionNotServed"
        state = (
            f"is served as {', '.join(presence.versions)} only,"
            f" needed is {' or '.join(wanted.versions)}"
        )
    else:
        code = "Removed" if presence.ever_served else "NotInstalled"
        state = "was removed" if presence.ever_served else "is not installed"
    return Trouble(
        cause=Cause(_crd_ref(wanted), code),
        kind=TroubleKind.LOST if lost else TroubleKind.DECLARED,
        is_out=True,
        since=presence.since,
        message_fields={"object": f"CRD {wanted.crd}", "state": state, "chart": wanted.chart},
    )


def _crd_ref(wanted: RequiredCRD) -> ObjectRef:
    return ObjectRef("customresourcedefinitions.apiextensions.k8s.io", "", wanted.crd)


PROBE = Probe(
    ProbeSpec(
        name="crds",
        parameters_type=CRDParameters,
        message_fields=frozenset({"object", "state", "chart"}),
        cause_codes=frozenset({"NotInstalled", "Removed", "VersionNotServed"}),
        optional_kinds=(NAMESPACES,),
        observed_crds=lambda p: frozenset(each.crd for each in p.required),
    ),
    evaluate,
)
