"""
The reporters that run in a cluster, seen as pods: what they were told, who leads, what they see.
"""

import json
from dataclasses import dataclass

import pytest

from e2e.controlplane import ApiError, Client, Json
from e2e.support.events import SOURCE


NAME = "app.kubernetes.io/name"
PORT = 8081
INSTALL = (
    "Install one with: helm install status-reporter helm/productionstack-status-reporter"
    " --namespace kaito-system --set heartbeatSeconds=60,controlPlane.kaitoNamespace=kaito-system"
    " --set image.repository=…,image.tag=…"
)


@dataclass(frozen=True)
class ReporterPods:
    client: Client

    def pods(self) -> list[Json]:
        """
        All that are not on their way out.
        """
        found = self.client.list("/api/v1/pods", labelSelector=f"{NAME}={SOURCE}")
        return [each for each in found if "deletionTimestamp" not in each["metadata"]]

    def check(self) -> None:
        """
        Raises pytest.UsageError unless there are any and all are Ready.
        """
        found = self.pods()
        if not found:
            raise pytest.UsageError(f"No pod is labelled {NAME}={SOURCE}. {INSTALL}")
        waiting = [each["metadata"]["name"] for each in found if not is_ready(each)]
        if waiting:
            raise pytest.UsageError(f"Not Ready: {', '.join(waiting)}. {INSTALL}")

    def flags(self) -> dict[str, str]:
        """
        What they were started with, as far as it is not the default.
        """
        words = _container(self.pods()[0]).get("args") or []
        pairs = [each.removeprefix("--").partition("=") for each in words]
        return {name: value for name, _, value in pairs}

    @property
    def image(self) -> str:
        return str(_container(self.pods()[0])["image"])

    @property
    def namespace(self) -> str:
        return str(self.pods()[0]["metadata"]["namespace"])

    def leader(self) -> str:
        """
        The name of its pod; empty while nobody leads, or one that has gone.
        """
        lease = self.flags().get("leader-election-id", SOURCE)
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{lease}"
        holder = self.client.get(path)["spec"].get("holderIdentity", "").partition("_")[0]
        return holder if holder in {each["metadata"]["name"] for each in self.pods()} else ""

    def delete_pod(self, name: str) -> None:
        """
        At once, as with its node.
        """
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}"
        self.client.delete(f"{path}?gracePeriodSeconds=0")

    def describe(self) -> str:
        """
        What each of them sees, for whoever has to find out why a test failed.
        """
        try:
            found = self.pods()
        except (OSError, ApiError) as err:
            return f"the reporters cannot be found: {err}"
        return "\n".join(f"--- {each['metadata']['name']}\n{self._seen(each)}" for each in found)

    def _seen(self, pod: Json) -> str:
        meta = pod["metadata"]
        where = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}:{_port(pod)}"
        try:
            return json.dumps(
                json.loads(self.client.raw("GET", f"{where}/proxy/status")), indent=1
            )
        except (OSError, ApiError) as err:
            return f"/status cannot be read: {err}"


def is_ready(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any((each["type"], each["status"]) == ("Ready", "True") for each in conditions)


def _container(pod: Json) -> Json:
    found: Json = pod["spec"]["containers"][0]
    return found


def _port(pod: Json) -> int:
    ports = _container(pod).get("ports", [])
    return next((each["containerPort"] for each in ports if each.get("name") == "health"), PORT)
