"""
The plan of the store: from the desired and the existing objects to what is written.

It is made anew from the whole of both, so nothing that was missed stays missed. An object of a running
episode is never deleted, and one that is over goes only after its time, or for an object that needs
its place.
"""

from datetime import datetime

from msgspec import Struct

from reporter.history.capacity import Capacity, Placement
from reporter.history.desired import id_of
from reporter.history.existing import (
    Create,
    ExistingObjects,
    Patch,
    PlanInput,
    PlanMemory,
    Rejection,
    place_of,
)
from reporter.kinds.health_events import HealthEvent, Phase, StoreLimit


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
    desired = given.desired
    draft = ExistingObjects(given, memory, now)
    for name, found in given.existing.items():
        episode = desired.episode_of(name, found.spec)
        if found.is_deleting:
            draft.leave(found)
        elif name in given.unfit:
            draft.remove(found)
        elif episode is not None:
            draft.keep(found, episode)
        elif found.phase is Phase.ACTIVE:
            is_running = id_of(found.spec) in desired.running
            draft.resolve(found, given.end_of(found), is_running=is_running)
        else:
            draft.expire(found)
    return _fit(given, draft, memory)


def _fit(given: PlanInput, draft: ExistingObjects, memory: PlanMemory) -> Plan:
    """Add the new objects that have a place, and delete what has to make capacity for others."""
    existing, places = given.existing, tuple(given.places)
    capacity = Capacity(
        given.limits,
        there=[*map(place_of, existing.values()), *places],
        leaving=draft.leaving,
        evictable=[place for _, place in sorted(draft.resolved)],
    )
    capacity.shrink()
    creates, rejections = [], []
    known = existing.keys() | {each.name for each in places}
    for name, (node, episode) in given.desired.names.items():
        if name not in known:
            fit = capacity.take(node)
            if fit is Placement.NOW:
                creates.append(Create(name, node, episode))
            elif isinstance(fit, StoreLimit):
                rejections.append(Rejection(name, fit))
    deletes = {each.metadata.name: each for each in draft.expired}
    deletes |= {name: existing[name] for name in capacity.evicted}
    return Plan(
        tuple(creates),
        tuple(each for each in draft.patches if each.found.metadata.name not in deletes),
        tuple(deletes.values()),
        tuple(rejections),
        draft.remember(_seen_desired(given, memory)),
        min(draft.deadlines, default=None),
    )


def _seen_desired(given: PlanInput, memory: PlanMemory) -> frozenset[str]:
    """Return the objects that are desired, and those that were and are still there."""
    desired, existing = given.desired, given.existing.items()
    now = {name for name, found in existing if desired.episode_of(name, found.spec) is not None}
    return frozenset(desired.names.keys() | now | (memory.desired & given.existing.keys()))
