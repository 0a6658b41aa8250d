"""
The laws of the roll-up: what a pass touches is enough, and no state, count or blocker contradicts another.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from reporter.model.enums import Layer, Reason
from reporter.model.states import State
from reporter.model.subjects import CLUSTER_SUBJECT, FindingKey, Subject
from reporter.rollup.records import InferenceSetRecord, NamespaceRecord, RollUp, SubjectState
from reporter.stories.story_replay import StoryReplay
from tests.support.rollups import added_up


ALWAYS_NEEDED = (Reason("clusterBBRNotReady"),)
"""The reasons of the control plane without which no request of an InferenceSet is answered."""


def fold_differences(whole: RollUp, incremental: RollUp) -> Iterator[str]:
    """Yield what differs between a fold of all subjects and one of those that a pass touched."""
    wanted, found = _shown(whole), _shown(incremental)
    for part in sorted(wanted.keys() | found.keys()):
        if part not in wanted or part not in found or wanted[part] != found[part]:
            yield f"{part}: {wanted.get(part)} of all subjects, {found.get(part)} of those touched"


def _shown(rollup: RollUp) -> Mapping[str, Any]:
    """Return everything but the revisions, which depend on what was folded when."""
    shown: dict[str, Any] = {"cluster": rollup.cluster}
    for name, each in rollup.namespaces.items():
        shown[f"namespace {name}"] = replace(each, sets={}, counted={}, revision=0)
        for set_name, of_set in each.sets.items():
            shown[f"InferenceSet {name}/{set_name}"] = of_set
    return shown


def broken_laws(rollup: RollUp, replay: StoryReplay) -> Iterator[str]:
    entries, tracked = replay.catalogue.entries, rollup.evaluation.tracked
    not_clear = [
        key
        for key in (*tracked.finding_states, *tracked.unknown_states)
        if not entries[key.reason].orthogonal
    ]
    for name, namespace in rollup.namespaces.items():
        if namespace.totals != added_up(namespace.sets.values()):
            yield f"{name}: {namespace.totals} are not those of its InferenceSets"
        for subject_state in _subject_states(namespace):
            yield from _broken_state(name, subject_state, rollup)
        for set_name, each in namespace.sets.items():
            subject = Subject(Layer.MODELDEPLOYMENT, name, set_name)
            yield from _broken_set(subject, each, not_clear, rollup)
    yield from _broken_counts(rollup)


def _subject_states(namespace: NamespaceRecord) -> Iterable[SubjectState]:
    return (
        namespace.subject_state,
        namespace.harness,
        *(e.subject_state for e in namespace.sets.values()),
    )


def _broken_state(name: str, subject_state: SubjectState, rollup: RollUp) -> Iterator[str]:
    blocker = subject_state.blocker
    if (blocker is None) != (subject_state.state in {State.CURRENT, State.TERMINATING}):
        yield f"{name}: {subject_state} needs a blocker, or may have none"
    if blocker is not None and blocker.key is not None:
        if blocker.key in rollup.evaluation.suppressions.suppressed_by:
            yield f"{name}: the blocker {blocker} is suppressed"
        if blocker.reason in blocker.via:
            yield f"{name}: the blocker {blocker} follows from itself"


def _broken_set(
    subject: Subject, record: InferenceSetRecord, not_clear: Iterable[FindingKey], rollup: RollUp
) -> Iterator[str]:
    reasons = {key.reason for key in not_clear if key.subject == subject}
    if not set(record.facts.not_judged) <= reasons:
        yield f"{subject}: {record.facts.not_judged} are not judged, and clear"
    trouble = reasons - set(record.facts.not_judged)
    is_unknown = Layer.MODELDEPLOYMENT in rollup.evaluation.known_subjects.unknown_layers
    state = record.subject_state.state
    if state is State.CURRENT and (is_unknown or trouble or record.facts.progress.is_stale):
        yield f"{subject}: Current in spite of {sorted(trouble) or 'what is not known'}"
    if state is State.UNKNOWN and record.available:
        yield f"{subject}: Unknown, yet available"
    yield from _broken_availability(subject, record, rollup)


def _broken_availability(
    subject: Subject, record: InferenceSetRecord, rollup: RollUp
) -> Iterator[str]:
    cause = record.unavailability
    if (cause is None) != (record.available is True):
        yield f"{subject}: available is {record.available}, because of {cause}"
    if cause is not None and cause.is_known != (record.available is False):
        yield f"{subject}: available is {record.available}, and the cause is {cause}"
    if cause is not None and not cause.why and not cause.troubles:
        yield f"{subject}: nothing says why available is {record.available}: {cause}"
    tracked = rollup.evaluation.tracked
    for reason in ALWAYS_NEEDED:
        state = tracked.finding_states.get(FindingKey(CLUSTER_SUBJECT, reason))
        clocks = state.clocks if state is not None else ()
        if record.available and any(each.active and each.trouble.is_out for each in clocks):
            yield f"{subject}: available in spite of {reason}"


def _broken_counts(rollup: RollUp) -> Iterator[str]:
    namespaces = rollup.namespaces.values()
    states = Counter(each.subject_state.state for each in namespaces)
    if {s: n for s, n in rollup.count_namespaces().items() if n} != states:
        yield f"the namespaces are {dict(states)}, counted {rollup.count_namespaces()}"
    states = Counter(e.subject_state.state for each in namespaces for e in each.sets.values())
    if {s: n for s, n in rollup.count_sets().items() if n} != states:
        yield f"the InferenceSets are {dict(states)}, counted {rollup.count_sets()}"
