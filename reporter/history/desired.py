"""The objects that the running episodes are to have, one for each, or for each of its nodes."""

from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import NamedTuple, TypeAlias

from reporter.announcing.announcement_state import Episode
from reporter.announcing.grouping import EventGroup, member_key
from reporter.announcing.schedule import PublishContext
from reporter.evaluation.clocks import FindingState
from reporter.kinds.health_events import CAPACITY_PROBE, HealthEventSpec, subject_text
from reporter.kube.event_record import EventRecord
from reporter.model.silences import Silence
from reporter.model.subjects import FindingKey


EpisodeId: TypeAlias = tuple[str, str, str, str, int]
"""Layer, subject, reason, item and beginning, as an object has them."""

NameFunc: TypeAlias = Callable[[EventRecord, str], str]
"""Returns the name of the object of an Event and a node; "" if none is kept."""

_UNRANKED = 10_000


class DesiredEpisode(NamedTuple):
    """
    A running episode.

    *names*: the name of its object on each node, "" for trouble that is bound to none. None while
    there is no trouble, before it has settled: the objects that it has stay, and none is created.
    Empty if no node of it is kept.
    *importance*: the order in which objects are created, causes first. *silence*: for whose sake its
    Event is not renewed.
    """

    id: EpisodeId
    key: FindingKey
    record: EventRecord
    names: Mapping[str, str] | None
    importance: tuple[int, int, int, FindingKey]
    silence: Silence | None = None

    @property
    def has_suffix(self) -> bool:
        """
        True if the message of the Event names other reasons of its subject, or suppressed ones.
        """
        message = self.record.message
        return " (also: " in message or " (suppressing downstream reasons: " in message


class DesiredObjects:
    """
    The objects that are desired, by name, the most important first, each with its node and episode.

    *running*: the episodes that run. Of one without known names every object that it has is desired.
    """

    def __init__(self, episodes: Iterable[DesiredEpisode] = ()) -> None:
        self.names: dict[str, tuple[str, DesiredEpisode]] = {}
        self.running: dict[EpisodeId, DesiredEpisode] = {}
        for each in sorted(episodes, key=lambda each: each.importance):
            self.running[each.id] = each
            for node, name in (each.names or {}).items():
                self.names[name] = (node, each)

    def episode_of(self, name: str, spec: HealthEventSpec) -> DesiredEpisode | None:
        """Return the episode that wants an object; None if none does."""
        found = self.names.get(name)
        if found is not None:
            return found[1]
        running = self.running.get(id_of(spec))
        return running if running is not None and running.names is None else None


class _Cached(NamedTuple):
    """A desired episode with the values that it was made from; they are compared by identity."""

    episode: Episode
    basis: FindingState | EventGroup | None
    desired: DesiredEpisode

    def is_current(
        self, episode: Episode, basis: FindingState | EventGroup | None, silence: Silence | None
    ) -> bool:
        is_same = self.episode is episode and self.basis is basis
        return is_same and self.desired.silence == silence


class DesiredCache:
    """
    Makes the desired objects of each moment, and those of an episode anew only once it has changed.

    *name_of*: see NameFunc.
    """

    def __init__(self, name_of: NameFunc) -> None:
        self._name_of = name_of
        self._cached: dict[FindingKey, _Cached] = {}
        self._objects = DesiredObjects()

    def update(self, context: PublishContext) -> DesiredObjects:
        """
        Return the objects of every running episode of a finding; the same ones if none has changed.
        """
        episodes = context.announcement_state.episodes
        ended = self._cached.keys() - episodes.keys()
        for key in ended:
            del self._cached[key]
        has_changed = bool(ended)
        for key, episode in episodes.items():
            entry, basis = context.catalogue[key.reason], _basis(key, context)
            if entry.is_ready_reason or entry.probe == CAPACITY_PROBE:
                continue
            cached, silence = self._cached.get(key), _silence(key, context)
            if cached is None or not cached.is_current(episode, basis, silence):
                rank = _UNRANKED if entry.rank is None else entry.rank
                desired = _desired(key, episode.event, basis, self._name_of, rank=rank)
                desired = desired._replace(silence=silence)
                has_changed |= cached is None or cached.desired != desired
                self._cached[key] = _Cached(episode, basis, desired)
        if has_changed:
            self._objects = DesiredObjects(each.desired for each in self._cached.values())
        return self._objects


def episode_number(record: EventRecord) -> int:
    """Return the beginning of an episode in whole seconds of Unix time, as its Event's label has it."""
    return int(record.episode_start.timestamp())


def id_of(spec: HealthEventSpec) -> EpisodeId:
    """
    Return the identity of an object's episode, which is the same for its objects on all nodes.
    """
    return (spec.layer.value, spec.subject, spec.check_name, spec.item, spec.episode)


def nodes_in_trouble(key: FindingKey, context: PublishContext) -> set[str]:
    """
    Return the nodes that a running episode is about now, "" for trouble that is bound to none.
    """
    return _nodes(_basis(key, context)) if key in context.announcement_state.episodes else set()


def _basis(key: FindingKey, context: PublishContext) -> FindingState | EventGroup | None:
    """Return what the nodes of an episode depend on."""
    group = context.announcement_state.groups.get(key)
    return group or context.evaluation.tracked.finding_states.get(key)


def _silence(key: FindingKey, context: PublishContext) -> Silence | None:
    """
    Return the silence of an episode; of one of many InferenceSets, the first to end if all are silenced.
    """
    group = context.announcement_state.groups.get(key)
    keys = [member_key(key, each) for each in group.members] if group is not None else [key]
    found = [context.evaluation.silence_of(each) for each in keys]
    silences = [each for each in found if each is not None]
    if not silences or len(silences) < len(found):
        return None
    return min(
        silences, key=lambda each: (each.until or datetime.max.replace(tzinfo=UTC), each.origin)
    )


def _desired(
    key: FindingKey,
    record: EventRecord,
    basis: FindingState | EventGroup | None,
    name_of: NameFunc,
    *,
    rank: int,
) -> DesiredEpisode:
    nodes = sorted(_nodes(basis))
    names = {node: name for node in nodes if (name := name_of(record, node))}
    number = episode_number(record)
    where = (key.subject.layer.value, subject_text(key.subject))
    return DesiredEpisode(
        (*where, key.reason, key.item, number),
        key,
        record,
        names if nodes else None,
        (key.subject.layer.order, rank, number, key),
    )


def _nodes(basis: FindingState | EventGroup | None) -> set[str]:
    """
    Return the nodes of the troubles that exist now; none for a group, which gives one as an example.
    """
    match basis:
        case EventGroup():
            return {""} if basis.members else set()
        case FindingState():
            return {clock.trouble.node for clock in basis.announceable}
        case _:
            return set()
