"""The churn of the soak: components are scaled to zero and back at random times."""

import random
import time
from dataclasses import dataclass, field

from e2e.controlplane import Client, ControlPlane
from e2e.soak.ground_truth import ComponentOutage
from e2e.support.production_stack import components
from e2e.support.production_stack.components import StackComponent


COMPONENTS = {
    reason: each.component
    for reason, each in components.evaluated_components().items()
    if not each.component.switched_on_by
}
"""The components that a reporter without further flags evaluates, by reason."""

OUTAGE_SECONDS, HEALTHY_SECONDS = (3.0, 120.0), (5.0, 120.0)
"""The shortest and longest duration."""


@dataclass
class ChangingComponent:
    """A component; *changes_at* is the time of its next change, unless it is still recovering."""

    component: StackComponent
    changes_at: float
    outage: ComponentOutage | None = None
    is_recovering: bool = False


@dataclass
class ComponentChurn:
    plane: ControlPlane
    rng: random.Random
    outages: list[ComponentOutage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._components = {
            reason: ChangingComponent(
                component, time.time() + self.rng.uniform(*HEALTHY_SECONDS) / 2
            )
            for reason, component in COMPONENTS.items()
        }

    def step(self) -> None:
        """Make the changes that are due. The API server must be available."""
        for reason, changing in self._components.items():
            if changing.is_recovering:
                self._check_recovered(changing)
            elif time.time() >= changing.changes_at:
                self._restore(changing) if changing.outage else self._break(reason, changing)

    def restore_all(self) -> bool:
        """Restore all components. Return whether all are Ready."""
        for changing in self._components.values():
            if changing.is_recovering:
                self._check_recovered(changing)
            elif changing.outage:
                self._restore(changing)
        return not any(changing.outage for changing in self._components.values())

    def _break(self, reason: str, changing: ChangingComponent) -> None:
        components.scale(self._client, changing.component, 0)
        changing.outage = ComponentOutage(reason, time.time())
        self.outages.append(changing.outage)
        changing.changes_at = time.time() + self.rng.uniform(*OUTAGE_SECONDS)

    def _restore(self, changing: ChangingComponent) -> None:
        components.scale(self._client, changing.component, changing.component.replicas)
        changing.is_recovering = True

    def _check_recovered(self, changing: ChangingComponent) -> None:
        if components.is_ready(components.deployment(self._client, changing.component)):
            changing.outage.ended = time.time()
            changing.outage, changing.is_recovering = None, False
            changing.changes_at = time.time() + self.rng.uniform(*HEALTHY_SECONDS)

    @property
    def _client(self) -> Client:
        return self.plane.client
