"""
How objects go: finalizers, grace, and what goes with a Namespace or a CustomResourceDefinition.
"""

from dataclasses import dataclass
from datetime import timedelta

from reporter.embedded import statuses, times
from reporter.embedded.builtin import CRD, NAMESPACE
from reporter.embedded.kinds import Kind
from reporter.embedded.objects import Objects
from reporter.embedded.statuses import Json
from reporter.embedded.storage import Ending, Stored


CRD_FINALIZER = "customresourcecleanup.apiextensions.k8s.io"


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """
    Of a DELETE: conditions under which alone it may be done, and how long a pod has to stop.
    """

    uid: str = ""
    version: str = ""
    grace_seconds: int | None = None


def options(body: Json, query_grace: str | None) -> DeleteOptions:
    only_if = body.get("preconditions") or {}
    grace = body.get("gracePeriodSeconds")
    if query_grace is not None:
        grace = int(query_grace)
    return DeleteOptions(only_if.get("uid", ""), only_if.get("resourceVersion", ""), grace)


def delete(objects: Objects, kind: Kind, old: Stored, how: DeleteOptions) -> Stored:
    """
    Delete, or mark as being deleted; answers with the last or the marked state.
    """
    _check_conditions(kind, old, how)
    meta = old.value["metadata"]
    if kind == NAMESPACE:
        return _delete_namespace(objects, old)
    if kind == CRD:
        return _delete_crd(objects, old)
    grace = _grace(kind, old, how)
    if meta.get("finalizers") or grace:
        return _mark(objects, kind, old, grace)
    gone = objects.storage.remove(objects.collection(kind), old.key)
    after_removal(objects, kind, gone)
    if kind.qualified == "pods":
        return _stopped(objects, gone)
    return gone


def finish(objects: Objects, kind: Kind, stored: Stored) -> None:
    """
    Remove an object that was marked, once an update took its last finalizer.
    """
    meta = stored.value["metadata"]
    if "deletionTimestamp" not in meta or meta.get("finalizers"):
        return
    if kind in (NAMESPACE, CRD) or meta.get("deletionGracePeriodSeconds"):
        return
    gone = objects.storage.remove(objects.collection(kind), stored.key)
    after_removal(objects, kind, gone)


def after_removal(objects: Objects, kind: Kind, gone: Stored) -> None:
    """
    Let go what was waiting for this object to be gone.
    """
    home = objects.collection(NAMESPACE).objects.get(gone.namespace)
    if home and "deletionTimestamp" in home.value["metadata"]:
        _empty_namespace(objects, home)
    crd = objects.collection(CRD).objects.get(kind.qualified) if kind.custom else None
    if crd and "deletionTimestamp" in crd.value["metadata"]:
        _empty_crd(objects, crd)


def _check_conditions(kind: Kind, old: Stored, how: DeleteOptions) -> None:
    uid = old.value["metadata"]["uid"]
    if how.uid and how.uid != uid:
        text = (
            f"the UID in the precondition ({how.uid}) does not match the UID in record ({uid}). "
            "The object might have been deleted and then recreated"
        )
        raise statuses.conflict(kind, old.name, text)
    if how.version and how.version != str(old.version):
        text = (
            f"the ResourceVersion in the precondition ({how.version}) does not match the "
            f"ResourceVersion in record ({old.version}). The object might have been modified"
        )
        raise statuses.conflict(kind, old.name, text)


def _grace(kind: Kind, old: Stored, how: DeleteOptions) -> int:
    """
    Only a pod that a kubelet runs is given time, in seconds.
    """
    if kind.qualified != "pods" or not old.value["spec"].get("nodeName"):
        return 0
    if how.grace_seconds is not None:
        return how.grace_seconds
    seconds: int = old.value["spec"].get("terminationGracePeriodSeconds", 30)
    return seconds


def _mark(objects: Objects, kind: Kind, old: Stored, grace: int) -> Stored:
    if "deletionTimestamp" in old.value["metadata"]:
        return old
    value = old.fresh()
    meta = value["metadata"]
    meta["deletionTimestamp"] = times.seconds(objects.now() + timedelta(seconds=grace))
    meta["deletionGracePeriodSeconds"] = grace
    if "generation" in meta:
        meta["generation"] += 1
    return objects.storage.write(objects.collection(kind), value)


def _stopped(objects: Objects, gone: Stored) -> Stored:
    value = gone.fresh()
    value["metadata"]["deletionTimestamp"] = times.seconds(objects.now())
    value["metadata"]["deletionGracePeriodSeconds"] = 0
    return Stored(gone.namespace, gone.name, gone.version, value, gone.data)


def _delete_namespace(objects: Objects, old: Stored) -> Stored:
    if "deletionTimestamp" in old.value["metadata"]:
        return old
    value = old.fresh()
    value["metadata"]["deletionTimestamp"] = times.seconds(objects.now())
    value["status"] = {"phase": "Terminating"}
    marked = objects.storage.write(objects.collection(NAMESPACE), value)
    for kind in list(objects.registry):
        if kind.namespaced:
            _clear(objects, kind, old.name)
    _empty_namespace(objects, marked)
    return marked


def _empty_namespace(objects: Objects, marked: Stored) -> None:
    collection = objects.collection(NAMESPACE)
    contents = objects.storage.collections.values()
    prefix = f"{marked.name}/"
    if marked.name in collection.objects and not any(
        key.startswith(prefix) for held in contents for key in held.keys
    ):
        objects.storage.remove(collection, marked.name)


def _delete_crd(objects: Objects, old: Stored) -> Stored:
    if "deletionTimestamp" in old.value["metadata"]:
        return old
    value = old.fresh()
    value["metadata"]["deletionTimestamp"] = times.seconds(objects.now())
    value["metadata"]["finalizers"] = [CRD_FINALIZER]
    marked = objects.storage.write(objects.collection(CRD), value)
    kinds = objects.registry.versions(value["spec"]["group"], value["spec"]["names"]["plural"])
    if kinds:
        _clear(objects, kinds[0], "")
    _empty_crd(objects, marked)
    return marked


def _empty_crd(objects: Objects, marked: Stored) -> None:
    if marked.name not in objects.collection(CRD).objects:
        return
    group, resource = marked.value["spec"]["group"], marked.value["spec"]["names"]["plural"]
    held = objects.storage.collection(group, resource)
    if held.keys:
        return
    objects.registry.withdraw(marked.value)
    held.end_watches(Ending.CLEAN)
    del objects.storage.collections[group, resource]
    objects.storage.remove(objects.collection(CRD), marked.name)


def _clear(objects: Objects, kind: Kind, namespace: str) -> None:
    collection = objects.collection(kind)
    for stored in list(collection.objects.values()):
        if not namespace or stored.namespace == namespace:
            delete(objects, kind, stored, DeleteOptions(grace_seconds=0))
