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

from e2e import stack, statuses
from e2e.controlplane import Json, until
from e2e.kaito import Kaito
from e2e.stack import Component
from e2e.suite.cluster import Cluster
from e2e.suite.reporters import is_ready
from e2e.workload import renamed
from reporter.embedded import example_team


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
class Model:
    """
    *namespace*: its team's.
    """

    cluster: Cluster
    namespace: str

    @property
    def kaito(self) -> Kaito:
        return Kaito(self.cluster.client, self.namespace, MODEL)

    @property
    def picker(self) -> Component:
        name = f"{MODEL}-inferencepool-epp"
        return Component(self.namespace, name, {"inferencepool": name})

    @cached_property
    def manifests(self) -> list[Json]:
        """
        The namespace first, what runs last.
        """
        now = dt.datetime.now(dt.UTC)
        parts = [
            example_team.namespace(),
            *example_team.manifests(now),
            *example_team.deployments(),
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
                statuses.write(client, each, each["status"])
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
            each = self.cluster.stand_in(each)
        client = self.cluster.client
        if each["kind"] == "Pod":
            account = f"/api/v1/namespaces/{self.namespace}/serviceaccounts/default"
            until(lambda: client.exists(account), within=60, what=f"{account} exists")
        client.create(client.collection(each), each)

    def serves(self) -> bool:
        return is_ready(self.cluster.client.get(self.path("Pod")))

    def _until_ready(self) -> None:
        client = self.cluster.client
        until(self.serves, within=180, what=f"{self.path('Pod')} is Ready")
        for each in self.manifests:
            if each["kind"] == "Deployment":
                meta = each["metadata"]
                labels = each["spec"]["selector"]["matchLabels"]
                component = Component(meta["namespace"], meta["name"], labels)
                stack.until_ready(client, component, within=180)


@contextlib.contextmanager
def installed(cluster: Cluster, topic: str, *, labelled: bool = True) -> Iterator[Model]:
    """
    In a namespace of its own.
    """
    model = Model(cluster, f"e2e-{topic}-{secrets.token_hex(2)}")
    try:
        model.install(labelled=labelled)
        yield model
    finally:
        model.remove()
