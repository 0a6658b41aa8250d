"""
A Job on the control plane, and its sidecar: a process with the Role of docs/job-status.md.

The pod of the Job is never scheduled, and the test writes its status as the kubelet would, unless
kwok plays the kubelet.
"""

import os
import secrets
import sys
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Self

from e2e.controlplane import ControlPlane, Json, until
from e2e.controlplane.client import STRATEGIC
from e2e.controlplane.processes import Process
from e2e.controlplane.reporter_rights import until_allowed
from reporter.kube.access_review import Permission


PROGRAM = (sys.executable, "-m", "e2e.support.job_sidecar_program")
ACCOUNT = "status-reporter-sa"
ADAPTER, SIDECAR = "my-adapter", "status-reporter"
WAIT_TIMEOUT = 60.0
"""Seconds for any step on a busy machine."""

RULES: tuple[Json, ...] = (
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["get"]},
    {"apiGroups": ["batch"], "resources": ["jobs/status"], "verbs": ["patch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]},
)
NEVER = "nobody"
"""The name of a scheduler that does not exist."""


class SidecarJob:
    """
    One Job with one pod, and at most one sidecar at a time.

    *native*: the sidecar is an init container that restarts. *scheduled*: kwok runs the pod.
    """

    def __init__(
        self,
        plane: ControlPlane,
        namespace: str,
        *,
        native: bool = False,
        scheduled: bool = False,
        rules: Sequence[Json] = RULES,
    ) -> None:
        self.plane, self.namespace = plane, namespace
        self.name = f"check-{secrets.token_hex(3)}"
        self.folder = plane.folder / self.name
        self.folder.mkdir()
        self.result = self.folder / "results" / "adapter-result.json"
        self.result.parent.mkdir()
        self.process: Process | None = None
        self._number = 0
        _install_rights(plane, namespace, rules)
        self.create(native=native, scheduled=scheduled)
        self.pod = self._await_pod()
        self.write_token(plane.service_account_token(namespace, ACCOUNT))
        (self.folder / "ca.crt").write_bytes(plane.client.ca_file.read_bytes())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process is not None:
            print(self.process.tail(60))
            if self.process.running():
                self.process.kill()

    # ------------------------------------------------------------ the Job

    @property
    def path(self) -> str:
        return f"/apis/batch/v1/namespaces/{self.namespace}/jobs/{self.name}"

    @property
    def pod_path(self) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods/{self.pod}"

    def create(self, *, native: bool = False, scheduled: bool = False) -> Json:
        folder = self.path.rpartition("/")[0]
        return self.plane.client.create(
            folder, _manifest(self.name, native=native, scheduled=scheduled)
        )

    def delete(self) -> None:
        """Delete the Job, and leave its pod to the garbage collector."""
        self.plane.client.raw("DELETE", f"{self.path}?propagationPolicy=Background")
        until(
            lambda: not self.plane.client.exists(self.path), within=WAIT_TIMEOUT, what="Job gone"
        )

    def conditions(self) -> dict[str, Json]:
        found = self.plane.client.get(self.path)["status"].get("conditions") or []
        assert len(found) == len({each["type"] for each in found})
        return {each["type"]: each for each in found}

    def await_condition(self, kind: str, status: str = "True") -> Json:
        def read() -> Json | None:
            found = self.conditions().get(kind)
            return found if found and found["status"] == status else None

        return until(read, within=WAIT_TIMEOUT, what=f"{kind}={status} of {self.name}")

    def write_status(self, phase: str = "Running", **terminated: object) -> None:
        """Write the pod's status as the kubelet would. *terminated*: of the adapter."""
        ended = {"terminated": {"startedAt": _WHEN, "finishedAt": _WHEN, **terminated}}
        state = ended if terminated else {"running": {"startedAt": _WHEN}}
        containers = [
            _container_status(ADAPTER, state),
            _container_status(SIDECAR, {"running": {"startedAt": _WHEN}}),
        ]
        status = {"phase": phase, "containerStatuses": containers}
        self.plane.client.patch(f"{self.pod_path}/status", {"status": status}, STRATEGIC)

    def await_counted(self) -> None:
        """Wait until the Job controller has counted the pod, and writes to the Job no more."""

        def counted() -> bool:
            status = self.plane.client.get(self.path).get("status", {})
            return status.get("active") == 1 and "ready" in status

        until(counted, within=WAIT_TIMEOUT, what=f"the pod of {self.name} is counted")

    def _await_pod(self) -> str:
        folder = f"/api/v1/namespaces/{self.namespace}/pods"
        selector = f"batch.kubernetes.io/job-name={self.name}"

        def read() -> str | None:
            found = self.plane.client.list(folder, labelSelector=selector)
            return str(found[0]["metadata"]["name"]) if found else None

        return until(read, within=WAIT_TIMEOUT, what=f"a pod of {self.name}")

    # ------------------------------------------------------------ the sidecar

    def write_token(self, token: str) -> None:
        new = self.folder / ".token"
        new.write_text(token)
        new.replace(self.folder / "token")

    def write_result(self, text: str) -> None:
        new = self.result.with_suffix(".new")
        new.write_text(text)
        new.replace(self.result)

    def start(self, **environ: str) -> Self:
        """Start the sidecar as the image does: without arguments."""
        self._number += 1
        self.process = self.plane.run(
            f"{self.name}-{self._number}", list(PROGRAM), self._environment(environ)
        )
        return self

    def end(self) -> int:
        """Return the exit code once the sidecar has ended."""
        process = self._started
        until(lambda: not process.running(), within=WAIT_TIMEOUT, what="the sidecar has ended")
        code = process.exit_code()
        assert code is not None
        return code

    def stop(self) -> int:
        """Stop the sidecar as the kubelet does. Returns its exit code."""
        return self._started.stop(grace=WAIT_TIMEOUT)

    def await_log(self, text: str, *, times: int = 1) -> None:
        until(lambda: self.log().count(text) >= times, within=WAIT_TIMEOUT, what=f"log: {text}")

    def log(self) -> str:
        return self._started.log.read_text(errors="replace")

    @property
    def _started(self) -> Process:
        assert self.process is not None, "the sidecar was not started"
        return self.process

    def _environment(self, given: Mapping[str, str]) -> dict[str, str]:
        kept = {
            name: text
            for name, text in os.environ.items()
            if not name.startswith(("STATUS_REPORTER_", "KUBERNETES_", "POD_"))
        }
        return {
            **kept,
            "KUBERNETES_SERVICE_HOST": "127.0.0.1",
            "KUBERNETES_SERVICE_PORT": str(self.plane.client.port),
            "KUBECONFIG": str(Path("/nowhere/kubeconfig")),
            "TEST_ACCOUNT": str(self.folder),
            "JOB_NAME": self.name,
            "JOB_NAMESPACE": self.namespace,
            "POD_NAME": self.pod,
            "RESULTS_PATH": str(self.result),
            "POLL_INTERVAL_SECONDS": "1",
            "ADAPTER_CONTAINER_NAME": ADAPTER,
            "PYTHONUNBUFFERED": "1",
            **given,
        }


_WHEN = "2026-05-01T12:00:00Z"


def _container_status(name: str, state: Json) -> Json:
    return {
        "name": name,
        "image": "i",
        "imageID": "",
        "ready": False,
        "restartCount": 0,
        "state": state,
    }


def _manifest(name: str, *, native: bool, scheduled: bool) -> Json:
    sidecar: Json = {"name": SIDECAR, "image": "productionstack-status-reporter"}
    adapter: Json = {"name": ADAPTER, "image": "busybox"}
    spec: Json = {
        "restartPolicy": "Never",
        "serviceAccountName": ACCOUNT,
        "containers": [adapter] if native else [adapter, sidecar],
        **({"initContainers": [{**sidecar, "restartPolicy": "Always"}]} if native else {}),
        **({} if scheduled else {"schedulerName": NEVER}),
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name},
        "spec": {"backoffLimit": 0, "activeDeadlineSeconds": 600, "template": {"spec": spec}},
    }


def _install_rights(plane: ControlPlane, namespace: str, rules: Sequence[Json]) -> None:
    named = {"name": SIDECAR, "namespace": namespace}
    rbac = "rbac.authorization.k8s.io"
    manifests: list[Json] = [
        {
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, "namespace": namespace},
        },
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": named, "rules": [*rules]},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": named,
            "roleRef": {"apiGroup": rbac, "kind": "Role", "name": SIDECAR},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": namespace}],
        },
    ]
    for each in manifests:
        plane.client.apply(each)
    for rule in rules:
        for group, resource, verb in product(rule["apiGroups"], rule["resources"], rule["verbs"]):
            right = Permission(verb, group, resource, namespace)
            until_allowed(plane.client, namespace, right, account=ACCOUNT)
