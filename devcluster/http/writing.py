"""POST, PUT, PATCH and DELETE of objects."""

from collections.abc import Callable

import msgspec
from aiohttp import web

from devcluster.http import reading
from devcluster.http.resource_request import ResourceRequest, reply, reply_json
from devcluster.http.responses import objects
from devcluster.schema import api_errors
from devcluster.schema.api_errors import Json
from devcluster.storage import deletion, scale
from devcluster.storage.listing import parse_integer
from devcluster.storage.patch import apply_strategic_merge_patch
from devcluster.storage.registry_store import Mutation
from devcluster.storage.storage import StoredObject
from reporter.stories.format import apply_merge_patch


MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


async def create(call: ResourceRequest) -> web.Response:
    value = await call.read_body()
    stored = call.objects.create(call.kind, call.namespace, value)
    return reply(objects.encode_object(call.kind, stored), 201)


async def update(call: ResourceRequest) -> web.Response:
    value = await call.read_body()
    if call.route.subresource == "scale":
        return _update_scale(call, call.get_object(), lambda _: value)
    name = value.get("metadata", {}).get("name", call.route.name)
    if name != call.route.name:
        text = f"the name of the object ({name}) does not match the name on the URL"
        raise api_errors.bad_request(f"{text} ({call.route.name})")
    old = call.get_object()
    versioned = value.get("metadata", {}).get("resourceVersion")
    if not call.kind.unconditional_update and not versioned:
        raise api_errors.resource_version_required(call.kind, old.name)
    new = call.objects.update(call.kind, old, value, subresource=call.route.subresource)
    return _finish_update(call, new)


async def patch(call: ResourceRequest) -> web.Response:
    change = _parse_patch(call, await call.request.read())
    old = call.get_object()
    if call.route.subresource == "scale":
        return _update_scale(call, old, change)
    new = call.objects.patch(call.kind, old, change, subresource=call.route.subresource)
    return _finish_update(call, new)


def _parse_patch(call: ResourceRequest, data: bytes) -> Mutation:
    """
    Return the change that a patch makes. Raise a 415 for an unknown patch type, a 400 for a bad body.
    """
    content_type = call.request.content_type
    merge: Callable[[Json, Json], Json] | None = {
        MERGE: apply_merge_patch,
        STRATEGIC: apply_strategic_merge_patch,
    }.get(content_type)
    if merge is None or (content_type == STRATEGIC and call.kind.is_custom):
        raise api_errors.unsupported_patch(call.kind)
    try:
        body = msgspec.json.decode(data)
    except msgspec.DecodeError as err:
        raise api_errors.bad_request(f"error decoding patch: {err}") from err
    if not isinstance(body, dict):
        text = "json: cannot unmarshal array into Go value of type map[string]interface {}"
        raise api_errors.bad_request(f"error decoding patch: {text}")
    return lambda value: merge(value, body)


def _update_scale(call: ResourceRequest, old: StoredObject, change: Mutation) -> web.Response:
    new = scale.update_scale(call.objects, call.kind, old, change)
    return reply_json(scale.scale_object(new))


def _finish_update(call: ResourceRequest, stored: StoredObject) -> web.Response:
    deletion.finish_deletion(call.objects, call.kind, stored)
    return reply(objects.encode_object(call.kind, stored))


async def _read_grace_period(call: ResourceRequest) -> int | None:
    """Return the grace period of a DELETE in seconds: of its query, or else of its body."""
    body = await call.read_body() if call.request.can_read_body else {}
    if "gracePeriodSeconds" in call.query:
        return parse_integer(call.query["gracePeriodSeconds"])
    return body.get("gracePeriodSeconds")


async def delete(call: ResourceRequest) -> web.Response:
    grace_seconds = await _read_grace_period(call)
    old = call.get_object()
    deleted = deletion.delete_object(call.objects, call.kind, old, grace_seconds)
    if call.kind.returns_deleted or "deletionTimestamp" in deleted.value["metadata"]:
        return reply_json(
            {"kind": call.kind.kind, "apiVersion": call.kind.api_version, **deleted.value}
        )
    return reply_json(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {
                "name": deleted.name,
                **({"group": call.kind.group} if call.kind.group else {}),
                "kind": call.kind.resource,
                "uid": deleted.value["metadata"]["uid"],
            },
        }
    )


async def delete_collection(call: ResourceRequest) -> web.Response:
    grace_seconds = await _read_grace_period(call)
    page = reading.requested_page(call)
    body = reading.deleted_list_body(call, page)
    for stored in page.items:
        deletion.delete_object(call.objects, call.kind, stored, grace_seconds)
    return reply_json(body)
