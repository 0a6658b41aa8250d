"""The reporters of a cluster by their pods: flags, leader and status."""

import json
from dataclasses import dataclass

import pytest

from e2e.controlplane import ApiError, Client, Json
from e2e.support.events import SOURCE


NAME = "app.kubernetes.io/name"
ENDED = frozenset({"Failed", "Succeeded"})
"""The phases of a pod whose containers have ended for good."""

STATUS = "status-bind-address"
INSTALL = (
    "Install one with: helm install status-reporter helm/productionstack-status-reporter"
    " --namespace kaito-system --set controlPlane.kaitoNamespace=kaito-system"
    " --set 'extraArgs={--heartbeat-seconds=60}' --set statusBindAddress=:8082"
    " --set image.registry=…"
)


@dataclass(frozen=True)
class ReporterPods:
    client: Client

    def pods(self) -> list[Json]:
        """Return the pods that are neither being deleted nor have ended, as evicted ones have."""
        pods = self.client.list("/api/v1/pods", labelSelector=f"{NAME}={SOURCE}")
        return [
            pod
            for pod in pods
            if "deletionTimestamp" not in pod["metadata"]
            and pod["status"].get("phase") not in ENDED
        ]

    def check(self) -> None:
        """Raise pytest.UsageError unless there are reporters and all are Ready."""
        pods = self.pods()
        if not pods:
            raise pytest.UsageError(f"No pod is labelled {NAME}={SOURCE}. {INSTALL}")
        unready = [pod["metadata"]["name"] for pod in pods if not is_ready(pod)]
        if unready:
            raise pytest.UsageError(f"Not Ready: {', '.join(unready)}. {INSTALL}")

    def flags(self) -> dict[str, str]:
        """Return the flags in the arguments of the first reporter."""
        arguments = _container(self.pods()[0]).get("args") or []
        pairs = [argument.removeprefix("--").partition("=") for argument in arguments]
        return {name: value for name, _, value in pairs}

    @property
    def image(self) -> str:
        return str(_container(self.pods()[0])["image"])

    @property
    def namespace(self) -> str:
        return str(self.pods()[0]["metadata"]["namespace"])

    def leader(self) -> str:
        """Return the pod name of the leader; empty if there is none or its pod is deleted."""
        lease = self.flags().get("leader-election-id", SOURCE)
        path = f"/apis/coordination.k8s.io/v1/namespaces/{self.namespace}/leases/{lease}"
        holder = self.client.get(path)["spec"].get("holderIdentity", "").partition("_")[0]
        return holder if holder in {pod["metadata"]["name"] for pod in self.pods()} else ""

    def delete_pod(self, name: str) -> None:
        """Delete a pod without a grace period, as when its node fails."""
        path = f"/api/v1/namespaces/{self.namespace}/pods/{name}"
        self.client.delete(f"{path}?gracePeriodSeconds=0")

    def describe(self) -> str:
        """
        Return the /status of each reporter, to find out why a test failed. It must be opened.
        """
        try:
            pods = self.pods()
        except (OSError, ApiError) as err:
            return f"the reporters cannot be listed: {err}"
        return "\n".join(f"--- {pod['metadata']['name']}\n{self._status(pod)}" for pod in pods)

    def _status(self, pod: Json) -> str:
        meta = pod["metadata"]
        port = self.flags().get(STATUS, "").rpartition(":")[2]
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}:{port}"
        try:
            return json.dumps(json.loads(self.client.raw("GET", f"{path}/proxy/status")), indent=1)
        except (OSError, ApiError) as err:
            return f"/status cannot be read: {err}"


def is_ready(pod: Json) -> bool:
    conditions = pod.get("status", {}).get("conditions", [])
    return any((c["type"], c["status"]) == ("Ready", "True") for c in conditions)


def _container(pod: Json) -> Json:
    container: Json = pod["spec"]["containers"][0]
    return container
