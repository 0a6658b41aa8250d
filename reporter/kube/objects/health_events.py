"""
Create, resolve and delete HealthEvents.

Nothing is retried or decided here; every failure is raised as a KubeError.
"""

import msgspec

from reporter.kube.client.client import RestClient
from reporter.kube.objects.event_format import event_labels
from reporter.kube.wire.decoding import Json, decode_response
from reporter.kube.wire.paths import collection_path
from reporter.model.event_record import EventRecord
from reporter.model.kinds.base.resource_kind import ResourceKind
from reporter.model.kinds.productionstack.health_events import HealthEvent, HealthEventSpec


MERGE_PATCH = "application/merge-patch+json"

_DECODER = msgspec.json.Decoder(HealthEvent)


class HealthEventClient:
    """
    *kind*: of one namespace, that of the store.
    """

    def __init__(self, api: RestClient, kind: ResourceKind) -> None:
        self._api, self._kind = api, kind

    async def create(
        self, name: str, record: EventRecord, spec: HealthEventSpec, *, version: str
    ) -> HealthEvent:
        """
        Create an object; returns it. Conflict: it exists already. *version*: the API version to use.
        """
        kind = self._kind
        body = {
            "apiVersion": f"{kind.group}/{version}",
            "kind": kind.kind,
            "metadata": {
                "name": name,
                "namespace": kind.namespace,
                "labels": event_labels(record),
            },
            "spec": msgspec.to_builtins(spec),
        }
        operation = self._operation("create", name)
        path = collection_path(kind, version)
        response = await self._api.call("POST", path, body=body, operation=operation)
        return _decode(operation, response.body)

    async def patch(self, found: HealthEvent, patch: Json, *, version: str) -> HealthEvent:
        """
        Patch the status; returns the object as it is then.

        Conflict: somebody has changed it since *found* was read. NotFound: it was deleted.
        """
        operation = self._operation("patch status of", found.metadata.name)
        response = await self._api.call(
            "PATCH",
            f"{self._path(found, version)}/status",
            body=patch,
            content_type=MERGE_PATCH,
            operation=operation,
        )
        return _decode(operation, response.body)

    async def delete(self, found: HealthEvent, *, version: str) -> None:
        """
        Delete this very version of an object. Conflict: somebody has changed it since.
        """
        meta = found.metadata
        preconditions = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        await self._api.call(
            "DELETE",
            self._path(found, version),
            body={"preconditions": preconditions},
            operation=self._operation("delete", meta.name),
        )

    def _path(self, found: HealthEvent, version: str) -> str:
        return f"{collection_path(self._kind, version)}/{found.metadata.name}"

    def _operation(self, verb: str, name: str) -> str:
        return f"{verb} {self._kind.group_resource} {self._kind.namespace}/{name}"


def _decode(operation: str, body: bytes) -> HealthEvent:
    return decode_response(_DECODER, body, operation, expected="a HealthEvent")
