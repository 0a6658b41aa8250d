"""The errors of the API server: Status objects with the texts of the real server."""

from dataclasses import dataclass
from typing import Any

import msgspec

from devcluster.schema.kinds import ServedKind


Json = dict[str, Any]

OPTIMISTIC_LOCK_MESSAGE = (
    "the object has been modified; please apply your changes to the latest version and try again"
)
CONTINUE_EXPIRED_MESSAGE = (
    "The provided continue parameter is too old to display a consistent list result. "
    "You can start a new list without the continue parameter, or use the continue token in this "
    "response to retrieve the remainder of the results. Continuing with the provided token results "
    "in an inconsistent list - objects that were created, modified, or deleted between the time "
    "the first chunk was returned and now may show up in the list."
)


class PathNotFound(Exception):
    """An unknown path, for which the real server responds in plain text without a Status."""


class ApiError(Exception):
    """An error response with its Status object."""

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: Json | None = None,
        metadata: Json | None = None,
    ) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code = code
        self.status: Json = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": metadata or {},
            "status": "Failure",
            "message": message,
            "reason": reason,
            "details": details,
            "code": code,
        }
        if not reason:
            del self.status["reason"]
        if details is None:
            del self.status["details"]

    @property
    def headers(self) -> dict[str, str]:
        after = self.status.get("details", {}).get("retryAfterSeconds")
        return {"Retry-After": str(after)} if after else {}


@dataclass(frozen=True, slots=True)
class FieldError:
    """One invalid field of an object."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"


def required_value(field: str, detail: str = "") -> FieldError:
    message = f"Required value: {detail}" if detail else "Required value"
    return FieldError(field, message, "FieldValueRequired")


def invalid_value(field: str, value: object, detail: str) -> FieldError:
    return FieldError(field, f"Invalid value: {msgspec.json.encode(value).decode()}: {detail}")


def forbidden_value(field: str, detail: str) -> FieldError:
    return FieldError(field, f"Forbidden: {detail}", "FieldValueForbidden")


def invalid(kind_name: str, group: str, name: str, causes: list[FieldError]) -> ApiError:
    texts = [f"{cause.field}: {cause.message}" for cause in causes]
    summary = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    full = f"{kind_name}.{group}" if group else kind_name
    details: Json = {
        **({"name": name} if name else {}),
        **({"group": group} if group else {}),
        **({"kind": kind_name} if kind_name else {}),
        "causes": [{"reason": c.reason, "message": c.message, "field": c.field} for c in causes],
    }
    return ApiError(422, "Invalid", f'{full} "{name}" is invalid: {summary}', details)


def _status_details(kind: ServedKind, name: str = "") -> Json:
    return {
        **({"name": name} if name else {}),
        **({"group": kind.group} if kind.group else {}),
        "kind": kind.resource,
    }


def not_found(kind: ServedKind, name: str) -> ApiError:
    return ApiError(
        404, "NotFound", f'{kind.group_resource} "{name}" not found', _status_details(kind, name)
    )


def already_exists(kind: ServedKind, name: str) -> ApiError:
    text = f'{kind.group_resource} "{name}" already exists'
    return ApiError(409, "AlreadyExists", text, _status_details(kind, name))


def conflict(kind: ServedKind, name: str, why: str = OPTIMISTIC_LOCK_MESSAGE) -> ApiError:
    text = f'Operation cannot be fulfilled on {kind.group_resource} "{name}": {why}'
    return ApiError(409, "Conflict", text, _status_details(kind, name))


def resource_version_required(kind: ServedKind, name: str) -> ApiError:
    """Refuse an update without resourceVersion, for kinds that require one."""
    cause = invalid_value("metadata.resourceVersion", 0, "must be specified for an update")
    return invalid(kind.resource, kind.group, name, [cause])


def namespace_terminating(kind: ServedKind, name: str, namespace: str) -> ApiError:
    text = (
        f'{kind.group_resource} "{name}" is forbidden: unable to create new content in namespace '
        f"{namespace} because it is being terminated"
    )
    cause = {
        "reason": "NamespaceTerminating",
        "message": f"namespace {namespace} is being terminated",
        "field": "metadata.namespace",
    }
    return ApiError(403, "Forbidden", text, {**_status_details(kind, name), "causes": [cause]})


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def namespace_mismatch() -> ApiError:
    text = "the namespace of the provided object does not match the namespace sent on the request"
    return bad_request(text)


def invalid_patch_result(value: Json, why: str) -> ApiError:
    """Refuse a patch whose result cannot be decoded."""
    text = msgspec.json.encode(msgspec.json.encode(value).decode()).decode()
    return invalid("", "", "", [FieldError("patch", f"Invalid value: {text}: {why}")])


def no_such_resource() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource", {})


def not_acceptable() -> ApiError:
    """Refuse discovery in its older form, which this server does not have."""
    text = "only aggregated discovery v2 is served, which kubectl 1.30 and newer request"
    return ApiError(406, "NotAcceptable", text, {})


def method_not_allowed() -> ApiError:
    text = "the server does not allow this method on the requested resource"
    return ApiError(405, "MethodNotAllowed", text, {})


def unsupported_patch(kind: ServedKind) -> ApiError:
    if not kind.is_custom:
        return ApiError(415, "UnsupportedMediaType", "415: Unsupported Media Type", {})
    text = (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )
    return ApiError(415, "UnsupportedMediaType", text)


def unsupported_body() -> ApiError:
    text = (
        "the body of the request was in an unknown format - accepted media types include: "
        "application/json, application/yaml, application/vnd.kubernetes.protobuf"
    )
    return ApiError(415, "UnsupportedMediaType", text)


def list_expired() -> ApiError:
    return ApiError(410, "Expired", "The resourceVersion for the provided list is too old.")


def continue_expired(token: str) -> ApiError:
    return ApiError(410, "Expired", CONTINUE_EXPIRED_MESSAGE, metadata={"continue": token})


def resource_version_too_large(version: int, current: int) -> ApiError:
    cause = {"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}
    text = f"Timeout: Too large resource version: {version}, current: {current}"
    return ApiError(504, "Timeout", text, {"causes": [cause], "retryAfterSeconds": 1})


def unauthorized() -> ApiError:
    return ApiError(401, "Unauthorized", "Unauthorized")
