"""
Read one Job, and write one condition of its status.

Nothing is retried or decided here; every failure is raised as a KubeError.
"""

from datetime import datetime
from urllib.parse import quote

import msgspec
from msgspec import Struct

from reporter.kube.client import ApiResponse, RestClient
from reporter.kube.decoding import decode_response
from reporter.model.job_results import JobCondition
from reporter.model.times import format_time


STRATEGIC_MERGE_PATCH = "application/strategic-merge-patch+json"


class JobRecord(Struct, frozen=True):
    uid: str
    resource_version: str
    conditions: tuple[JobCondition, ...] = ()

    def condition(self, condition_type: str) -> JobCondition | None:
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
    """Reads and patches the Job of this name."""

    def __init__(self, api: RestClient, namespace: str, name: str) -> None:
        self._api, self.name, self._job = api, name, f"{namespace}/{name}"
        folder = f"/apis/batch/v1/namespaces/{quote(namespace, safe='')}/jobs"
        self._path = f"{folder}/{quote(name, safe='')}"

    def __str__(self) -> str:
        return self._job

    async def read(self) -> JobRecord:
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
