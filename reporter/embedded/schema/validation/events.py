"""
When an Event may be stored: the rules of core/v1, for creation and for the result of a patch alike.
"""

from reporter.embedded.schema.api_errors import FieldError, Json, invalid_value, required_value
from reporter.embedded.schema.validation import names


MAX_NAME_BYTES = 128
MAX_MESSAGE_BYTES = 1024
"""
Both in bytes of UTF-8, although the server says characters.
"""


def validate_event(event: Json) -> list[FieldError]:
    """
    What is wrong with it; an Event with eventTime is judged by more and other rules than one without.
    """
    place = _validate_namespace(event)
    if event.get("eventTime") is None:
        return place
    return place + _validate_reporting_component(event) + _validate_texts(event)


def _validate_namespace(event: Json) -> list[FieldError]:
    namespace = event["metadata"].get("namespace", "")
    about = event["involvedObject"].get("namespace", "")
    if event.get("eventTime") is None:
        fits = about == namespace or (not about and namespace == "default")
    else:
        fits = bool(about) or namespace in {"default", "kube-system"}
    if fits:
        return []
    return [invalid_value("involvedObject.namespace", about, "does not match event.namespace")]


def _validate_reporting_component(event: Json) -> list[FieldError]:
    component = event["reportingComponent"]
    wrong = [
        invalid_value("reportingComponent", component, text)
        for text in names.validate_qualified_name(component)
    ]
    return wrong if component else [required_value("reportingComponent"), *wrong]


def _validate_texts(event: Json) -> list[FieldError]:
    found = []
    for field in ("reportingInstance", "action", "reason"):
        text = event.get(field, "")
        if not text:
            found.append(required_value(field))
        elif len(text.encode()) > MAX_NAME_BYTES:
            found.append(_too_long(field, MAX_NAME_BYTES))
    if len(event.get("message", "").encode()) > MAX_MESSAGE_BYTES:
        found.append(_too_long("message", MAX_MESSAGE_BYTES))
    return found


def _too_long(field: str, limit: int) -> FieldError:
    return invalid_value(field, "", f"can have at most {limit} characters")
