"""Validation of objects by the rules of their kind."""

from collections.abc import Callable

from devcluster.schema.api_errors import (
    FieldError,
    Json,
    invalid,
    invalid_value,
    required_value,
)
from devcluster.schema.kinds import ServedKind
from devcluster.schema.validation import events, names, workloads


ValidationRule = Callable[[Json], list[FieldError]]

_NAME_RULES: dict[str, Callable[[str], list[str]]] = {
    "events": names.validate_path_segment,
    "namespaces": names.validate_dns1123_label,
    "services": names.validate_dns1035_label,
}
_RULES: dict[str, ValidationRule] = {
    "events": events.validate_event,
    "leases.coordination.k8s.io": workloads.validate_lease,
    "deployments.apps": workloads.validate_deployment,
    "customresourcedefinitions.apiextensions.k8s.io": workloads.validate_crd,
}


def validate_object(kind: ServedKind, value: Json) -> None:
    """Raise a 422 that names every invalid field."""
    causes = [*_validate_metadata(kind, value["metadata"])]
    rule = _RULES.get(kind.group_resource)
    if rule:
        causes += rule(value)
    if causes:
        raise invalid(kind.kind, kind.group, value["metadata"].get("name", ""), causes)


def _validate_metadata(kind: ServedKind, meta: Json) -> list[FieldError]:
    name = meta.get("name", "")
    if not name:
        return [required_value("metadata.name", "name or generateName is required")]
    rule = _NAME_RULES.get(kind.group_resource, names.validate_dns1123_subdomain)
    causes = [invalid_value("metadata.name", name, text) for text in rule(name)]
    for key, value in meta.get("labels", {}).items():
        causes += [
            invalid_value("metadata.labels", key, text)
            for text in names.validate_qualified_name(key)
        ]
        causes += [
            invalid_value("metadata.labels", value, text)
            for text in names.validate_label_value(value)
        ]
    return causes


def validate_scale(name: str, replicas: int) -> None:
    causes = workloads.validate_non_negative("spec.replicas", replicas)
    if causes:
        raise invalid("Scale", "autoscaling", name, causes)


def reject_immutable_change(kind: ServedKind, name: str, field: str, value: object) -> None:
    raise invalid(kind.kind, kind.group, name, [invalid_value(field, value, "field is immutable")])
