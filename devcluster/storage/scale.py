"""The scale subresource, which shows and sets the replicas of an object."""

from devcluster.schema import api_errors
from devcluster.schema.api_errors import Json
from devcluster.schema.kinds import ServedKind
from devcluster.schema.validation import validate
from devcluster.storage.registry_store import Mutation, RegistryStore
from devcluster.storage.storage import StoredObject


_SCALE_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_object(stored: StoredObject) -> Json:
    """Build the Scale of an object; spec omits zero replicas, as Go does."""
    value = stored.value
    replicas = value.get("spec", {}).get("replicas", 0)
    labels = value["spec"].get("selector", {}).get("matchLabels", {})
    status: Json = {"replicas": value.get("status", {}).get("replicas", 0)}
    if labels:
        status["selector"] = ",".join(f"{key}={labels[key]}" for key in sorted(labels))
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {
            key: value["metadata"][key] for key in _SCALE_METADATA if key in value["metadata"]
        },
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def update_scale(
    objects: RegistryStore,
    kind: ServedKind,
    old: StoredObject,
    change: Mutation,
) -> StoredObject:
    """Apply a change of the Scale to the object itself."""
    scale = change(scale_object(old))
    replicas = scale.get("spec", {}).get("replicas", 0)
    if not isinstance(replicas, int):
        raise api_errors.invalid_patch_result(
            scale, "json: cannot unmarshal into Go struct field ScaleSpec"
        )
    validate.validate_scale(old.name, replicas)
    version = scale.get("metadata", {}).get("resourceVersion")
    if version and version != str(old.resource_version):
        raise api_errors.conflict(kind, old.name)

    def changed(value: Json) -> Json:
        return {**value, "spec": {**value["spec"], "replicas": replicas}}

    return objects.patch(kind, old, changed)
