"""
What the NodeClaims of a Workspace say, which is earlier and more than KAITO copies of it.

Karpenter launches a machine, which registers as a Node, which is initialized then. A claim that
could not be launched may be deleted at once, and another one made.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reporter.model.node_objects import NodeClaim
from reporter.model.objects import Condition, condition
from reporter.stages.conditions import stale
from reporter.stages.nodes import TRANSIENT, holds


LAUNCHED = "Launched"
STEPS = (LAUNCHED, "Registered", "Initialized")


@dataclass(frozen=True, slots=True)
class Stuck:
    """
    A claim, and the step that it has not taken.
    """

    claim: str
    step: Condition

    @property
    def refused(self) -> bool:
        return _is_error(self.step)


def stuck(claims: Iterable[NodeClaim]) -> Stuck | None:
    """
    Of several claims one with a real error, else the first; none if every claim is well.
    """
    steps = ((each.metadata.name, _step(each)) for each in live(claims))
    found = [Stuck(name, step) for name, step in steps if step is not None]
    return next((each for each in found if each.refused), found[0] if found else None)


def refusal(claim: NodeClaim) -> Condition | None:
    """
    The condition that states a real error, if it is not on its way out anyhow.
    """
    step = _step(claim) if live([claim]) else None
    return step if step is not None and _is_error(step) else None


def launched(claims: Iterable[NodeClaim], nodes: int) -> bool:
    """
    Whether there is a machine for each of so many nodes, so that no older error stands any more.
    """
    there = live(claims)
    steps = [condition(each.status.conditions, LAUNCHED) for each in there]
    return len(steps) >= max(nodes, 1) and all(map(holds, steps))


def live(claims: Iterable[NodeClaim]) -> list[NodeClaim]:
    """
    Without those on their way out, which another one replaces.
    """
    return [
        each
        for each in claims
        if each.metadata.deletion_timestamp is None
        and not holds(condition(each.status.conditions, "InstanceTerminating"))
    ]


def _step(claim: NodeClaim) -> Condition | None:
    stated = (condition(claim.status.conditions, step) for step in STEPS)
    left = [each for each in stated if each is not None and not holds(each)]
    fresh = [each for each in left if not stale(each, claim.metadata, claim.metadata.name)]
    return next(filter(_is_error, fresh), fresh[0] if fresh else None)


def _is_error(step: Condition) -> bool:
    """
    One without a text is none, as KAITO has it.
    """
    return (step.reason or "") not in TRANSIENT and bool(step.message)
