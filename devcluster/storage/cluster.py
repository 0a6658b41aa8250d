"""The objects of the cluster by resource names, without HTTP."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from devcluster.schema.api_errors import ApiError, Json
from devcluster.schema.kinds import ServedKind
from devcluster.storage import deletion, scale
from devcluster.storage.registry_store import RegistryStore
from devcluster.storage.storage import StoredObject, WatchQueue
from reporter.stories.format import apply_merge_patch


@dataclass(frozen=True, slots=True)
class Cluster:
    """
    Access to the objects of the cluster.

    Resources are named as for kubectl: `pods`, `deployments.apps`. *namespace* is empty for
    cluster-scoped objects. Methods raise KeyError if the resource is not served, and ApiError as a
    client would get it.
    """

    objects: RegistryStore

    def upsert(self, manifest: Json) -> Json:
        """Store a manifest as it is, with its status and times, in place of an existing object."""
        kind = self.objects.registry.by_type_meta(manifest["apiVersion"], manifest["kind"])
        return _manifest(kind, self.objects.upsert(manifest))

    def get(self, resource: str, namespace: str, name: str) -> Json | None:
        kind = self.objects.registry.by_group_resource(resource)
        try:
            return _manifest(kind, self.objects.get(kind, namespace, name))
        except ApiError:
            return None

    def list(self, resource: str, namespace: str = "") -> list[Json]:
        kind = self.objects.registry.by_group_resource(resource)
        stored_objects = self.objects.collection(kind).ordered()
        return [
            _manifest(kind, stored)
            for stored in stored_objects
            if namespace in ("", stored.namespace)
        ]

    @contextmanager
    def changes(self, *resources: str) -> Iterator[WatchQueue]:
        """Provide a queue that receives every change of the objects of *resources*."""
        queue: WatchQueue = asyncio.Queue()
        collections = [
            self.objects.collection(self.objects.registry.by_group_resource(name))
            for name in resources
        ]
        for collection in collections:
            collection.watchers.add(queue)
        try:
            yield queue
        finally:
            for collection in collections:
                collection.watchers.discard(queue)

    def patch(
        self, resource: str, namespace: str, name: str, patch: Json, *, subresource: str = ""
    ) -> Json:
        """Apply a merge patch to the object, its status or its scale."""
        kind = self.objects.registry.by_group_resource(resource)
        old = self.objects.get(kind, namespace, name)

        def change(value: Json) -> Json:
            result: Json = apply_merge_patch(value, patch)
            return result

        if subresource == "scale":
            return _manifest(kind, scale.update_scale(self.objects, kind, old, change))
        new = self.objects.patch(kind, old, change, subresource=subresource)
        deletion.finish_deletion(self.objects, kind, new)
        return _manifest(kind, new)

    def delete(self, resource: str, namespace: str, name: str) -> None:
        """Delete an object without a grace period."""
        kind = self.objects.registry.by_group_resource(resource)
        old = self.objects.get(kind, namespace, name)
        deletion.delete_object(self.objects, kind, old, grace_seconds=0)


def _manifest(kind: ServedKind, stored: StoredObject) -> Json:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **stored.mutable_copy()}
