"""
GET: one object, a list, a watch.
"""

import asyncio

from aiohttp import web

from reporter.embedded import encoding, listing, scaling, table, watching
from reporter.embedded.call import Call, reply, reply_json
from reporter.embedded.matching import Selection, selection
from reporter.embedded.statuses import Json, no_such_resource
from reporter.embedded.storage import Ending


def get(call: Call) -> web.Response:
    stored = call.stored()
    match call.route.subresource:
        case "scale":
            return reply_json(scaling.scale_of(stored))
        case "" | "status":
            return reply(call.shown(stored))
        case _:
            raise no_such_resource()


def chosen(call: Call) -> Selection:
    return selection(
        call.kind,
        call.namespace,
        name=call.route.name,
        label_selector=call.query.get("labelSelector", ""),
        field_selector=call.query.get("fieldSelector", ""),
    )


def list_page(call: Call) -> listing.Page:
    return listing.page(
        call.kind,
        call.objects.collection(call.kind),
        call.objects.storage.version,
        chosen(call),
        listing.list_options(call.query),
    )


def list_(call: Call) -> web.Response:
    page = list_page(call)
    if call.as_table:
        return reply(table.table(call.kind, page, call.include, call.objects.now()))
    return reply(encoding.listed(call.kind, page))


async def watch(call: Call, bookmark_seconds: float) -> web.StreamResponse:
    """
    A stream of frames, flushed one by one as they come.
    """
    watched = watching.Watch(
        call.kind,
        call.objects,
        chosen(call),
        watching.watch_options(call.query),
        call.shown,
        bookmark_seconds,
    )
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    response.enable_chunked_encoding()
    await response.prepare(call.request)
    async for frame in watched.frames():
        if isinstance(frame, Ending):
            await _end(call, response, frame)
            break
        await response.write(frame)
    return response


async def _end(call: Call, response: web.StreamResponse, ending: Ending) -> None:
    match ending:
        case Ending.CLEAN:
            return
        case Ending.EXPIRED:
            await response.write(watching.expired_frame("too old resource version"))
        case Ending.SILENT:
            await asyncio.Event().wait()
        case Ending.CUT:
            if call.request.transport:
                call.request.transport.abort()


def deleted_list(call: Call, page: listing.Page) -> Json:
    return {
        "kind": f"{call.kind.kind}List",
        "apiVersion": call.kind.api_version,
        "metadata": encoding.list_meta(call.kind, page),
        "items": [stored.value for stored in page.items],
    }
