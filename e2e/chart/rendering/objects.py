"""
The objects that the chart renders: one of a kind, the arguments of the process, what is granted.
"""

from typing import Any

from reporter.kube.access_review import Permission


READER = "-status-reader"
"""The end of the name of the ClusterRole for those who read the status."""

Json = dict[str, Any]


def object_of(objects: list[Json], kind: str, name: str = "") -> Json:
    found = [o for o in objects if o["kind"] == kind and name in {"", o["metadata"]["name"]}]
    assert len(found) == 1, [o["metadata"]["name"] for o in found]
    return found[0]


def arguments_of(objects: list[Json]) -> list[str]:
    deployment = object_of(objects, "Deployment", "stack-status-reporter")
    container = deployment["spec"]["template"]["spec"]["containers"][0]
    given: list[str] = container["args"]
    return given


def granted_by(objects: list[Json]) -> frozenset[Permission]:
    """Return what the ServiceAccount may do; the role of readers is bound to nobody."""
    roles = [
        each
        for each in objects
        if each["kind"] in {"Role", "ClusterRole"}
        and not each["metadata"]["name"].endswith(READER)
    ]
    bound = [each for each in objects if each["kind"] in {"RoleBinding", "ClusterRoleBinding"}]
    assert {(b["roleRef"]["kind"], b["roleRef"]["name"], namespace_of(b)) for b in bound} == {
        (role["kind"], role["metadata"]["name"], namespace_of(role)) for role in roles
    }
    return frozenset(
        Permission(verb, group, resource, namespace_of(role), name)
        for role in roles
        for rule in role["rules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", [""])
    )


def namespace_of(manifest: Json) -> str:
    return str(manifest["metadata"].get("namespace", ""))
