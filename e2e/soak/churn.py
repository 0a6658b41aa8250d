"""
What changes all the time: components go out and come back, each at moments of its own.
"""

import random
import time
from dataclasses import dataclass, field

from e2e import stack
from e2e.controlplane import Client, ControlPlane
from e2e.soak.truth import Outage
from e2e.stack import Component


REASONS = {
    "clusterIstioControlPlaneNotReady": stack.ISTIOD,
    "clusterGatewayAuthNotReady": stack.APIKEY_AUTHZ,
    "clusterBBRNotReady": stack.BODY_BASED_ROUTER,
    "clusterKaitoControllerNotReady": stack.KAITO_WORKSPACE,
    "clusterKedaNotReady": stack.KEDA_OPERATOR,
    "clusterKedaKaitoScalerNotReady": stack.KEDA_KAITO_SCALER,
}
OUT, HEALTHY = (3.0, 120.0), (5.0, 120.0)
"""
The shortest and longest seconds of each.
"""


@dataclass
class Changing:
    """
    One component; *at*: when it changes next. While it *heals* that waits.
    """

    component: Component
    at: float
    outage: Outage | None = None
    heals: bool = False


@dataclass
class Churn:
    plane: ControlPlane
    chance: random.Random
    outages: list[Outage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._all = {
            reason: Changing(component, time.time() + self.chance.uniform(*HEALTHY) / 2)
            for reason, component in REASONS.items()
        }

    def step(self) -> None:
        """
        Change what is due. The API server must be there.
        """
        for reason, each in self._all.items():
            if each.heals:
                self._see(each)
            elif time.time() >= each.at:
                self._restore(each) if each.outage else self._break(reason, each)

    def calm(self) -> bool:
        """
        Restore everything; whether it is all Ready.
        """
        for each in self._all.values():
            if each.heals:
                self._see(each)
            elif each.outage:
                self._restore(each)
        return not any(each.outage for each in self._all.values())

    def _break(self, reason: str, each: Changing) -> None:
        stack.scale(self._client, each.component, 0)
        each.outage = Outage(reason, time.time())
        self.outages.append(each.outage)
        each.at = time.time() + self.chance.uniform(*OUT)

    def _restore(self, each: Changing) -> None:
        stack.scale(self._client, each.component, each.component.replicas)
        each.heals = True

    def _see(self, each: Changing) -> None:
        if stack.is_ready(stack.deployment(self._client, each.component)):
            each.outage.ended = time.time()
            each.outage, each.heals = None, False
            each.at = time.time() + self.chance.uniform(*HEALTHY)

    @property
    def _client(self) -> Client:
        return self.plane.client
