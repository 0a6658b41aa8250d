"""
Whether a required CRD is served, each missing one with an Event of its own.

Presence comes from discovery alone, so no right to read CRDs is needed, and one that is being
deleted counts from the moment it is not served any more.
"""

from collections.abc import Iterable

from msgspec import Struct

from reporter.model.entries import ProbeSpec
from reporter.model.kinds import NAMESPACES
from reporter.model.objects import Namespace
from reporter.model.observations import Presence
from reporter.model.verdicts import (
    Active,
    Cause,
    Clear,
    Involved,
    ObjectRef,
    Trouble,
    Unknown,
    Verdict,
)
from reporter.model.words import Kind
from reporter.stages.probes.probe import Probe, Question
from reporter.stages.snapshot import Snapshot


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


class Parameters(Struct, frozen=True, forbid_unknown_fields=True, rename="kebab"):
    """
    The CRDs without which the stack cannot work.
    """

    required: tuple[RequiredCRD, ...]


def judge(snapshot: Snapshot, question: Question) -> Iterable[Verdict]:
    for wanted in question.parameters.required:
        if not wanted.with_flag or question.flags[wanted.with_flag]:
            yield from _one(snapshot, wanted, question)


def _one(snapshot: Snapshot, wanted: RequiredCRD, question: Question) -> Iterable[Verdict]:
    key, presence = question.key(wanted.crd), snapshot.presence(wanted.crd)
    if wanted.with_namespace_flag:
        unlisted = snapshot.unlisted(NAMESPACES)
        namespace = question.flags[wanted.with_namespace_flag]
        if not unlisted and snapshot.get(NAMESPACES, Namespace, "", namespace) is None:
            return
        if unlisted and not _served(presence, wanted):
            yield Unknown(key, f"{wanted.crd}: {unlisted}")
            return
    if not presence.known:
        why = presence.blind or "one answer of discovery lacks it, a second is awaited"
        yield Unknown(key, f"{wanted.crd}: {why}")
    elif _served(presence, wanted):
        yield Clear(key)
    else:
        uid = snapshot.gone.get(_reference(wanted), "")
        involved = Involved("apiextensions.k8s.io/v1", "CustomResourceDefinition", wanted.crd, uid)
        yield Active(key, (_missing(presence, wanted),), involved)


def _served(presence: Presence, wanted: RequiredCRD) -> bool:
    served = presence.versions or ()
    return bool(set(wanted.versions) & set(served)) if wanted.versions else bool(served)


def _missing(presence: Presence, wanted: RequiredCRD) -> Trouble:
    lost = bool(presence.ever & set(wanted.versions) if wanted.versions else presence.ever)
    if presence.versions:
        code = "VersionNotServed"
        state = (
            f"is served as {', '.join(presence.versions)} only,"
            f" needed is {' or '.join(wanted.versions)}"
        )
    else:
        code = "Removed" if presence.ever else "NotInstalled"
        state = "was removed" if presence.ever else "is not installed"
    return Trouble(
        cause=Cause(_reference(wanted), code),
        kind=Kind.LOST if lost else Kind.DECLARED,
        out=True,
        since=presence.since,
        fields={"object": f"CRD {wanted.crd}", "state": state, "chart": wanted.chart},
    )


def _reference(wanted: RequiredCRD) -> ObjectRef:
    return ObjectRef("customresourcedefinitions.apiextensions.k8s.io", "", wanted.crd)


PROBE = Probe(
    ProbeSpec(
        name="crds",
        parameters=Parameters,
        fields=frozenset({"object", "state", "chart"}),
        codes=frozenset({"NotInstalled", "Removed", "VersionNotServed"}),
        uses=(NAMESPACES,),
        presences=lambda p: frozenset(each.crd for each in p.required),
    ),
    judge,
)
