"""Validation of Events: the rules of core/v1, for creation and for the result of a patch."""

from devcluster.schema.api_errors import FieldError, Json, invalid_value, required_value
from devcluster.schema.validation import names


MAX_NAME_BYTES = 128
MAX_MESSAGE_BYTES = 1024
"""Both limits are in bytes of UTF-8, although the server's texts say characters."""


def validate_event(event: Json) -> list[FieldError]:
    """
    Return the errors of an Event. One with eventTime has more and other rules than one without.
    """
    errors = _validate_namespace(event)
    if event.get("eventTime") is None:
        return errors
    return errors + _validate_reporting_component(event) + _validate_texts(event)


def _validate_namespace(event: Json) -> list[FieldError]:
    namespace = event["metadata"].get("namespace", "")
    involved = event["involvedObject"].get("namespace", "")
    if event.get("eventTime") is None:
        is_valid = involved == namespace or (not involved and namespace == "default")
    else:
        is_valid = bool(involved) or namespace in {"default", "kube-system"}
    if is_valid:
        return []
    return [invalid_value("involvedObject.namespace", involved, "does not match event.namespace")]


def _validate_reporting_component(event: Json) -> list[FieldError]:
    component = event["reportingComponent"]
    errors = [
        invalid_value("reportingComponent", component, text)
        for text in names.validate_qualified_name(component)
    ]
    return errors if component else [required_value("reportingComponent"), *errors]


def _validate_texts(event: Json) -> list[FieldError]:
    errors = []
    for field in ("reportingInstance", "action", "reason"):
        text = event.get(field, "")
        if not text:
            errors.append(required_value(field))
        elif len(text.encode()) > MAX_NAME_BYTES:
            errors.append(_too_long(field, MAX_NAME_BYTES))
    if len(event.get("message", "").encode()) > MAX_MESSAGE_BYTES:
        errors.append(_too_long("message", MAX_MESSAGE_BYTES))
    return errors


def _too_long(field: str, limit: int) -> FieldError:
    return invalid_value(field, "", f"can have at most {limit} characters")
