"""
What changes all the time: components go out and come back, each at moments of its own.
"""

import random
import time
from dataclasses import dataclass, field

from e2e.controlplane import Client, ControlPlane
from e2e.soak.ground_truth import ComponentOutage
from e2e.support.production_stack import components
from e2e.support.production_stack.components import StackComponent


REASONS = {
    "clusterIstioControlPlaneNotReady": components.ISTIOD,
    "clusterGatewayAuthNotReady": components.APIKEY_AUTHZ,
    "clusterBBRNotReady": components.BODY_BASED_ROUTER,
    "clusterKaitoControllerNotReady": components.KAITO_WORKSPACE,
    "clusterKedaNotReady": components.KEDA_OPERATOR,
    "clusterKedaKaitoScalerNotReady": components.KEDA_KAITO_SCALER,
}
OUT, HEALTHY = (3.0, 120.0), (5.0, 120.0)
"""
The shortest and longest seconds of each.
"""


@dataclass
class ChangingComponent:
    """
    One component; *at*: when it changes next. While it *heals* that waits.
    """

    component: StackComponent
    changes_at: float
    outage: ComponentOutage | None = None
    is_healing: bool = False


@dataclass
class ComponentChurn:
    plane: ControlPlane
    rng: random.Random
    outages: list[ComponentOutage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._all = {
            reason: ChangingComponent(component, time.time() + self.rng.uniform(*HEALTHY) / 2)
            for reason, component in REASONS.items()
        }

    def step(self) -> None:
        """
        Change what is due. The API server must be there.
        """
        for reason, each in self._all.items():
            if each.is_healing:
                self._check_healed(each)
            elif time.time() >= each.changes_at:
                self._restore(each) if each.outage else self._break(reason, each)

    def restore_all(self) -> bool:
        """
        Restore everything; whether it is all Ready.
        """
        for each in self._all.values():
            if each.is_healing:
                self._check_healed(each)
            elif each.outage:
                self._restore(each)
        return not any(each.outage for each in self._all.values())

    def _break(self, reason: str, each: ChangingComponent) -> None:
        components.scale(self._client, each.component, 0)
        each.outage = ComponentOutage(reason, time.time())
        self.outages.append(each.outage)
        each.changes_at = time.time() + self.rng.uniform(*OUT)

    def _restore(self, each: ChangingComponent) -> None:
        components.scale(self._client, each.component, each.component.replicas)
        each.is_healing = True

    def _check_healed(self, each: ChangingComponent) -> None:
        if components.is_ready(components.deployment(self._client, each.component)):
            each.outage.ended = time.time()
            each.outage, each.is_healing = None, False
            each.changes_at = time.time() + self.rng.uniform(*HEALTHY)

    @property
    def _client(self) -> Client:
        return self.plane.client
