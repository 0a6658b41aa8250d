"""
A team's namespace with its Gateway and one model, all healthy: of the charts, and what KAITO and
Istio would make and say, who are not there.
"""

import contextlib
import datetime as dt
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from e2e.controlplane import Json, until
from e2e.suite.cluster import ClusterUnderTest
from e2e.suite.reporters import is_ready
from e2e.support.production_stack import components, statuses
from e2e.support.production_stack.components import StackComponent
from e2e.support.production_stack.kaito_controller import KaitoController
from e2e.support.production_stack.workload import renamed
from reporter.embedded.example import team


MODEL = "qwen"
WORKSPACE = f"{MODEL}-7rk2p"
LABEL = "productionstack.kaito.sh/managed-by"
_PLAYED = {
    "Gateway",
    "HTTPRoute",
    "InferencePool",
    "APIKey",
    "InferenceSet",
    "Workspace",
}


@dataclass(frozen=True)
class SuiteModel:
    """
    *namespace*: its team's.
    """

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
        """
        The namespace first, what runs last.
        """
        now = dt.datetime.now(dt.UTC)
        parts = [
            team.namespace(),
            *team.manifests(now),
            *team.deployments(),
        ]
        own = [each for each in parts if each["kind"] != "GatewayClass"]
        for each in own:
            each["metadata"].pop("generation", None)
        return renamed(own, team=self.namespace, model=MODEL)

    def manifest(self, kind: str, name: str = "") -> Json:
        """
        As it was installed, without its status.
        """
        found = next(
            each
            for each in self.manifests
            if each["kind"] == kind and name in {"", each["metadata"]["name"]}
        )
        return {key: each for key, each in found.items() if key != "status"}

    def status(self, kind: str) -> Json:
        """
        When all is well.
        """
        found: Json = next(each for each in self.manifests if each["kind"] == kind)["status"]
        return found

    def path(self, kind: str, name: str = "") -> str:
        return self.cluster.client.path(self.manifest(kind, name))

    def label(self, value: str | None) -> None:
        """
        That of the namespace, by which the reporters know it.
        """
        path = self.path("Namespace")
        self.cluster.client.patch(path, {"metadata": {"labels": {LABEL: value}}})

    # ------------------------------------------------------------ its life

    def install(self, *, labelled: bool = True) -> None:
        """
        Returns when all of it is Ready. The label comes last, so that nothing half-made is judged.
        """
        client = self.cluster.client
        for each in self.manifests:
            self._install(each)
        for each in self.manifests:
            if each["kind"] in _PLAYED:
                statuses.write_status(client, each, each["status"])
        self._until_ready()
        if labelled:
            self.label("modelharness")

    def remove(self) -> None:
        client = self.cluster.client
        if client.exists(self.path("Namespace")):
            client.delete(self.path("Namespace"))

    def _install(self, given: Json) -> None:
        each = {key: part for key, part in given.items() if key != "status"}
        if each["kind"] == "Namespace":
            each["metadata"] = {"name": self.namespace}
        if each["kind"] in {"Deployment", "Pod"}:
            each = self.cluster.as_idle_workload(each)
        client = self.cluster.client
        if each["kind"] == "Pod":
            account = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/default"
            until(lambda: client.exists(account), within=60, what=f"{account} exists")
        client.create(client.collection(each), each)

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
    """
    In a namespace of its own.
    """
    model = SuiteModel(cluster, f"e2e-{topic}-{secrets.token_hex(2)}")
    try:
        model.install(labelled=labelled)
        yield model
    finally:
        model.remove()
