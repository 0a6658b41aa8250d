"""
Deployments of which an outage is announced at once: scaled to zero, and back with their status.
"""

import asyncio
import datetime as dt
from collections.abc import Iterator

from e2e.bench.support.plain_client import Json, PlainClient
from e2e.controlplane import Client
from reporter.embedded.example import stack
from reporter.embedded.example.stack import ExampleComponent


NODE_PROVISIONER = ExampleComponent(
    "kaito-system", "gpu-provisioner", 1, (("app.kubernetes.io/name", "gpu-provisioner"),)
)
ROUTER = "kaito-system", "body-based-router"
INFERENCE_SETS = "/apis/kaito.sh/v1beta1/inferencesets"


def data_plane(client: Client) -> tuple[str, str]:
    """
    Of the Gateway of any team.
    """
    (one,) = client.list(INFERENCE_SETS, limit="1")
    team = one["metadata"]["namespace"]
    return team, f"{team}-gw-istio"


def node_provisioner() -> Iterator[Json]:
    """
    Running; its objects that the reporter never reads are left out.
    """
    born = dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)
    made = stack.with_running_pods(stack.component_deployment(NODE_PROVISIONER), born)
    yield from (each for each in made if each["kind"] == "Deployment")


class ScalableDeployment:
    """
    One Deployment; nobody but us writes its status.
    """

    def __init__(self, session: PlainClient, namespace: str, name: str) -> None:
        self._session = session
        self._path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
        self._before: Json = {}

    async def scale_down(self) -> float:
        """
        When that was sent, by the time of the event loop.
        """
        self._before = await self._session.get(self._path)
        begun = asyncio.get_running_loop().time()
        await self._session.patch(self._path, {"spec": {"replicas": 0}})
        return begun

    async def scale_up(self) -> float:
        """
        When its status was sent.
        """
        replicas = self._before["spec"]["replicas"]
        await self._session.patch(self._path, {"spec": {"replicas": replicas}})
        generation = (await self._session.get(self._path))["metadata"]["generation"]
        status = {**self._before["status"], "observedGeneration": generation}
        begun = asyncio.get_running_loop().time()
        await self._session.patch(f"{self._path}/status", {"status": status})
        return begun
