"""
The scale subresource: the replicas of an object and nothing else of it.
"""

from reporter.embedded import statuses, validation
from reporter.embedded.kinds import Kind
from reporter.embedded.objects import Change, Objects
from reporter.embedded.statuses import Json
from reporter.embedded.storage import Stored


_SHOWN = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(stored: Stored) -> Json:
    """
    The Scale object; zero replicas are left out of its spec.
    """
    value = stored.value
    replicas = value.get("spec", {}).get("replicas", 0)
    labels = value["spec"].get("selector", {}).get("matchLabels", {})
    status: Json = {"replicas": value.get("status", {}).get("replicas", 0)}
    if labels:
        status["selector"] = ",".join(f"{key}={labels[key]}" for key in sorted(labels))
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: value["metadata"][key] for key in _SHOWN if key in value["metadata"]},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def rescale(
    objects: Objects, kind: Kind, old: Stored, change: Change, *, dry_run: bool = False
) -> Stored:
    """
    Apply a change of the Scale object to the object that it stands for.
    """
    scale = change(scale_of(old))
    replicas = scale.get("spec", {}).get("replicas", 0)
    if not isinstance(replicas, int):
        raise statuses.unpatchable(scale, "json: cannot unmarshal into Go struct field ScaleSpec")
    validation.check_scale(old.name, replicas)
    version = scale.get("metadata", {}).get("resourceVersion")
    if version and version != str(old.version):
        raise statuses.conflict(kind, old.name)

    def changed(value: Json) -> Json:
        return {**value, "spec": {**value["spec"], "replicas": replicas}}

    return objects.patch(kind, old, changed, dry_run=dry_run)
