"""
When an Event may be stored: the rules of core/v1, for creation and for the result of a patch alike.
"""

from reporter.embedded import names
from reporter.embedded.statuses import Cause, Json, invalid_value, required


LONGEST_NAME = 128
LONGEST_MESSAGE = 1024
"""
Both in bytes of UTF-8, although the server says characters.
"""


def causes(event: Json) -> list[Cause]:
    """
    What is wrong with it; an Event with eventTime is judged by more and other rules than one without.
    """
    place = _place(event)
    if event.get("eventTime") is None:
        return place
    return place + _reporter(event) + _texts(event)


def _place(event: Json) -> list[Cause]:
    namespace = event["metadata"].get("namespace", "")
    about = event["involvedObject"].get("namespace", "")
    if event.get("eventTime") is None:
        fits = about == namespace or (not about and namespace == "default")
    else:
        fits = bool(about) or namespace in {"default", "kube-system"}
    if fits:
        return []
    return [invalid_value("involvedObject.namespace", about, "does not match event.namespace")]


def _reporter(event: Json) -> list[Cause]:
    component = event["reportingComponent"]
    wrong = [
        invalid_value("reportingComponent", component, text) for text in names.qualified(component)
    ]
    return wrong if component else [required("reportingComponent"), *wrong]


def _texts(event: Json) -> list[Cause]:
    found = []
    for field in ("reportingInstance", "action", "reason"):
        text = event.get(field, "")
        if not text:
            found.append(required(field))
        elif len(text.encode()) > LONGEST_NAME:
            found.append(_too_long(field, LONGEST_NAME))
    if len(event.get("message", "").encode()) > LONGEST_MESSAGE:
        found.append(_too_long("message", LONGEST_MESSAGE))
    return found


def _too_long(field: str, limit: int) -> Cause:
    return invalid_value(field, "", f"can have at most {limit} characters")
