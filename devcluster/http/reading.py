"""GET of an object, a list or a watch."""

from aiohttp import web

from devcluster.http import watching
from devcluster.http.resource_request import ResourceRequest, reply, reply_json
from devcluster.http.responses import objects, table
from devcluster.schema.api_errors import Json, no_such_resource
from devcluster.storage import listing, scale
from devcluster.storage.selection import Selection, parse_selection
from devcluster.storage.storage import WatchEnd


def get(call: ResourceRequest) -> web.Response:
    stored = call.get_object()
    match call.route.subresource:
        case "scale":
            return reply_json(scale.scale_object(stored))
        case "" | "status":
            return reply(call.encode(stored))
        case _:
            raise no_such_resource()


def requested_selection(call: ResourceRequest) -> Selection:
    return parse_selection(
        call.kind,
        call.namespace,
        name=call.route.name,
        label_selector=call.query.get("labelSelector", ""),
        field_selector=call.query.get("fieldSelector", ""),
    )


def requested_page(call: ResourceRequest) -> listing.ServedPage:
    return listing.list_page(
        call.kind,
        call.objects.collection(call.kind),
        call.objects.storage.version,
        requested_selection(call),
        listing.parse_list_options(call.query),
    )


def list_objects(call: ResourceRequest) -> web.Response:
    page = requested_page(call)
    if call.wants_table:
        return reply(table.encode_table(call.kind, page, call.include_object, call.objects.now()))
    return reply(objects.encode_list(call.kind, page))


async def watch(call: ResourceRequest, bookmark_seconds: float) -> web.StreamResponse:
    """Serve a watch: a chunked response with one event per line."""
    served = watching.ServedWatch(
        call.kind,
        call.objects,
        requested_selection(call),
        watching.parse_watch_options(call.query),
        call.encode,
        bookmark_seconds,
    )
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.enable_chunked_encoding()
    await response.prepare(call.request)
    async for frame in served.frames():
        if isinstance(frame, WatchEnd):
            if frame is WatchEnd.CONNECTION_CUT and call.request.transport:
                call.request.transport.abort()
            break
        await response.write(frame)
    return response


def deleted_list_body(call: ResourceRequest, page: listing.ServedPage) -> Json:
    return {
        "kind": f"{call.kind.kind}List",
        "apiVersion": call.kind.api_version,
        "metadata": objects.list_metadata(call.kind, page),
        "items": [stored.value for stored in page.items],
    }
