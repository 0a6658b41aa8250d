"""A team's namespace as its charts install it, and the actions of Istio on its objects."""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass

from devcluster.example import team
from e2e.controlplane import Client, ControlPlane, Json, faults, until
from e2e.support.production_stack import components, statuses
from e2e.support.production_stack.components import StackComponent
from e2e.support.production_stack.kaito_controller import KaitoController
from e2e.support.production_stack.workload import renamed


MODEL = "qwen"
LABEL = "productionstack.kaito.sh/managed-by"
GATEWAY, POOL, ROUTE, KEY = "Gateway", "InferencePool", "HTTPRoute", "APIKey"
_OF_CONTROLLERS = {"GatewayClass", "Pod", "Workspace"}


@dataclass(frozen=True)
class TeamStack:
    """A namespace and its objects. *nodes*: labels of the nodes that all its pods run on."""

    plane: ControlPlane
    name: str
    nodes: tuple[tuple[str, str], ...] = ()

    @property
    def client(self) -> Client:
        return self.plane.client

    @property
    def kaito(self) -> KaitoController:
        return KaitoController(self.client, self.name)

    # ------------------------------------------------------------ the charts

    def chart_manifests(self) -> list[Json]:
        """
        Return the namespace first, then the harness, then the model, without objects that
        controllers create.
        """
        made = [each for each in self._example() if not self._is_made_by_istio(each)]
        rest = [each for each in made if each["kind"] != "Deployment"]
        found = [*rest, *(each for each in made if each["kind"] == "Deployment")]
        return [{key: each[key] for key in each if key != "status"} for each in found]

    @property
    def namespace(self) -> Json:
        return next(each for each in self.chart_manifests() if each["kind"] == "Namespace")

    @property
    def picker(self) -> StackComponent:
        return StackComponent(
            self.name,
            f"{MODEL}-inferencepool-epp",
            {"inferencepool": f"{MODEL}-inferencepool-epp"},
        )

    # ------------------------------------------------------------ Istio

    @property
    def proxies(self) -> StackComponent:
        labels = next(each["spec"]["selector"]["matchLabels"] for each in self._data_plane())
        return StackComponent(self.name, f"{self.name}-gw-istio", labels)

    def accept_gateway(self) -> None:
        """
        Accept the Gateway as Istio does: its proxies start, its address is pending, and the pool
        has no Service of Istio yet.
        """
        self._write_status(GATEWAY, self._pending(self._status(GATEWAY)))
        for each in self._data_plane():
            self.client.create(self.client.collection(each), self._starting(each))
        self._write_status(ROUTE, self._unresolved(self._status(ROUTE)))

    def program_gateway(self) -> None:
        """Set the Gateway's conditions as Istio does when it is programmed."""
        for kind in (GATEWAY, POOL, ROUTE):
            self._write_status(kind, self._status(kind))

    def authorize_api_key(self) -> None:
        self._write_status(KEY, self._status(KEY))

    def patch_spec(self, kind: str, spec: Json) -> None:
        """Change the spec as an upgrade of its chart does, before Istio has seen it."""
        self.client.patch(self.path(kind), {"spec": spec})

    def path(self, kind: str) -> str:
        """Return the path of the object of this kind."""
        return self.client.path(self._part(kind))

    # ------------------------------------------------------------ its pods

    def wait_started(self) -> None:
        """Wait until proxies and picker are Ready, whatever they were waiting for."""
        for each in (self.proxies, self.picker):
            components.until_started(self.client, each)

    # ------------------------------------------------------------ used above

    def _example(self) -> list[Json]:
        now = dt.datetime.now(dt.UTC)
        parts = [
            team.namespace(),
            *team.manifests(now),
            *team.deployments(),
        ]
        kept = [each for each in parts if each["kind"] not in _OF_CONTROLLERS]
        for each in kept:
            each["metadata"].pop("generation", None)
            if each["kind"] == "Deployment":
                each["spec"]["template"]["spec"]["nodeSelector"] = dict(self.nodes)
        return renamed(kept, team=self.name, model=MODEL)

    def _is_made_by_istio(self, manifest: Json) -> bool:
        return manifest["metadata"]["name"] == f"{self.name}-gw-istio"

    def _data_plane(self) -> list[Json]:
        made = [each for each in self._example() if self._is_made_by_istio(each)]
        return [each for each in made if each["kind"] == "Deployment"]

    def _part(self, kind: str) -> Json:
        return next(each for each in self._example() if each["kind"] == kind)

    def _status(self, kind: str) -> Json:
        found: Json = self._part(kind)["status"]
        return found

    def _write_status(self, kind: str, status: Json) -> None:
        """Write a status, also of an object that is created only now."""
        part = self._part(kind)
        path = self.client.path(part)
        until(lambda: self.client.exists(path), within=60, what=f"{path} exists")
        statuses.write_status(self.client, part, status)

    @staticmethod
    def _starting(deployment: Json) -> Json:
        deployment["spec"]["template"]["metadata"]["annotations"] = faults.STARTING.annotations()
        return deployment

    @staticmethod
    def _pending(status: Json) -> Json:
        for each in status["conditions"]:
            if each["type"] == "Programmed":
                why = "failed to assign to all requested addresses: address pending for hostname"
                each |= {"status": "False", "reason": "AddressNotAssigned", "message": why}
        return {**status, "addresses": []}

    @staticmethod
    def _unresolved(status: Json) -> Json:
        for each in status["parents"][0]["conditions"]:
            if each["type"] == "ResolvedRefs":
                why = "backend(qwen-inferencepool-ip-1f6a2b.svc.cluster.local) not found"
                each |= {"status": "False", "reason": "BackendNotFound", "message": why}
        return status


def register_class(client: Client) -> None:
    """Create Istio's GatewayClass, as istiod does when it starts."""
    now = dt.datetime.now(dt.UTC)
    made = next(each for each in team.manifests(now) if each["kind"] == "GatewayClass")
    status = made.pop("status")
    client.create(client.collection(made), made)
    statuses.write_status(client, made, status)


def remove(plane: ControlPlane, names: Iterable[str]) -> None:
    """Delete without waiting: nothing in a terminating namespace is a finding."""
    for name in names:
        plane.client.delete(f"/api/v1/namespaces/{name}")
        for each in plane.client.list(f"/apis/kaito.sh/v1beta1/namespaces/{name}/workspaces"):
            KaitoController(plane.client, name).remove_finalizers(each["metadata"]["name"])
    plane.client.delete("/apis/gateway.networking.k8s.io/v1/gatewayclasses/istio")
