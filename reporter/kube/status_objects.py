"""
Patch the status of objects of this program's kinds, and nothing else of them.

Nothing is retried or decided here; every failure is raised as a KubeError.
"""

from typing import Generic, TypeVar

import msgspec

from reporter.kinds.productionstack import StatusObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import RestClient
from reporter.kube.decoding import Json, decode_response
from reporter.kube.paths import collection_path


MERGE_PATCH = "application/merge-patch+json"

T = TypeVar("T", bound=StatusObject)


class StatusObjectClient(Generic[T]):
    """*object_type*: the struct of *kind*."""

    def __init__(self, api: RestClient, kind: ResourceKind, object_type: type[T]) -> None:
        self._api, self._kind = api, kind
        self._decoder = msgspec.json.Decoder(object_type)

    async def patch(self, found: T, patch: Json, *, version: str) -> T:
        """
        Patch the status; returns the object as it is then. *version*: the API version to use.

        Conflict: somebody has changed the object since *found* was read. NotFound: it was deleted.
        Unserved: its CRD was. Invalid: the CRD does not allow this status.
        """
        kind, meta = self._kind, found.metadata
        operation = f"patch status of {kind.group_resource} {meta.namespace}/{meta.name}"
        response = await self._api.call(
            "PATCH",
            f"{collection_path(kind, version, meta.namespace)}/{meta.name}/status",
            body=patch,
            content_type=MERGE_PATCH,
            operation=operation,
        )
        return decode_response(self._decoder, response.body, operation, expected=f"a {kind.kind}")
