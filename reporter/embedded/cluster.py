"""
The objects of the cluster by the names that people use, without HTTP.
"""

from dataclasses import dataclass

from reporter.embedded import deletion, scaling
from reporter.embedded.kinds import Kind
from reporter.embedded.objects import Objects
from reporter.embedded.patch import merged
from reporter.embedded.statuses import ApiError, Json
from reporter.embedded.storage import Stored


@dataclass(frozen=True, slots=True)
class Cluster:
    """
    Resources are named as for kubectl: `pods`, `deployments.apps`; *namespace* is empty for the cluster's.

    KeyError if the resource is not served, ApiError as a client would get it.
    """

    objects: Objects

    def put(self, manifest: Json) -> Json:
        """
        Store it as it is, with its status and times, over what may be there.
        """
        kind = self.objects.registry.of(manifest["apiVersion"], manifest["kind"])
        return _manifest(kind, self.objects.put(manifest))

    def get(self, resource: str, namespace: str, name: str) -> Json | None:
        kind = self.objects.registry.named(resource)
        try:
            return _manifest(kind, self.objects.get(kind, namespace, name))
        except ApiError:
            return None

    def list(self, resource: str, namespace: str = "") -> list[Json]:
        kind = self.objects.registry.named(resource)
        held = self.objects.collection(kind).in_order()
        return [_manifest(kind, stored) for stored in held if namespace in ("", stored.namespace)]

    def patch(
        self, resource: str, namespace: str, name: str, patch: Json, *, subresource: str = ""
    ) -> Json:
        """
        Apply a merge patch to the object, its status or its scale.
        """
        kind = self.objects.registry.named(resource)
        old = self.objects.get(kind, namespace, name)

        def change(value: Json) -> Json:
            result: Json = merged(value, patch)
            return result

        if subresource == "scale":
            return _manifest(kind, scaling.rescale(self.objects, kind, old, change))
        new = self.objects.patch(kind, old, change, subresource=subresource)
        deletion.finish(self.objects, kind, new)
        return _manifest(kind, new)

    def delete(self, resource: str, namespace: str, name: str) -> None:
        """
        Delete at once, without grace.
        """
        kind = self.objects.registry.named(resource)
        old = self.objects.get(kind, namespace, name)
        deletion.delete(self.objects, kind, old, deletion.DeleteOptions(grace_seconds=0))


def _manifest(kind: Kind, stored: Stored) -> Json:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **stored.fresh()}
