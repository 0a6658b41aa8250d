"""Validation of Leases, Deployments and CustomResourceDefinitions."""

from devcluster.schema.api_errors import FieldError, Json, invalid_value, required_value


def validate_non_negative(field: str, number: int | None) -> list[FieldError]:
    if number is None or number >= 0:
        return []
    return [invalid_value(field, number, "must be greater than or equal to 0")]


def validate_lease(value: Json) -> list[FieldError]:
    spec = value.get("spec", {})
    duration = spec.get("leaseDurationSeconds")
    errors = []
    if duration is not None and duration <= 0:
        errors.append(
            invalid_value("spec.leaseDurationSeconds", duration, "must be greater than 0")
        )
    return errors + validate_non_negative("spec.leaseTransitions", spec.get("leaseTransitions"))


def validate_deployment(value: Json) -> list[FieldError]:
    spec = value["spec"]
    errors = validate_non_negative("spec.replicas", spec["replicas"])
    selector = spec.get("selector")
    if not selector:
        errors.append(required_value("spec.selector"))
    labels = spec["template"].get("metadata", {}).get("labels")
    match_labels = (selector or {}).get("matchLabels", {})
    if not selector or not match_labels.items() <= (labels or {}).items():
        text = "`selector` does not match template `labels`"
        errors.append(invalid_value("spec.template.metadata.labels", labels, text))
    if not spec["template"]["spec"].get("containers"):
        errors.append(required_value("spec.template.spec.containers"))
    return errors


def validate_crd(value: Json) -> list[FieldError]:
    spec = value.get("spec", {})
    plural = spec.get("names", {}).get("plural", "")
    errors = []
    name = value["metadata"].get("name", "")
    if name != f"{plural}.{spec.get('group', '')}":
        errors.append(
            invalid_value("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
        )
    errors += [
        required_value(f"spec.{field}") for field in ("group", "scope") if not spec.get(field)
    ]
    versions = spec.get("versions", [])
    if sum(bool(version.get("storage")) for version in versions) != 1:
        text = "must have exactly one version marked as storage version"
        errors.append(invalid_value("spec.versions", versions or None, text))
    names = spec.get("names", {})
    errors += [
        required_value(f"spec.names.{field}")
        for field in ("plural", "kind")
        if not names.get(field)
    ]
    return errors
