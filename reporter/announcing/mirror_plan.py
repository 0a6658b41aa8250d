"""
Decide beside which InferenceSets an Event is written as well, and for how long that is true.

The Event in kube-system is the announcement. Its mirror has the same reason, message, episode, count
and times, and is about the InferenceSet itself.
"""

from msgspec.structs import replace

from reporter.announcing.eligibility import (
    is_announceable,
    is_member_announceable,
    ready_groups,
)
from reporter.announcing.grouping import member_key
from reporter.announcing.schedule import PublishContext
from reporter.kube.event_record import EventRecord
from reporter.model.enums import EventType, Layer
from reporter.model.subjects import Subject
from reporter.model.verdicts import InvolvedObject


def mirror_subjects(record: EventRecord, context: PublishContext) -> frozenset[Subject]:
    """
    Return the InferenceSets that an Event is about, before the state knows that it was written.
    """
    subject = record.key.subject
    if subject.layer is not Layer.MODELDEPLOYMENT:
        return frozenset()
    if subject.name:
        return frozenset({subject})
    state = context.announcement_state
    if record.type is EventType.NORMAL:
        groups = ready_groups(state, context.catalogue).get(subject, ())
        return frozenset().union(*(group.ready_members for group in groups))
    group = state.groups.get(record.key)
    members = group.members if group is not None else frozenset()
    return frozenset(each for each in members if is_mirror_true(record, each, context))


def is_mirror_true(record: EventRecord, subject: Subject, context: PublishContext) -> bool:
    """Return whether what an Event says about an InferenceSet still holds."""
    evaluation = context.evaluation
    if not evaluation.known_subjects.may_include(subject):
        return False
    if record.type is EventType.NORMAL:
        return subject not in evaluation.not_ready
    key = record.key
    if not is_announceable(key, context.announcement_state, evaluation, context.settings):
        return False
    return bool(key.subject.name) or is_member_announceable(
        member_key(key, subject), evaluation, context.settings
    )


def may_become_true(record: EventRecord, subject: Subject, context: PublishContext) -> bool:
    """
    Return whether a mirror waits while it is not true: that of a Ready, which nothing repeats.
    """
    is_known = context.evaluation.known_subjects.may_include(subject)
    return record.type is EventType.NORMAL and is_known


def contradicts_ready(record: EventRecord, context: PublishContext) -> bool:
    """Return whether an Event says that its subjects are not ready; another Ready follows it."""
    return record.type is EventType.WARNING and not context.catalogue[record.key.reason].orthogonal


def mirrored(record: EventRecord, involved: InvolvedObject) -> EventRecord:
    """
    Return the record of the mirror. *involved*: the InferenceSet, in whose namespace it is written.
    """
    return replace(record, involved_object=involved)
