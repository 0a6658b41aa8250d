"""
How trouble reaches a request.
"""

import asyncio

from aiohttp import web

from reporter.embedded.faults import Answer, Cut, Faults, Hang, Latency


async def troubled(faults: Faults, request: web.Request) -> web.StreamResponse | None:
    """
    What is answered instead; None if the request goes on.
    """
    for trouble in faults.taken(request.method, request.path_qs):
        match trouble:
            case Latency(seconds):
                await asyncio.sleep(seconds)
            case Answer(code, body, headers):
                return web.Response(body=body, status=code, headers=headers)
            case Cut(partial):
                return _cut(request, partial)
            case Hang(headers=said):
                return await _hung(faults, request, said=said)
    return None


def _cut(request: web.Request, partial: bytes) -> web.Response:
    if request.transport is not None:
        if partial:
            request.transport.write(partial)
            request.transport.close()
        else:
            request.transport.abort()
    return web.Response()


async def _hung(faults: Faults, request: web.Request, *, said: bool) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    if said:
        response.enable_chunked_encoding()
        await response.prepare(request)
    await faults.until_cleared()
    if request.transport is not None:
        request.transport.abort()
    return response
