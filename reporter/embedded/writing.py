"""
POST, PUT, PATCH and DELETE of objects.
"""

from collections.abc import Callable

import msgspec
from aiohttp import web

from reporter.embedded import deletion, encoding, reading, scaling, statuses
from reporter.embedded.call import Call, reply, reply_json
from reporter.embedded.objects import Change
from reporter.embedded.patch import merged, strategically_merged
from reporter.embedded.statuses import Json
from reporter.embedded.storage import Stored


MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"


async def create(call: Call) -> web.Response:
    value = await call.body()
    stored = call.objects.create(call.kind, call.namespace, value, dry_run=call.dry_run)
    return reply(encoding.whole(call.kind, stored), 201)


async def update(call: Call) -> web.Response:
    value = await call.body()
    if call.route.subresource == "scale":
        return _scaled(call, call.stored(), lambda _: value)
    name = value.get("metadata", {}).get("name", call.route.name)
    if name != call.route.name:
        text = f"the name of the object ({name}) does not match the name on the URL"
        raise statuses.bad_request(f"{text} ({call.route.name})")
    if call.kind.create_on_update and not _is_there(call):
        return _created(call, value)
    old = call.stored()
    versioned = value.get("metadata", {}).get("resourceVersion")
    if not call.kind.unconditional_update and not versioned:
        raise statuses.version_required(call.kind, old.name)
    new = call.objects.update(
        call.kind, old, value, subresource=call.route.subresource, dry_run=call.dry_run
    )
    return _finished(call, new)


def _is_there(call: Call) -> bool:
    key = f"{call.namespace}/{call.route.name}"
    return key in call.objects.collection(call.kind).objects


def _created(call: Call, value: Json) -> web.Response:
    uid = value.get("metadata", {}).get("uid")
    if uid:
        text = f"Precondition failed: UID in precondition: {uid}, UID in object meta: "
        raise statuses.conflict(call.kind, call.route.name, text)
    stored = call.objects.create(call.kind, call.namespace, value, dry_run=call.dry_run)
    return reply(encoding.whole(call.kind, stored), 201)


async def patch(call: Call) -> web.Response:
    change = _change(call, await call.request.read())
    old = call.stored()
    if call.route.subresource == "scale":
        return _scaled(call, old, change)
    new = call.objects.patch(
        call.kind, old, change, subresource=call.route.subresource, dry_run=call.dry_run
    )
    return _finished(call, new)


def _change(call: Call, data: bytes) -> Change:
    """
    What the patch does; 415 for a form of patch that is not known, 400 for one that is none.
    """
    form = call.request.content_type
    merge: Callable[[Json, Json], Json] | None = {
        MERGE: merged,
        STRATEGIC: strategically_merged,
    }.get(form)
    if merge is None or (form == STRATEGIC and call.kind.custom):
        raise statuses.unsupported_patch(call.kind)
    known = merge
    try:
        sent = msgspec.json.decode(data)
    except msgspec.DecodeError as err:
        raise statuses.bad_request(f"error decoding patch: {err}") from err
    if not isinstance(sent, dict):
        text = "json: cannot unmarshal array into Go value of type map[string]interface {}"
        raise statuses.bad_request(f"error decoding patch: {text}")
    return lambda value: known(value, sent)


def _scaled(call: Call, old: Stored, change: Change) -> web.Response:
    new = scaling.rescale(call.objects, call.kind, old, change, dry_run=call.dry_run)
    return reply_json(scaling.scale_of(new))


def _finished(call: Call, stored: Stored) -> web.Response:
    if not call.dry_run:
        deletion.finish(call.objects, call.kind, stored)
    return reply(encoding.whole(call.kind, stored))


async def _options(call: Call) -> deletion.DeleteOptions:
    sent = await call.body() if call.request.can_read_body else {}
    return deletion.options(sent, call.query.get("gracePeriodSeconds"))


async def delete(call: Call) -> web.Response:
    how = await _options(call)
    old = call.stored()
    if call.dry_run:
        return reply(encoding.whole(call.kind, old))
    gone = deletion.delete(call.objects, call.kind, old, how)
    if call.kind.returns_deleted or "deletionTimestamp" in gone.value["metadata"]:
        return reply_json(
            {"kind": call.kind.kind, "apiVersion": call.kind.api_version, **gone.value}
        )
    return reply_json(
        {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Success",
            "details": {
                "name": gone.name,
                **({"group": call.kind.group} if call.kind.group else {}),
                "kind": call.kind.resource,
                "uid": gone.value["metadata"]["uid"],
            },
        }
    )


async def delete_collection(call: Call) -> web.Response:
    how = await _options(call)
    page = reading.list_page(call)
    answer = reading.deleted_list(call, page)
    if not call.dry_run:
        for stored in page.items:
            deletion.delete(call.objects, call.kind, stored, how)
    return reply_json(answer)
