"""
One Event for many InferenceSets of one namespace that suffer the same.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from reporter.model.entries import Catalogue
from reporter.model.subjects import Key, Subject
from reporter.model.words import Layer
from reporter.stages.records import Gate
from reporter.stages.suppression import Silence


MANY = 10
"""
More than this many speak as one.
"""


@dataclass(frozen=True, slots=True)
class Group:
    """
    Whom one Event stands for: *members* now, *ever* all of them, who are named when all are well.

    *resumed*: its Event was read back, so that whom else it stood for is not known.
    """

    members: frozenset[Subject] = frozenset()
    ever: frozenset[Subject] = frozenset()
    resumed: bool = False

    def joined(self, members: frozenset[Subject]) -> "Group":
        return Group(members, self.ever | members, self.resumed)


def group_key(key: Key) -> Key:
    """
    The key of the Event for all InferenceSets of a namespace.
    """
    return Key(Subject(key.subject.layer, key.subject.namespace), key.reason)


def collapse(
    before: Mapping[Key, Group],
    gate: Gate,
    silence: Silence,
    catalogue: Catalogue,
    *,
    alone: frozenset[Subject],
) -> Mapping[Key, Group]:
    """
    The groups that hold now; *alone* are subjects that had an Event of their own.

    Those that are still held count. A group lasts until none is left that it stands for, those
    that are suppressed or outranked by now included, which do not speak.
    """
    suffering = _suffering(gate, silence, catalogue, _crowded(before, gate))
    groups = {}
    for key in suffering.keys() | before.keys():
        every = suffering.get(key, frozenset())
        old = before.get(key, Group())
        members = (every - alone) | {m for m in old.members if Key(m, key.reason) in gate.records}
        spoken = any(gate.records[Key(m, key.reason)].through for m in members)
        lasting = bool(old.members or old.resumed) and bool(members)
        if lasting or (len(every) > MANY and spoken):
            groups[key] = old.joined(members)
    return groups


def _crowded(before: Mapping[Key, Group], gate: Gate) -> frozenset[str]:
    """
    The namespaces that may have a group: of the others nobody need be asked.
    """
    count = Counter(key.subject.namespace for key in gate.records)
    many = {namespace for namespace, keys in count.items() if keys > MANY}
    return frozenset(many | {key.subject.namespace for key in before})


def _suffering(
    gate: Gate, silence: Silence, catalogue: Catalogue, namespaces: frozenset[str]
) -> Mapping[Key, frozenset[Subject]]:
    """
    InferenceSets by what would be their primary, held ones counted.
    """
    top: dict[Subject, Key] = {}
    for key, record in gate.records.items():
        if key.subject.namespace not in namespaces:
            continue
        entry = catalogue[key.reason]
        wanted = key.subject.layer is Layer.MODELDEPLOYMENT and key not in silence.by
        if not wanted or entry.rank is None or not (record.troubles or record.through):
            continue
        other = top.get(key.subject)
        if other is None or entry.rank < (catalogue[other.reason].rank or 0):
            top[key.subject] = key
    groups: defaultdict[Key, set[Subject]] = defaultdict(set)
    for subject, key in top.items():
        groups[group_key(key)].add(subject)
    return {key: frozenset(members) for key, members in groups.items()}
