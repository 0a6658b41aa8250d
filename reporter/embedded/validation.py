"""
Whether an object may be stored: the rules of its kind, as lists of causes.
"""

from collections.abc import Callable

from reporter.embedded import event_rules, names, workload_rules
from reporter.embedded.kinds import Kind
from reporter.embedded.statuses import Cause, Json, invalid, invalid_value, required


Rule = Callable[[Json], list[Cause]]

_NAME_RULES: dict[str, Callable[[str], list[str]]] = {
    "events": names.path_segment,
    "namespaces": names.label,
    "services": names.label_1035,
}
_RULES: dict[str, Rule] = {
    "events": event_rules.causes,
    "leases.coordination.k8s.io": workload_rules.lease,
    "deployments.apps": workload_rules.deployment,
    "customresourcedefinitions.apiextensions.k8s.io": workload_rules.crd,
}


def check(kind: Kind, value: Json) -> None:
    """
    Refuse with a 422 that names every field that is wrong.
    """
    causes = [*_metadata(kind, value["metadata"])]
    rule = _RULES.get(kind.qualified)
    if rule:
        causes += rule(value)
    if causes:
        raise invalid(kind.kind, kind.group, value["metadata"].get("name", ""), causes)


def _metadata(kind: Kind, meta: Json) -> list[Cause]:
    name = meta.get("name", "")
    if not name:
        return [required("metadata.name", "name or generateName is required")]
    rule = _NAME_RULES.get(kind.qualified, names.subdomain)
    causes = [invalid_value("metadata.name", name, text) for text in rule(name)]
    for key, value in meta.get("labels", {}).items():
        causes += [invalid_value("metadata.labels", key, text) for text in names.qualified(key)]
        causes += [
            invalid_value("metadata.labels", value, text) for text in names.label_value(value)
        ]
    return causes


def check_scale(name: str, replicas: int) -> None:
    causes = workload_rules.not_negative("spec.replicas", replicas)
    if causes:
        raise invalid("Scale", "autoscaling", name, causes)


def immutable(kind: Kind, name: str, field: str, value: object) -> None:
    raise invalid(kind.kind, kind.group, name, [invalid_value(field, value, "field is immutable")])
