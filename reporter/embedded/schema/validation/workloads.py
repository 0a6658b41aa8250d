"""
When a Lease, a Deployment or a CustomResourceDefinition may be stored.
"""

from reporter.embedded.schema.api_errors import FieldError, Json, invalid_value, required_value


def validate_non_negative(field: str, number: int | None) -> list[FieldError]:
    if number is None or number >= 0:
        return []
    return [invalid_value(field, number, "must be greater than or equal to 0")]


def validate_lease(value: Json) -> list[FieldError]:
    spec = value.get("spec", {})
    duration = spec.get("leaseDurationSeconds")
    found = []
    if duration is not None and duration <= 0:
        found.append(
            invalid_value("spec.leaseDurationSeconds", duration, "must be greater than 0")
        )
    return found + validate_non_negative("spec.leaseTransitions", spec.get("leaseTransitions"))


def validate_deployment(value: Json) -> list[FieldError]:
    spec = value["spec"]
    found = validate_non_negative("spec.replicas", spec["replicas"])
    selector = spec.get("selector")
    if not selector:
        found.append(required_value("spec.selector"))
    labels = spec["template"].get("metadata", {}).get("labels")
    wanted = (selector or {}).get("matchLabels", {})
    if not selector or not wanted.items() <= (labels or {}).items():
        text = "`selector` does not match template `labels`"
        found.append(invalid_value("spec.template.metadata.labels", labels, text))
    if not spec["template"]["spec"].get("containers"):
        found.append(required_value("spec.template.spec.containers"))
    return found


def validate_crd(value: Json) -> list[FieldError]:
    spec = value.get("spec", {})
    plural = spec.get("names", {}).get("plural", "")
    found = []
    name = value["metadata"].get("name", "")
    if name != f"{plural}.{spec.get('group', '')}":
        found.append(
            invalid_value("metadata.name", name, 'must be spec.names.plural+"."+spec.group')
        )
    found += [
        required_value(f"spec.{field}") for field in ("group", "scope") if not spec.get(field)
    ]
    versions = spec.get("versions", [])
    if sum(bool(version.get("storage")) for version in versions) != 1:
        text = "must have exactly one version marked as storage version"
        found.append(invalid_value("spec.versions", versions or None, text))
    names = spec.get("names", {})
    found += [
        required_value(f"spec.names.{field}")
        for field in ("plural", "kind")
        if not names.get(field)
    ]
    return found
