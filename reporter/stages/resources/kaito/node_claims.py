"""
The NodeClaims of a Workspace, which report earlier and more than what KAITO copies of them.

Karpenter launches a machine, which registers as a Node and is then initialized. It deletes a claim
that could not be launched for lack of capacity, and another claim follows
(Karpenter, pkg/controllers/nodeclaim/lifecycle).
"""

from collections.abc import Iterable

from msgspec import Struct

from reporter.model.kinds.base.conditions import Condition, find_condition
from reporter.model.kinds.karpenter.node_claims import NodeClaim
from reporter.model.kinds.karpenter.node_pools import NodePool
from reporter.stages.resources.conditions import check_observed_generation, is_condition_true
from reporter.stages.resources.existence import exclude_deleting
from reporter.stages.resources.kaito.nodes import (
    REGISTRATION_FAILED,
    TRANSIENT_REASONS,
    is_registration_failure,
)


LAUNCHED = "Launched"
REGISTERED = "Registered"
LIFECYCLE_CONDITIONS = (LAUNCHED, REGISTERED, "Initialized")
REGISTRATION_HEALTHY = "NodeRegistrationHealthy"
"""The condition of a NodePool that keeps reason and message of nodes that are not created."""

LOSS_OF_MACHINES = Condition(REGISTERED, "False", REGISTRATION_FAILED)
"""
The error that only claims show which come and go: machines are given up before their Nodes register.
"""


class StuckNodeClaim(Struct, frozen=True):
    """A claim whose lifecycle has not got further; *pending* is the condition that is not True."""

    name: str
    pending: Condition

    @property
    def has_error(self) -> bool:
        return _is_error(self.pending)


def find_stuck_claim(claims: Iterable[NodeClaim]) -> StuckNodeClaim | None:
    """
    Return a claim with an error, else the first that waits; None if every claim is initialized.
    """
    conditions = (
        (each.metadata.name, _pending_condition(each)) for each in exclude_deleting_claims(claims)
    )
    stuck = [StuckNodeClaim(name, pending) for name, pending in conditions if pending is not None]
    return next((each for each in stuck if each.has_error), stuck[0] if stuck else None)


def find_claim_error(claim: NodeClaim) -> Condition | None:
    """Return the condition that states an error; None for a claim that is being deleted."""
    pending = _pending_condition(claim) if exclude_deleting_claims([claim]) else None
    return pending if pending is not None and _is_error(pending) else None


def find_pool_error(pools: Iterable[NodePool]) -> Condition | None:
    """
    Return why NodePools get no nodes, as Karpenter states after several attempts.

    Claims may not live long enough to be asked (karpenter, pkg/controllers/nodeclaim/lifecycle).
    """
    for pool in exclude_deleting(pools):
        healthy = find_condition(pool.status.conditions, REGISTRATION_HEALTHY)
        if healthy is not None and healthy.status == "False":
            stale = check_observed_generation(healthy, pool.metadata, "NodePool")
            return None if stale else healthy
    return None


def is_overcome(error: Condition, claims: Iterable[NodeClaim], nodes: int) -> bool:
    """
    Return whether each of so many nodes has a machine, after machines that did not register a Node.
    """
    step = REGISTERED if is_registration_failure(error) else LAUNCHED
    reached = [has_reached(each, step) for each in exclude_deleting_claims(claims)]
    return len(reached) >= max(nodes, 1) and all(reached)


def is_loss_of_machines(error: Condition) -> bool:
    return error.type == REGISTERED and is_registration_failure(error)


def has_reached(claim: NodeClaim, step: str) -> bool:
    """Return whether a claim has reached a step of its lifecycle."""
    return is_condition_true(find_condition(claim.status.conditions, step))


def exclude_deleting_claims(claims: Iterable[NodeClaim]) -> list[NodeClaim]:
    """
    Exclude claims that are being deleted or whose machine terminates; new claims replace them.
    """
    return [
        each
        for each in exclude_deleting(claims)
        if not is_condition_true(find_condition(each.status.conditions, "InstanceTerminating"))
    ]


def _pending_condition(claim: NodeClaim) -> Condition | None:
    """Return the first error among the conditions that are not True, else the first of these."""
    conditions = (find_condition(claim.status.conditions, type_) for type_ in LIFECYCLE_CONDITIONS)
    current = [
        each
        for each in conditions
        if each is not None
        and not is_condition_true(each)
        and not check_observed_generation(each, claim.metadata, "NodeClaim")
    ]
    return next(filter(_is_error, current), current[0] if current else None)


def _is_error(condition: Condition) -> bool:
    """
    Return whether a condition states an error. One without a message is none to KAITO either.
    """
    return (condition.reason or "") not in TRANSIENT_REASONS and bool(condition.message)
