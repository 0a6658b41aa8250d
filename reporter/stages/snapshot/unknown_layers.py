"""
The subjects that are not all known, because what makes them cannot be read.

A layer without subjects looks healthy. So a placeholder subject, which has no namespace, stands for
the subjects that a rule may make, and every reason about them is Unknown for it.
"""

from collections.abc import Mapping
from datetime import datetime

from reporter.model.catalogue.subject_definitions import SubjectDefinition
from reporter.model.enums import Layer
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.subjects import Subject
from reporter.stages.snapshot.lookups import has_no_version, why_undecodable
from reporter.stages.snapshot.snapshot import Snapshot


def placeholder(layer: Layer) -> Subject:
    """Return the placeholder of the layer's plain subjects."""
    return Subject(layer)


def find_unknown_subjects(snapshot: Snapshot, *, now: datetime) -> Mapping[Subject, str]:
    """
    Return why the subjects of a rule are not all known, by its placeholder; only those that are not.
    """
    rules = snapshot.subject_definitions
    whys = {
        rule.everything: _why_unknown(snapshot, rules.deciding_kinds(rule), now=now)
        or _why_unnamed(snapshot, rule)
        for rule in rules.all
    }
    return {subject: why for subject, why in whys.items() if why}


def _why_unknown(snapshot: Snapshot, kinds: tuple[ResourceKind, ...], *, now: datetime) -> str:
    # A kind that no evaluated reason reads is not watched.
    watched = (kind for kind in kinds if kind.table in snapshot.tables)
    return next((why for kind in watched if (why := snapshot.why_unknown(kind, now=now))), "")


def _why_unnamed(snapshot: Snapshot, rule: SubjectDefinition) -> str:
    """Return which object makes a subject that only its undecodable labels name."""
    if not snapshot.undecodable or not rule.is_named_by_labels:
        return ""
    unnamed = (
        (ref.namespace, ref.name)
        for ref, stub in snapshot.undecodable.items()
        if stub is None
        and ref.resource == rule.kind.watch_name
        and has_no_version(snapshot, rule.kind, ref)
    )
    first = min(unnamed, default=None)
    return "" if first is None else why_undecodable(rule.kind, first)


def unlisted_in_namespaces(unknown: Mapping[Subject, str]) -> Subject | None:
    """
    Return what any namespace may have more of than is known, models first; None if there is nothing.

    A harness without a kind is no part of a namespace, but the namespace itself.
    """
    parts = (each for each in unknown if each.kind or each.layer is Layer.MODELDEPLOYMENT)
    return min(parts, key=lambda each: (-each.layer.order, each.name), default=None)
