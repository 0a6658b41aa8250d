"""
Group many InferenceSets of one namespace with the same reason into one Event.

At most ``GROUP_THRESHOLD`` InferenceSets of a namespace have an Event of their own for one reason, in
whatever order and after whatever time their troubles begin: the next one makes a group.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from reporter.catalogue.entries import Catalogue
from reporter.evaluation.clocks import FindingState, TrackedFindings
from reporter.evaluation.evaluation import Evaluation, EvaluationSettings
from reporter.evaluation.rank import is_candidate
from reporter.model.enums import Emission, Layer, TroubleKind
from reporter.model.subjects import FindingKey, Subject


GROUP_THRESHOLD = 10
"""The number of InferenceSets above which they get one Event in common."""


class EventGroup(Struct, frozen=True):
    """
    The InferenceSets that one Event stands for.

    *members*: those with the trouble now.
    *ready_members*: those that the group's Ready names: all that were members since the Event began,
    without those that get a Ready of their own.
    *restored*: the Event was read back, so further members are possible that nobody knows.
    """

    members: frozenset[Subject] = frozenset()
    ready_members: frozenset[Subject] = frozenset()
    restored: bool = False


def group_key(key: FindingKey) -> FindingKey:
    """Return the key of the Event for all InferenceSets of the namespace."""
    return FindingKey(key.subject.all_of_kind, key.reason, key.item)


def member_key(key: FindingKey, member: Subject) -> FindingKey:
    """Return the key of one of the InferenceSets that the Event of a group is about."""
    return FindingKey(member, key.reason, key.item)


def possible_members_by_group(
    groups: Iterable[EventGroup],
    subjects: Collection[Subject],
    *,
    without: Collection[Subject] = frozenset(),
) -> Mapping[Subject, set[Subject]]:
    """
    Return the models that are not among *without*, by the subject of the group that they may be in.

    None unless a group is restored.
    """
    found: defaultdict[Subject, set[Subject]] = defaultdict(set)
    if any(group.restored for group in groups):
        for subject in subjects:
            if subject.layer is Layer.MODELDEPLOYMENT and subject not in without:
                found[subject.all_of_kind].add(subject)
    return found


def update_groups(
    before: Mapping[FindingKey, EventGroup],
    evaluation: Evaluation,
    catalogue: Catalogue,
    settings: EvaluationSettings,
    *,
    individual: Collection[FindingKey],
) -> Mapping[FindingKey, EventGroup]:
    """
    Return the groups with members after this pass.

    A group begins when the threshold is exceeded and a member without an Event of its own has
    outlived its hold. It lasts until its last member is clear; members that are suppressed, silenced
    or outranked by now remain members, although they cannot be announced.

    *individual*: keys with a running Event of their own, which is not renewed while there is a group.
    """
    states = evaluation.tracked.finding_states
    restored = frozenset(key for key, group in before.items() if group.restored)
    counted = _GroupedKeys(evaluation, catalogue, settings, individual, restored)
    affected = counted.sets_by_reason(_candidate_namespaces(before, evaluation.tracked))
    groups = {}
    for key in affected.keys() | before.keys():
        with_trouble = affected.get(key, frozenset())
        old = before.get(key, EventGroup())
        members = with_trouble | {
            member for member in old.members if member_key(key, member) in states
        }
        continues = bool(old.members or old.restored) and bool(members)
        if continues or (
            len(members) > GROUP_THRESHOLD
            and any(
                states[each].past_hold and each not in individual
                for each in (member_key(key, member) for member in members)
            )
        ):
            # Those that left are ready, and remain members for the Ready of the group.
            groups[key] = EventGroup(members, old.ready_members | members, old.restored)
    return groups


def _candidate_namespaces(
    before: Mapping[FindingKey, EventGroup], tracked: TrackedFindings
) -> frozenset[str]:
    """Return the namespaces that may have a group, so that the others need not be looked at."""
    count = Counter(key.subject.namespace for key in tracked.finding_states)
    many = {namespace for namespace, keys in count.items() if keys > GROUP_THRESHOLD}
    return frozenset(many | {key.subject.namespace for key in before})


class _GroupedKeys(Struct, frozen=True):
    """
    The keys that count for the threshold: all that have an Event, or get one unless they clear.

    Held findings count: otherwise the first of many that outlives its hold would get an Event of its
    own. Held starts do not, since most are normal and end as such. Events that are outranked for now
    count as well, since they were announced.

    *restored*: the groups whose Event was read back; any start may be that of a member.
    """

    evaluation: Evaluation
    catalogue: Catalogue
    settings: EvaluationSettings
    individual: Collection[FindingKey]
    restored: Collection[FindingKey]

    def sets_by_reason(
        self, namespaces: Collection[str]
    ) -> Mapping[FindingKey, frozenset[Subject]]:
        groups: defaultdict[FindingKey, set[Subject]] = defaultdict(set)
        for key, state in self.evaluation.tracked.finding_states.items():
            subject = key.subject
            if subject.layer is not Layer.MODELDEPLOYMENT or subject.namespace not in namespaces:
                continue
            is_hidden = (
                key in self.evaluation.suppressions.suppressed_by
                or self.evaluation.silence_of(key) is not None
            )
            if not is_hidden and self._counts(key, state):
                groups[group_key(key)].add(subject)
        return {key: frozenset(members) for key, members in groups.items()}

    def _counts(self, key: FindingKey, state: FindingState) -> bool:
        ranking = self.evaluation.ranking_of(key.subject)
        if key in ranking.keys_to_announce(self.settings.emission):
            return True
        if is_candidate(state, settle=self.settings.delays.settle):
            return key in self.individual
        is_start = all(trouble.kind is TroubleKind.STARTING for trouble in state.troubles)
        if not state.troubles or (is_start and group_key(key) not in self.restored):
            return False
        # A held finding is announced next if it outranks the present primary.
        rank = self.catalogue[key.reason].rank
        if rank is None or not ranking.primary or self.settings.emission is Emission.ALL:
            return True
        return rank < (self.catalogue[ranking.primary[0].reason].rank or 0)
