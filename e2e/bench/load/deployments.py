"""Deployments that are scaled to zero, which is announced at once, and back."""

import asyncio
import datetime as dt
from collections.abc import Iterator

from msgspec.structs import replace

from devcluster.example import stack
from e2e.bench.support.plain_client import Json, PlainClient
from e2e.controlplane import Client
from e2e.support.production_stack.components import NODE_PROVISIONER as PROVISIONER


# In a namespace that the example stack has.
NODE_PROVISIONER = replace(PROVISIONER, namespace="kaito-system")
ROUTER = "kaito-system", "body-based-router"
INFERENCE_SETS = "/apis/kaito.sh/v1beta1/inferencesets"


def data_plane(client: Client) -> tuple[str, str]:
    """Return namespace and name of the data-plane Deployment of one team's Gateway."""
    (inference_set,) = client.list(INFERENCE_SETS, limit="1")
    team = inference_set["metadata"]["namespace"]
    return team, f"{team}-gw-istio"


def node_provisioner() -> Iterator[Json]:
    """Yield a running node provisioner, without objects that the reporter does not read."""
    created = dt.datetime.now(dt.UTC) - dt.timedelta(hours=1)
    objects = stack.with_running_pods(stack.component_deployment(NODE_PROVISIONER), created)
    yield from (manifest for manifest in objects if manifest["kind"] == "Deployment")


class ScalableDeployment:
    """A Deployment whose status no controller writes."""

    def __init__(self, session: PlainClient, namespace: str, name: str) -> None:
        self._session = session
        self._path = f"/apis/apps/v1/namespaces/{namespace}/deployments/{name}"
        self._before: Json = {}

    async def scale_down(self) -> float:
        """Scale to zero. Return the event loop's time of the request."""
        self._before = await self._session.get(self._path)
        begun = asyncio.get_running_loop().time()
        await self._session.patch(self._path, {"spec": {"replicas": 0}})
        return begun

    async def scale_up(self) -> float:
        """Scale back and write the status. Return the event loop's time of the status request."""
        replicas = self._before["spec"]["replicas"]
        await self._session.patch(self._path, {"spec": {"replicas": replicas}})
        generation = (await self._session.get(self._path))["metadata"]["generation"]
        status = {**self._before["status"], "observedGeneration": generation}
        begun = asyncio.get_running_loop().time()
        await self._session.patch(f"{self._path}/status", {"status": status})
        return begun
