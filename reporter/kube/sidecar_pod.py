"""
Read the pod of the Job sidecar: its owner, its containers and which of them are native sidecars.
"""

from collections.abc import Iterable
from datetime import timedelta
from urllib.parse import quote

import msgspec

from reporter.kube.client import RestClient
from reporter.kube.decoding import decode_response
from reporter.model.job_results import Container, JobOwner, SidecarPod, Terminated


READ_TIMEOUT = timedelta(seconds=5)
"""The look at the deadline takes at most this long."""


class _Owner(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = False


class _Metadata(msgspec.Struct, rename="camel"):
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


class _Status(msgspec.Struct, rename="camel"):
    container_statuses: list[_ContainerStatus] | None = None


class _Pod(msgspec.Struct):
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_DECODER = msgspec.json.Decoder(_Pod)


class SidecarPodReader:
    """Reads one pod; every failure is raised as a KubeError."""

    def __init__(self, api: RestClient, namespace: str, name: str) -> None:
        self._api, self._pod = api, f"{namespace}/{name}"
        self._path = f"/api/v1/namespaces/{quote(namespace, safe='')}/pods/{quote(name, safe='')}"

    async def read(self) -> SidecarPod:
        operation = f"get pod {self._pod}"
        response = await self._api.call(
            "GET", self._path, timeout=READ_TIMEOUT, operation=operation
        )
        return _sidecar_pod(decode_response(_DECODER, response.body, operation))


def _sidecar_pod(pod: _Pod) -> SidecarPod:
    return SidecarPod(
        _job_owner(pod.metadata.owner_references or ()),
        tuple(_container(each) for each in pod.status.container_statuses or ()),
        frozenset(
            each.name for each in pod.spec.init_containers or () if each.restart_policy == "Always"
        ),
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
