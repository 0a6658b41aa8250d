"""
One Event for many InferenceSets of one namespace that suffer the same.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from reporter.model.entries import Catalogue
from reporter.model.enums import Layer
from reporter.model.subjects import FindingKey, Subject
from reporter.stages.evaluation.clocks import Gate
from reporter.stages.evaluation.suppression import Suppressions


GROUP_THRESHOLD = 10
"""
More than this many speak as one.
"""


@dataclass(frozen=True, slots=True)
class EventGroup:
    """
    Whom one Event stands for: *members* now, *ever* all of them, who are named when all are well.

    *resumed*: its Event was read back, so that whom else it stood for is not known.
    """

    members: frozenset[Subject] = frozenset()
    ever_members: frozenset[Subject] = frozenset()
    restored: bool = False

    def with_members(self, members: frozenset[Subject]) -> "EventGroup":
        return EventGroup(members, self.ever_members | members, self.restored)


def group_key(key: FindingKey) -> FindingKey:
    """
    The key of the Event for all InferenceSets of a namespace.
    """
    return FindingKey(Subject(key.subject.layer, key.subject.namespace), key.reason)


def update_groups(
    before: Mapping[FindingKey, EventGroup],
    gate: Gate,
    silence: Suppressions,
    catalogue: Catalogue,
    *,
    individually_announced: frozenset[Subject],
) -> Mapping[FindingKey, EventGroup]:
    """
    The groups that hold now; *alone* are subjects that had an Event of their own.

    Those that are still held count. A group lasts until none is left that it stands for, those
    that are suppressed or outranked by now included, which do not speak.
    """
    suffering = _sets_by_primary(gate, silence, catalogue, _candidate_namespaces(before, gate))
    groups = {}
    for key in suffering.keys() | before.keys():
        every = suffering.get(key, frozenset())
        old = before.get(key, EventGroup())
        members = (every - individually_announced) | {
            m for m in old.members if FindingKey(m, key.reason) in gate.finding_states
        }
        spoken = any(gate.finding_states[FindingKey(m, key.reason)].past_hold for m in members)
        lasting = bool(old.members or old.restored) and bool(members)
        if lasting or (len(every) > GROUP_THRESHOLD and spoken):
            groups[key] = old.with_members(members)
    return groups


def _candidate_namespaces(before: Mapping[FindingKey, EventGroup], gate: Gate) -> frozenset[str]:
    """
    The namespaces that may have a group: of the others nobody need be asked.
    """
    count = Counter(key.subject.namespace for key in gate.finding_states)
    many = {namespace for namespace, keys in count.items() if keys > GROUP_THRESHOLD}
    return frozenset(many | {key.subject.namespace for key in before})


def _sets_by_primary(
    gate: Gate, silence: Suppressions, catalogue: Catalogue, namespaces: frozenset[str]
) -> Mapping[FindingKey, frozenset[Subject]]:
    """
    InferenceSets by what would be their primary, held ones counted.
    """
    top: dict[Subject, FindingKey] = {}
    for key, record in gate.finding_states.items():
        if key.subject.namespace not in namespaces:
            continue
        entry = catalogue[key.reason]
        wanted = key.subject.layer is Layer.MODELDEPLOYMENT and key not in silence.suppressed_by
        if not wanted or entry.rank is None or not (record.troubles or record.past_hold):
            continue
        other = top.get(key.subject)
        if other is None or entry.rank < (catalogue[other.reason].rank or 0):
            top[key.subject] = key
    groups: defaultdict[FindingKey, set[Subject]] = defaultdict(set)
    for subject, key in top.items():
        groups[group_key(key)].add(subject)
    return {key: frozenset(members) for key, members in groups.items()}
