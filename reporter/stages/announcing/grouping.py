"""
Group many InferenceSets of one namespace with the same primary reason into one Event.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from reporter.model.entries import Catalogue
from reporter.model.enums import Layer
from reporter.model.subjects import FindingKey, Subject
from reporter.stages.evaluation.clocks import Gate
from reporter.stages.evaluation.suppression import Suppressions


GROUP_THRESHOLD = 10
"""
The number of InferenceSets above which they get one Event in common.
"""


@dataclass(frozen=True, slots=True)
class EventGroup:
    """
    The InferenceSets that one Event stands for.

    *members*: those with the trouble now.
    *ever_members*: all that were members since the Event began. Its Ready names them.
    *restored*: the Event was read back, so further members are possible that nobody knows.
    """

    members: frozenset[Subject] = frozenset()
    ever_members: frozenset[Subject] = frozenset()
    restored: bool = False

    def with_members(self, members: frozenset[Subject]) -> "EventGroup":
        return EventGroup(members, self.ever_members | members, self.restored)


def group_key(key: FindingKey) -> FindingKey:
    """
    Return the key of the Event for all InferenceSets of the namespace.
    """
    return FindingKey(Subject(key.subject.layer, key.subject.namespace), key.reason)


def possible_members_by_namespace(
    groups: Iterable[EventGroup], subjects: Collection[Subject]
) -> Mapping[str, set[Subject]]:
    """
    Return the InferenceSets by namespace if a group is restored, since each may be a member of it.
    """
    found: defaultdict[str, set[Subject]] = defaultdict(set)
    if any(group.restored for group in groups):
        for subject in subjects:
            if subject.layer is Layer.MODELDEPLOYMENT:
                found[subject.namespace].add(subject)
    return found


def update_groups(
    before: Mapping[FindingKey, EventGroup],
    gate: Gate,
    suppressions: Suppressions,
    catalogue: Catalogue,
    *,
    individually_announced: frozenset[Subject],
) -> Mapping[FindingKey, EventGroup]:
    """
    Return the groups with members after this pass.

    Held findings count for the threshold, so that the first of many that outlives its hold does not
    get an Event of its own. A group lasts until its last member is clear; members that are suppressed
    or outranked by now remain members, although they cannot be announced.

    *individually_announced*: subjects with a running Event of their own, which do not join a group.
    """
    affected = _sets_by_primary(gate, suppressions, catalogue, _candidate_namespaces(before, gate))
    groups = {}
    for key in affected.keys() | before.keys():
        with_trouble = affected.get(key, frozenset())
        old = before.get(key, EventGroup())
        members = (with_trouble - individually_announced) | {
            member
            for member in old.members
            if FindingKey(member, key.reason) in gate.finding_states
        }
        past_hold = any(
            gate.finding_states[FindingKey(member, key.reason)].past_hold for member in members
        )
        continues = bool(old.members or old.restored) and bool(members)
        if continues or (len(with_trouble) > GROUP_THRESHOLD and past_hold):
            groups[key] = old.with_members(members)
    return groups


def _candidate_namespaces(before: Mapping[FindingKey, EventGroup], gate: Gate) -> frozenset[str]:
    """
    Return the namespaces that may have a group, so that the others need not be looked at.
    """
    count = Counter(key.subject.namespace for key in gate.finding_states)
    many = {namespace for namespace, keys in count.items() if keys > GROUP_THRESHOLD}
    return frozenset(many | {key.subject.namespace for key in before})


def _sets_by_primary(
    gate: Gate, suppressions: Suppressions, catalogue: Catalogue, namespaces: frozenset[str]
) -> Mapping[FindingKey, frozenset[Subject]]:
    """
    Return the InferenceSets by the group key of what would be their primary without holds.
    """
    primary: dict[Subject, FindingKey] = {}
    for key, state in gate.finding_states.items():
        if key.subject.namespace not in namespaces or key in suppressions.suppressed_by:
            continue
        entry = catalogue[key.reason]
        if key.subject.layer is not Layer.MODELDEPLOYMENT or entry.rank is None:
            continue
        if not (state.troubles or state.past_hold):
            continue
        other = primary.get(key.subject)
        if other is None or entry.rank < (catalogue[other.reason].rank or 0):
            primary[key.subject] = key
    groups: defaultdict[FindingKey, set[Subject]] = defaultdict(set)
    for subject, key in primary.items():
        groups[group_key(key)].add(subject)
    return {key: frozenset(members) for key, members in groups.items()}
