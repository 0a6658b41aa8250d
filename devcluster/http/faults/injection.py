"""Applying the injected faults to a request."""

from aiohttp import web

from devcluster.http.faults.rules import (
    CutConnection,
    FaultInjector,
    FaultResponse,
    Hang,
)


async def inject_faults(faults: FaultInjector, request: web.Request) -> web.StreamResponse | None:
    """
    Return the response of the first fault that matches; None if the request is served normally.
    """
    action = faults.next_action(request.method, request.path_qs)
    match action:
        case None:
            return None
        case FaultResponse(code, body, headers):
            return web.Response(body=body, status=code, headers=headers)
        case Hang():
            await faults.wait_cleared()
        case CutConnection():
            pass
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
