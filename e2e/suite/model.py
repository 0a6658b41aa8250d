"""
A team's namespace with its Gateway and one model, all healthy.

It has the objects of the charts, and those with their status that KAITO and Istio would write.
"""

import contextlib
import datetime as dt
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from devcluster.example import team
from e2e.controlplane import Json, until
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.reporters import is_ready
from e2e.support.production_stack import components, statuses
from e2e.support.production_stack.components import StackComponent
from e2e.support.production_stack.kaito_controller import KaitoController
from e2e.support.production_stack.workload import renamed


MODEL = "qwen"
WORKSPACE = f"{MODEL}-7rk2p"
LABEL = "productionstack.kaito.sh/managed-by"
_KINDS_WITH_STATUS = {
    "Gateway",
    "HTTPRoute",
    "InferencePool",
    "APIKey",
    "InferenceSet",
    "Workspace",
}


@dataclass(frozen=True)
class SuiteModel:
    """A model in the namespace of its team."""

    cluster: ClusterUnderTest
    namespace: str

    @property
    def kaito(self) -> KaitoController:
        return KaitoController(self.cluster.client, self.namespace, MODEL)

    @property
    def picker(self) -> StackComponent:
        name = f"{MODEL}-inferencepool-epp"
        return StackComponent(self.namespace, name, {"inferencepool": name})

    @cached_property
    def manifests(self) -> list[Json]:
        """The manifests, the namespace first and Deployments last."""
        now = dt.datetime.now(dt.UTC)
        parts = [
            team.namespace(),
            *team.manifests(now),
            *team.deployments(),
        ]
        own = [part for part in parts if part["kind"] != "GatewayClass"]
        for manifest in own:
            manifest["metadata"].pop("generation", None)
        return renamed(own, team=self.namespace, model=MODEL)

    def manifest(self, kind: str, name: str = "") -> Json:
        """Return a manifest as it was installed, without its status."""
        found = next(
            manifest
            for manifest in self.manifests
            if manifest["kind"] == kind and name in {"", manifest["metadata"]["name"]}
        )
        return {key: value for key, value in found.items() if key != "status"}

    def status(self, kind: str) -> Json:
        """Return the healthy status of a kind."""
        status: Json = next(each for each in self.manifests if each["kind"] == kind)["status"]
        return status

    def path(self, kind: str, name: str = "") -> str:
        return self.cluster.client.path(self.manifest(kind, name))

    def label(self, value: str | None) -> None:
        """Set or remove the namespace's label that makes the reporters evaluate it."""
        path = self.path("Namespace")
        self.cluster.client.patch(path, {"metadata": {"labels": {LABEL: value}}})

    # ------------------------------------------------------------ installation

    def install(self, *, labelled: bool = True) -> None:
        """
        Install the model and wait until it is Ready.

        The label comes last, so that the reporters do not evaluate an incomplete namespace.
        """
        client = self.cluster.client
        for manifest in self.manifests:
            self._install(manifest)
        for each in self.manifests:
            if each["kind"] in _KINDS_WITH_STATUS:
                statuses.write_status(client, each, each["status"])
        self._until_ready()
        if labelled:
            self.label("modelharness")

    def remove(self) -> None:
        client = self.cluster.client
        if client.exists(self.path("Namespace")):
            client.delete(self.path("Namespace"))

    def _install(self, manifest: Json) -> None:
        stripped = {key: part for key, part in manifest.items() if key != "status"}
        if stripped["kind"] == "Namespace":
            stripped["metadata"] = {"name": self.namespace}
        if stripped["kind"] in {"Deployment", "Pod"}:
            stripped = self.cluster.as_idle_workload(stripped)
        client = self.cluster.client
        if stripped["kind"] == "Pod":
            account = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/default"
            until(lambda: client.exists(account), within=60, what=f"{account} exists")
        client.create(client.collection(stripped), stripped)

    def is_serving(self) -> bool:
        return is_ready(self.cluster.client.get(self.path("Pod")))

    def _until_ready(self) -> None:
        client = self.cluster.client
        until(self.is_serving, within=180, what=f"{self.path('Pod')} is Ready")
        for each in self.manifests:
            if each["kind"] == "Deployment":
                meta = each["metadata"]
                labels = each["spec"]["selector"]["matchLabels"]
                component = StackComponent(meta["namespace"], meta["name"], labels)
                components.until_ready(client, component, within=180)


@contextlib.contextmanager
def installed(
    cluster: ClusterUnderTest, topic: str, *, labelled: bool = True
) -> Iterator[SuiteModel]:
    """Install a model in its own namespace, and remove it at the end."""
    model = SuiteModel(cluster, f"e2e-{topic}-{secrets.token_hex(2)}")
    try:
        model.install(labelled=labelled)
        yield model
    finally:
        model.remove()
