"""
Read one Job and the pod of its sidecar, and write one condition of the status of the Job.

Nothing is retried or decided here; every failure is raised as a KubeError.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from urllib.parse import quote

import msgspec
from msgspec import Struct

from reporter.kube.client import ApiResponse, RestClient
from reporter.kube.decoding import decode_response
from reporter.model.job_results import Container, JobCondition, JobOwner, SidecarPod, Terminated
from reporter.model.times import format_time


STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"


class JobRecord(Struct, frozen=True):
    """
    A batch/v1 Job as it was read; a write with its *uid* and *resource_version* fails if it has changed.
    """

    uid: str
    resource_version: str
    conditions: tuple[JobCondition, ...] = ()

    def condition(self, condition_type: str) -> JobCondition | None:
        """Return the condition of this type, such as SuccessCriteriaMet; None if the Job has none."""
        return next((each for each in self.conditions if each.type == condition_type), None)


class _Metadata(msgspec.Struct, rename="camel"):
    uid: str
    resource_version: str


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""
    reason: str | None = ""
    message: str | None = ""


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Job(msgspec.Struct):
    metadata: _Metadata
    status: _Status = msgspec.field(default_factory=_Status)


_DECODER = msgspec.json.Decoder(_Job)


class JobStatusClient:
    """
    Reads the Job of this name and writes conditions of its status. KubeErrors are raised, not retried.
    """

    def __init__(self, api: RestClient, namespace: str, name: str) -> None:
        self._api, self.name, self._job = api, name, f"{namespace}/{name}"
        folder = f"/apis/batch/v1/namespaces/{quote(namespace, safe='')}/jobs"
        self._path = f"{folder}/{quote(name, safe='')}"

    def __str__(self) -> str:
        return self._job

    async def read(self) -> JobRecord:
        """Return the batch/v1 Job as it is now. Raises NotFound, or another KubeError."""
        operation = f"get job {self}"
        return _decode(await self._api.call("GET", self._path, operation=operation), operation)

    async def write_condition(
        self, found: JobRecord, condition: JobCondition, *, at: datetime
    ) -> JobRecord:
        """
        Add or replace the condition of this type. Conflict: somebody wrote since *found* was read.

        Conditions merge by their type (API reference, JobStatus: patch merge key). A server-side
        apply would own the list, which is atomic, and remove the Job controller's conditions.
        """
        patch = {
            "metadata": {"uid": found.uid, "resourceVersion": found.resource_version},
            "status": {
                "conditions": [
                    {
                        "type": condition.type,
                        "status": condition.status,
                        "reason": condition.reason,
                        "message": condition.message,
                        "lastTransitionTime": format_time(at),
                    }
                ]
            },
        }
        operation = f"patch the status of job {self}"
        response = await self._api.call(
            "PATCH",
            f"{self._path}/status",
            body=patch,
            content_type=STRATEGIC_MERGE_PATCH,
            operation=operation,
        )
        return _decode(response, operation)


def _decode(response: ApiResponse, operation: str) -> JobRecord:
    job = decode_response(_DECODER, response.body, operation)
    return JobRecord(
        job.metadata.uid,
        job.metadata.resource_version,
        tuple(
            JobCondition(each.type, each.status, each.reason or "", each.message or "")
            for each in job.status.conditions or ()
        ),
    )


# --------------------------------------------------------------------
# Read the pod of the Job sidecar: its owner, its containers and which of them are native
# sidecars.


READ_TIMEOUT = timedelta(seconds=5)
"""The longest that one read of the pod takes; the last one may begin at the deadline of the sidecar."""


class _Owner(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = False


class _PodMetadata(msgspec.Struct, rename="camel"):
    owner_references: list[_Owner] | None = None


class _InitContainer(msgspec.Struct, rename="camel"):
    name: str = ""
    restart_policy: str | None = ""


class _Spec(msgspec.Struct, rename="camel"):
    init_containers: list[_InitContainer] | None = None


class _Terminated(msgspec.Struct, rename="camel"):
    exit_code: int = 0
    reason: str | None = ""


class _State(msgspec.Struct):
    terminated: _Terminated | None = None


class _ContainerStatus(msgspec.Struct):
    name: str = ""
    state: _State | None = None


class _PodStatus(msgspec.Struct, rename="camel"):
    container_statuses: list[_ContainerStatus] | None = None


class _Pod(msgspec.Struct):
    metadata: _PodMetadata = msgspec.field(default_factory=_PodMetadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _PodStatus = msgspec.field(default_factory=_PodStatus)


_POD_DECODER = msgspec.json.Decoder(_Pod)


class SidecarPodReader:
    """Reads the pod of a Job sidecar: its owner and containers. Failures are raised as KubeErrors."""

    def __init__(self, api: RestClient, namespace: str, name: str) -> None:
        self._api, self._pod = api, f"{namespace}/{name}"
        self._path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}"

    async def read(self) -> SidecarPod:
        """
        Return the owner and containers of the pod. Raises KubeError, after READ_TIMEOUT at the latest.
        """
        operation = f"get pod {self._pod}"
        response = await self._api.call(
            "GET", self._path, timeout=READ_TIMEOUT, operation=operation
        )
        pod = decode_response(_POD_DECODER, response.body, operation)
        inits = pod.spec.init_containers or ()
        return SidecarPod(
            _job_owner(pod.metadata.owner_references or ()),
            tuple(_container(each) for each in pod.status.container_statuses or ()),
            frozenset(each.name for each in inits if each.restart_policy == "Always"),
        )


def _job_owner(owners: Iterable[_Owner]) -> JobOwner | None:
    for each in owners:
        # Batch schedulers have a kind of this name in a group of their own.
        if each.controller and each.kind == "Job" and each.api_version.startswith("batch/"):
            return JobOwner(each.name, each.uid)
    return None


def _container(status: _ContainerStatus) -> Container:
    ended = status.state.terminated if status.state is not None else None
    if ended is None:
        return Container(status.name)
    return Container(status.name, Terminated(ended.exit_code, ended.reason or ""))
