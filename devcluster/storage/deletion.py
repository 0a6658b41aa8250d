"""Deletion: finalizers, grace periods, and the content of Namespaces and CRDs."""

from datetime import timedelta

from devcluster.schema import times
from devcluster.schema.builtin_kinds import CRD, NAMESPACE
from devcluster.schema.kinds import ServedKind
from devcluster.storage.registry_store import RegistryStore
from devcluster.storage.storage import StoredObject, WatchEnd


CRD_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


def delete_object(
    objects: RegistryStore, kind: ServedKind, old: StoredObject, grace_seconds: int | None
) -> StoredObject:
    """Delete an object, or mark it as being deleted. Return its last or its marked state."""
    meta = old.value["metadata"]
    if kind == NAMESPACE:
        return _delete_namespace(objects, old)
    if kind == CRD:
        return _delete_crd(objects, old)
    grace = _grace_period(kind, old, grace_seconds)
    if meta.get("finalizers") or grace:
        return _mark_deleting(objects, kind, old, grace)
    deleted = objects.storage.remove(objects.collection(kind), old.key)
    finalize_parents(objects, kind, deleted)
    if kind.group_resource == "pods":
        return _terminated_pod(objects, deleted)
    return deleted


def finish_deletion(objects: RegistryStore, kind: ServedKind, stored: StoredObject) -> None:
    """Remove an object that is being deleted once an update has removed its last finalizer."""
    meta = stored.value["metadata"]
    if "deletionTimestamp" not in meta or meta.get("finalizers"):
        return
    if kind in (NAMESPACE, CRD) or meta.get("deletionGracePeriodSeconds"):
        return
    deleted = objects.storage.remove(objects.collection(kind), stored.key)
    finalize_parents(objects, kind, deleted)


def finalize_parents(objects: RegistryStore, kind: ServedKind, deleted: StoredObject) -> None:
    """Remove the Namespace and the CRD that waited for the deletion of this object."""
    namespace = objects.collection(NAMESPACE).objects.get(deleted.namespace)
    if namespace and "deletionTimestamp" in namespace.value["metadata"]:
        _finalize_namespace(objects, namespace)
    crd = objects.collection(CRD).objects.get(kind.group_resource) if kind.is_custom else None
    if crd and "deletionTimestamp" in crd.value["metadata"]:
        _finalize_crd(objects, crd)


def _grace_period(kind: ServedKind, old: StoredObject, grace_seconds: int | None) -> int:
    """Return the grace period in seconds; only pods on a node have one."""
    if kind.group_resource != "pods" or not old.value["spec"].get("nodeName"):
        return 0
    if grace_seconds is not None:
        return grace_seconds
    seconds: int = old.value["spec"].get("terminationGracePeriodSeconds", 30)
    return seconds


def _mark_deleting(
    objects: RegistryStore, kind: ServedKind, old: StoredObject, grace: int
) -> StoredObject:
    if "deletionTimestamp" in old.value["metadata"]:
        return old
    value = old.mutable_copy()
    meta = value["metadata"]
    meta["deletionTimestamp"] = times.format_time(objects.now() + timedelta(seconds=grace))
    meta["deletionGracePeriodSeconds"] = grace
    if "generation" in meta:
        meta["generation"] += 1
    return objects.storage.write(objects.collection(kind), value)


def _terminated_pod(objects: RegistryStore, deleted: StoredObject) -> StoredObject:
    value = deleted.mutable_copy()
    value["metadata"]["deletionTimestamp"] = times.format_time(objects.now())
    value["metadata"]["deletionGracePeriodSeconds"] = 0
    return StoredObject(
        deleted.namespace, deleted.name, deleted.resource_version, value, deleted.data
    )


def _delete_namespace(objects: RegistryStore, old: StoredObject) -> StoredObject:
    if "deletionTimestamp" in old.value["metadata"]:
        return old
    value = old.mutable_copy()
    value["metadata"]["deletionTimestamp"] = times.format_time(objects.now())
    value["status"] = {"phase": "Terminating"}
    marked = objects.storage.write(objects.collection(NAMESPACE), value)
    for kind in list(objects.registry):
        if kind.namespaced:
            _delete_all(objects, kind, old.name)
    _finalize_namespace(objects, marked)
    return marked


def _finalize_namespace(objects: RegistryStore, marked: StoredObject) -> None:
    collection = objects.collection(NAMESPACE)
    contents = objects.storage.collections.values()
    prefix = f"{marked.name}/"
    if marked.name in collection.objects and not any(
        key.startswith(prefix) for collection in contents for key in collection.keys
    ):
        objects.storage.remove(collection, marked.name)


def _delete_crd(objects: RegistryStore, old: StoredObject) -> StoredObject:
    if "deletionTimestamp" in old.value["metadata"]:
        return old
    value = old.mutable_copy()
    value["metadata"]["deletionTimestamp"] = times.format_time(objects.now())
    value["metadata"]["finalizers"] = [CRD_FINALIZER]
    marked = objects.storage.write(objects.collection(CRD), value)
    kinds = objects.registry.versions(value["spec"]["group"], value["spec"]["names"]["plural"])
    if kinds:
        _delete_all(objects, kinds[0], "")
    _finalize_crd(objects, marked)
    return marked


def _finalize_crd(objects: RegistryStore, marked: StoredObject) -> None:
    if marked.name not in objects.collection(CRD).objects:
        return
    group, resource = marked.value["spec"]["group"], marked.value["spec"]["names"]["plural"]
    instances = objects.storage.collection(group, resource)
    if instances.keys:
        return
    objects.registry.remove_crd(marked.value)
    instances.end_watches(WatchEnd.CLEAN)
    del objects.storage.collections[group, resource]
    objects.storage.remove(objects.collection(CRD), marked.name)


def _delete_all(objects: RegistryStore, kind: ServedKind, namespace: str) -> None:
    collection = objects.collection(kind)
    for stored in list(collection.objects.values()):
        if not namespace or stored.namespace == namespace:
            delete_object(objects, kind, stored, grace_seconds=0)
