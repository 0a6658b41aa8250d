"""
How trouble reaches a request.
"""

import asyncio

from aiohttp import web

from reporter.embedded.http.faults.faults import (
    CutConnection,
    FaultInjector,
    FaultResponse,
    Hang,
    Latency,
)


async def inject_faults(faults: FaultInjector, request: web.Request) -> web.StreamResponse | None:
    """
    What is answered instead; None if the request goes on.
    """
    for trouble in faults.take_actions(request.method, request.path_qs):
        match trouble:
            case Latency(seconds):
                await asyncio.sleep(seconds)
            case FaultResponse(code, body, headers):
                return web.Response(body=body, status=code, headers=headers)
            case CutConnection(partial):
                return _cut_connection(request, partial)
            case Hang(headers=said):
                return await _hang(faults, request, said=said)
    return None


def _cut_connection(request: web.Request, partial: bytes) -> web.Response:
    if request.transport is not None:
        if partial:
            request.transport.write(partial)
            request.transport.close()
        else:
            request.transport.abort()
    return web.Response()


async def _hang(faults: FaultInjector, request: web.Request, *, said: bool) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": "application/json"})
    if said:
        response.enable_chunked_encoding()
        await response.prepare(request)
    await faults.wait_cleared()
    if request.transport is not None:
        request.transport.abort()
    return response
