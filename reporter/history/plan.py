"""
The plan of the store: from what is wanted and what is held to what is written.

It is made anew from the whole of both, so nothing that was missed stays missed. An object of a running
episode is never deleted, and one that is over goes only after its time, or for an object that needs
its place.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from msgspec import Struct, field

from reporter.history.capacity import Capacity, Fit, StorePlace
from reporter.history.ends import EndFunc
from reporter.history.held import Create, HeldDraft, Json, Patch, PlanMemory, Rejection, place_of
from reporter.history.wanted import WantedObjects, id_of
from reporter.kinds.health_events import HealthEvent, Phase, StoreLimit, StoreLimits


class PlanInput(Struct, frozen=True):
    """
    Everything that a plan depends on, beside the memory and the time.

    *wanted*: the objects of running episodes. *held*: the objects of ours, by name.
    *end_of*: returns how the episode of an object has ended.
    *settle*: how long an end must last that this process has not seen itself.
    *places*: further objects that exist or are being created, of which only the name is known.
    *has_course*: objects show other causes and suffixes of their episodes, so these are written.
    *dropped*: the silence of each object that its CRD has no field for.
    *unfit*: objects that are not as they were meant, which are deleted at once.
    """

    wanted: WantedObjects
    held: Mapping[str, HealthEvent]
    end_of: EndFunc
    limits: StoreLimits
    settle: timedelta
    places: Iterable[StorePlace] = ()
    has_course: bool = True
    dropped: Mapping[str, Json] = field(default_factory=dict)
    unfit: frozenset[str] = frozenset()


class Plan(Struct, frozen=True):
    """
    The writes that are due, the most important first, and what the limits have no place for.

    *deadline*: when time alone changes the plan.
    """

    creates: tuple[Create, ...]
    patches: tuple[Patch, ...]
    deletes: tuple[HealthEvent, ...]
    rejections: tuple[Rejection, ...]
    memory: PlanMemory
    deadline: datetime | None


def make_plan(given: PlanInput, memory: PlanMemory, *, now: datetime) -> Plan:
    """Return what to write. *memory*: of the plan before; empty for a new leader."""
    wanted = given.wanted
    draft = HeldDraft(
        given.limits,
        given.settle,
        memory,
        now,
        has_course=given.has_course,
        dropped=given.dropped,
    )
    for name, found in given.held.items():
        episode = wanted.episode_of(name, found.spec)
        if found.is_deleting:
            draft.leave(found)
        elif name in given.unfit:
            draft.remove(found)
        elif episode is not None:
            draft.keep(found, episode)
        elif found.phase is Phase.ACTIVE:
            is_running = id_of(found.spec) in wanted.running
            draft.resolve(found, given.end_of(found), is_running=is_running)
        else:
            draft.expire(found)
    return _fit(given, draft, memory)


def _fit(given: PlanInput, draft: HeldDraft, memory: PlanMemory) -> Plan:
    """Add the new objects that have a place, and delete what has to make capacity for others."""
    held, places = given.held, tuple(given.places)
    capacity = Capacity(
        given.limits,
        there=[*map(place_of, held.values()), *places],
        leaving=draft.leaving,
        evictable=[place for _, place in sorted(draft.resolved)],
    )
    capacity.shrink()
    creates, rejections = [], []
    known = held.keys() | {each.name for each in places}
    for name, (node, episode) in given.wanted.names.items():
        if name not in known:
            fit = capacity.take(node)
            if fit is Fit.NOW:
                creates.append(Create(name, node, episode))
            elif isinstance(fit, StoreLimit):
                rejections.append(Rejection(name, fit))
    deletes = {each.metadata.name: each for each in draft.expired}
    deletes |= {name: held[name] for name in capacity.evicted}
    return Plan(
        tuple(creates),
        tuple(each for each in draft.patches if each.found.metadata.name not in deletes),
        tuple(deletes.values()),
        tuple(rejections),
        draft.remember(_seen_wanted(given, memory)),
        min(draft.deadlines, default=None),
    )


def _seen_wanted(given: PlanInput, memory: PlanMemory) -> frozenset[str]:
    """Return the objects that are wanted, and those that were and are still there."""
    wanted, held = given.wanted, given.held.items()
    now = {name for name, found in held if wanted.episode_of(name, found.spec) is not None}
    return frozenset(wanted.names.keys() | now | (memory.wanted & given.held.keys()))
