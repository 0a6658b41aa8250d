"""
What the NodeClaims of a Workspace say, which is earlier and more than KAITO copies of it.

Karpenter launches a machine, which registers as a Node, which is initialized then. A claim that
could not be launched may be deleted at once, and another one made.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.karpenter.node_claims import NodeClaim
from reporter.stages.resources.conditions import check_observed_generation
from reporter.stages.resources.kaito.nodes import TRANSIENT_REASONS, is_condition_true


LAUNCHED = "Launched"
LIFECYCLE_CONDITIONS = (LAUNCHED, "Registered", "Initialized")


@dataclass(frozen=True, slots=True)
class StuckNodeClaim:
    """
    A claim, and the step that it has not taken.
    """

    name: str
    pending: Condition

    @property
    def has_error(self) -> bool:
        return _is_error(self.pending)


def find_stuck_claim(claims: Iterable[NodeClaim]) -> StuckNodeClaim | None:
    """
    Of several claims one with a real error, else the first; none if every claim is well.
    """
    steps = (
        (each.metadata.name, _pending_condition(each)) for each in exclude_deleting_claims(claims)
    )
    found = [StuckNodeClaim(name, step) for name, step in steps if step is not None]
    return next((each for each in found if each.has_error), found[0] if found else None)


def find_claim_error(claim: NodeClaim) -> Condition | None:
    """
    The condition that states a real error, if it is not on its way out anyhow.
    """
    step = _pending_condition(claim) if exclude_deleting_claims([claim]) else None
    return step if step is not None and _is_error(step) else None


def has_launched_machines(claims: Iterable[NodeClaim], nodes: int) -> bool:
    """
    Whether there is a machine for each of so many nodes, so that no older error stands any more.
    """
    there = exclude_deleting_claims(claims)
    steps = [find_condition(each.status.conditions, LAUNCHED) for each in there]
    return len(steps) >= max(nodes, 1) and all(map(is_condition_true, steps))


def exclude_deleting_claims(claims: Iterable[NodeClaim]) -> list[NodeClaim]:
    """
    Without those on their way out, which another one replaces.
    """
    return [
        each
        for each in claims
        if each.metadata.deletion_timestamp is None
        and not is_condition_true(find_condition(each.status.conditions, "InstanceTerminating"))
    ]


def _pending_condition(claim: NodeClaim) -> Condition | None:
    stated = (find_condition(claim.status.conditions, step) for step in LIFECYCLE_CONDITIONS)
    left = [each for each in stated if each is not None and not is_condition_true(each)]
    fresh = [
        each
        for each in left
        if not check_observed_generation(each, claim.metadata, claim.metadata.name)
    ]
    return next(filter(_is_error, fresh), fresh[0] if fresh else None)


def _is_error(step: Condition) -> bool:
    """
    One without a text is none, as KAITO has it.
    """
    return (step.reason or "") not in TRANSIENT_REASONS and bool(step.message)
