"""The subjects that are being deleted: they are evaluated no longer, but still there."""

from reporter.catalogue.subject_definitions import (
    TERMINATING,
    NamespaceScope,
    SubjectDefinition,
    has_labels,
)
from reporter.kinds.core import NAMESPACES, Namespace
from reporter.model.subjects import Subject
from reporter.snapshot.snapshot import Snapshot


def find_terminating(snapshot: Snapshot) -> frozenset[Subject]:
    """Return the subjects whose objects are being deleted, with all of such a namespace."""
    if NAMESPACES.table not in snapshot.tables:
        return frozenset()
    ending = {each.metadata.name for each in snapshot.all(NAMESPACES) if TERMINATING.are_on(each)}
    found: set[Subject] = set()
    for rule in snapshot.subject_definitions.all:
        if rule.kind.table in snapshot.tables:
            found.update(
                subject
                for each in snapshot.all(rule.kind)
                if (rule.ended.are_on(each) or rule.namespace_of(each) in ending)
                and (subject := rule.possible_subject(each))
                and _was_in_scope(snapshot, rule, subject)
            )
    return frozenset(found)


def _was_in_scope(snapshot: Snapshot, rule: SubjectDefinition, subject: Subject) -> bool:
    """Return whether the namespace counted for the rule before anything of it was deleted."""
    if rule.scope is NamespaceScope.ALL:
        return True
    namespace = snapshot.peek(NAMESPACES, Namespace, "", subject.namespace)
    if rule.scope is NamespaceScope.LABELLED:
        return namespace is not None and has_labels(namespace, rule.namespace_labels)
    harnesses = snapshot.subject_definitions.harnesses_of(rule.pack)
    of_namespaces = [each for each in harnesses if each.is_of_namespaces]
    if not of_namespaces:
        return True
    return namespace is not None and any(
        has_labels(namespace, each.labels) for each in of_namespaces
    )
