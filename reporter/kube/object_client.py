"""
Create, patch and delete objects of one kind.

Nothing is retried or decided here; every failure is raised as a KubeError.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Generic, TypeVar

import msgspec

from reporter.kinds.objects import WrittenObject
from reporter.kinds.resource_kind import ResourceKind
from reporter.kube.client import MERGE_PATCH, RestClient
from reporter.kube.decoding import Json, decode_response
from reporter.kube.paths import Query, collection_path


STRICT: Query = (("fieldValidation", "Strict"),)
"""
Let the API server refuse fields that the CRD does not have instead of dropping them. Servers before
Kubernetes 1.25 drop them all the same (API concepts, "Field validation").
"""

NO_ANNOTATIONS: Mapping[str, str] = MappingProxyType({})

T = TypeVar("T", bound=WrittenObject)


class ObjectClient(Generic[T]):
    """
    Creates, patches and deletes objects of one kind.

    *object_type*: the struct of *kind*. *version*, in each call: the API version to use.
    """

    def __init__(self, api: RestClient, kind: ResourceKind, object_type: type[T]) -> None:
        self._api, self._kind = api, kind
        self._decoder = msgspec.json.Decoder(object_type)

    async def create(
        self,
        name: str,
        labels: Mapping[str, str],
        spec: msgspec.Struct,
        *,
        version: str,
        query: Query = (),
        annotations: Mapping[str, str] = NO_ANNOTATIONS,
    ) -> T:
        """
        Create an object in the namespace of the kind; returns it. Conflict: it exists already.

        *query*: `STRICT`, or nothing.
        """
        kind = self._kind
        body = {
            "apiVersion": f"{kind.group}/{version}",
            "kind": kind.kind,
            "metadata": {
                "name": name,
                "namespace": kind.namespace,
                "labels": dict(labels),
                **({"annotations": dict(annotations)} if annotations else {}),
            },
            "spec": msgspec.to_builtins(spec),
        }
        operation = f"create {kind.group_resource} {kind.namespace}/{name}"
        path = collection_path(kind, version)
        response = await self._api.call("POST", path, query=query, body=body, operation=operation)
        return self._decode(response.body, operation)

    async def patch(self, found: T, patch: Json, *, version: str) -> T:
        """
        Patch the status; returns the object as it is then.

        Conflict: somebody has changed the object since *found* was read. NotFound: it was deleted.
        Unserved: its CRD was. Invalid: the CRD does not allow this status.
        """
        operation = self._operation("patch status of", found)
        response = await self._api.call(
            "PATCH",
            f"{self._path(found, version)}/status",
            body=patch,
            content_type=MERGE_PATCH,
            operation=operation,
        )
        return self._decode(response.body, operation)

    async def delete(self, found: T, *, version: str) -> None:
        """Delete this very version of an object. Conflict: somebody has changed it since."""
        meta = found.metadata
        preconditions = {"uid": meta.uid, "resourceVersion": meta.resource_version}
        await self._api.call(
            "DELETE",
            self._path(found, version),
            body={"preconditions": preconditions},
            operation=self._operation("delete", found),
        )

    def _path(self, found: T, version: str) -> str:
        meta = found.metadata
        return f"{collection_path(self._kind, version, meta.namespace)}/{meta.name}"

    def _operation(self, verb: str, found: T) -> str:
        return (
            f"{verb} {self._kind.group_resource} {found.metadata.namespace}/{found.metadata.name}"
        )

    def _decode(self, body: bytes, operation: str) -> T:
        return decode_response(self._decoder, body, operation, expected=f"a {self._kind.kind}")
